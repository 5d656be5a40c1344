"""Drift compares answers with the model's distribution without revealing answers."""

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from eddi.interview.record import UNKNOWN, Answer
from eddi.service.interviews import drift
from eddi.service.interviews.drift import (
    ANSWERS_PER_RELEASE,
    MIN_ANSWERS,
    WINDOW,
    Drift,
    ReferenceDistribution,
    stability_index,
)


def read_metrics(monitor):
    registry = CollectorRegistry()
    registry.register(monitor)
    lines = generate_latest(registry).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}


def read_metric(monitor, variable, name="eddi_answer_drift"):
    label = f'{name}{{questionnaire="people",variable="{variable}",version="1"}}'
    return read_metrics(monitor).get(label)


@pytest.fixture(scope="module")
def similar_people(people):
    """People like those of the training data, without missing values."""
    return people(400, seed=0, missing=0.0)


def observe(monitor, questionnaire, variable, values):
    for value in values:
        monitor.observe(questionnaire, Answer(variable, {variable: value}))


def test_answers_like_the_training_data_have_no_drift(questionnaire, similar_people):
    monitor = Drift()
    for name in ("age", "town", "pain", "visits"):
        observe(monitor, questionnaire, name, similar_people[name])
        assert read_metric(monitor, name) < 0.15, name
        assert read_metric(monitor, name, "eddi_answer_drift_answers") == 400


def test_answers_unlike_the_training_data_have_drift(questionnaire, similar_people):
    monitor = Drift()
    observe(monitor, questionnaire, "age", similar_people["age"] + 15)
    observe(monitor, questionnaire, "town", ["Conwy"] * 200)
    observe(monitor, questionnaire, "visits", similar_people["visits"] * 4)
    for name in ("age", "town", "visits"):
        assert read_metric(monitor, name) > 0.5, name


def test_few_answers_are_not_reported(questionnaire, similar_people):
    monitor = Drift()
    observe(monitor, questionnaire, "age", similar_people["age"][: MIN_ANSWERS - 1])
    assert read_metrics(monitor) == {}
    observe(monitor, questionnaire, "age", similar_people["age"][:1])
    assert read_metric(monitor, "age") is not None


def test_the_index_changes_only_with_several_answers_at_once(questionnaire, similar_people):
    monitor = Drift()
    observe(monitor, questionnaire, "age", similar_people["age"][:MIN_ANSWERS])
    before = read_metrics(monitor)
    observe(monitor, questionnaire, "age", [90.0] * (ANSWERS_PER_RELEASE - 1))
    assert read_metrics(monitor) == before
    observe(monitor, questionnaire, "age", [90.0])
    assert read_metrics(monitor) != before


def test_old_answers_are_dropped(questionnaire, similar_people):
    monitor = Drift()
    observe(monitor, questionnaire, "town", ["Conwy"] * WINDOW)
    before = read_metric(monitor, "town")
    observe(monitor, questionnaire, "town", np.resize(similar_people["town"], WINDOW))
    assert read_metric(monitor, "town") < 0.15 < 0.5 < before


def test_an_answer_without_a_value_is_not_compared(questionnaire):
    monitor = Drift()
    for _ in range(MIN_ANSWERS):
        assert monitor.observe(questionnaire, Answer("age", {}, {"age": UNKNOWN})) == []
    assert read_metrics(monitor) == {}


def test_the_distance_of_a_quantity_is_in_standard_deviations(questionnaire):
    [distance] = Drift().observe(questionnaire, Answer("age", {"age": 200.0}))
    assert 5 < distance < 20
    assert Drift().observe(questionnaire, Answer("town", {"town": "Bala"})) == []


def test_questionnaires_are_monitored_separately_up_to_a_limit(questionnaire, monkeypatch):
    monkeypatch.setattr(drift, "MAX_QUESTIONNAIRES", 2)
    monitor = Drift()
    for version in (1, 2, 3):
        observe(monitor, questionnaire.with_version("people", version), "town", ["Bala"] * MIN_ANSWERS)
    names = [name for name in read_metrics(monitor) if name.startswith("eddi_answer_drift{")]
    assert [name.rpartition('version="')[2] for name in names] == ['2"}', '3"}']


def test_the_index_agrees_with_its_definition():
    counts, probabilities = np.array([3_000, 7_000]), np.array([0.5, 0.5])
    expected = (0.3 - 0.5) * np.log(0.3 / 0.5) + (0.7 - 0.5) * np.log(0.7 / 0.5)
    assert stability_index(counts, probabilities) == pytest.approx(expected, rel=1e-3)
    assert stability_index(np.array([50, 50]), probabilities) == 0
    assert np.isfinite(stability_index(np.array([100, 0]), probabilities))


def test_a_count_that_is_mostly_zero_has_fewer_bins():
    quantiles = np.array([0.0] * 90 + [1.0] * 6 + [2.0] * 4)
    reference = ReferenceDistribution.from_quantiles(quantiles)
    assert reference.probabilities.sum() == pytest.approx(1)
    assert reference.bin(0) != reference.bin(2)
    assert reference.probabilities[reference.bin(0)] == pytest.approx(0.9)
