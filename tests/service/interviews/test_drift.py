"""Whether people answer as those did whom the model learned from; and nothing of what they said."""

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from eddi.interview.record import UNKNOWN, Answer
from eddi.service.interviews import drift
from eddi.service.interviews.drift import LEAST, WINDOW, Drift, Learned, stability


def figures(watching):
    registry = CollectorRegistry()
    registry.register(watching)
    lines = generate_latest(registry).decode().splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line[0] != "#"}


def figure(watching, variable, name="eddi_answer_drift"):
    label = f'{name}{{questionnaire="people",variable="{variable}",version="1"}}'
    return figures(watching).get(label)


@pytest.fixture(scope="module")
def learned_from(people):
    """Whole people like those the model has learned from."""
    return people(400, seed=0, holes=0.0)


def hear(watching, questionnaire, variable, values):
    for value in values:
        watching.heard(questionnaire, Answer(variable, {variable: value}))


def test_answers_like_those_learned_from_have_not_drifted(questionnaire, learned_from):
    watching = Drift()
    for name in ("age", "town", "pain", "visits"):
        hear(watching, questionnaire, name, learned_from[name])
        assert figure(watching, name) < 0.15, name
        assert figure(watching, name, "eddi_answer_drift_answers") == 400


def test_answers_unlike_those_learned_from_have_drifted(questionnaire, learned_from):
    watching = Drift()
    hear(watching, questionnaire, "age", learned_from["age"] + 15)
    hear(watching, questionnaire, "town", ["Conwy"] * 200)
    hear(watching, questionnaire, "visits", learned_from["visits"] * 4)
    for name in ("age", "town", "visits"):
        assert figure(watching, name) > 0.5, name


def test_nothing_is_told_of_few_people(questionnaire, learned_from):
    watching = Drift()
    hear(watching, questionnaire, "age", learned_from["age"][: LEAST - 1])
    assert figures(watching) == {}
    hear(watching, questionnaire, "age", learned_from["age"][:1])
    assert figure(watching, "age") is not None


def test_what_is_long_past_is_forgotten(questionnaire, learned_from):
    watching = Drift()
    hear(watching, questionnaire, "town", ["Conwy"] * WINDOW)
    before = figure(watching, "town")
    hear(watching, questionnaire, "town", np.resize(learned_from["town"], WINDOW))
    assert figure(watching, "town") < 0.15 < 0.5 < before


def test_an_answer_without_a_value_is_not_compared(questionnaire):
    watching = Drift()
    for _ in range(LEAST):
        assert watching.heard(questionnaire, Answer("age", {}, {"age": UNKNOWN})) == []
    assert figures(watching) == {}


def test_how_far_a_quantity_is_from_what_was_learned(questionnaire):
    [distance] = Drift().heard(questionnaire, Answer("age", {"age": 200.0}))
    assert 5 < distance < 20
    assert Drift().heard(questionnaire, Answer("town", {"town": "Bala"})) == []


def test_questionnaires_are_watched_apart_and_not_without_end(questionnaire, monkeypatch):
    monkeypatch.setattr(drift, "MAX_WATCHED", 2)
    watching = Drift()
    for version in (1, 2, 3):
        hear(watching, questionnaire.published_as("people", version), "town", ["Bala"] * LEAST)
    told = [name for name in figures(watching) if name.startswith("eddi_answer_drift{")]
    assert [name.rpartition('version="')[2] for name in told] == ['2"}', '3"}']


def test_the_index_is_that_of_the_textbooks():
    counts, shares = np.array([3_000, 7_000]), np.array([0.5, 0.5])
    expected = (0.3 - 0.5) * np.log(0.3 / 0.5) + (0.7 - 0.5) * np.log(0.7 / 0.5)
    assert stability(counts, shares) == pytest.approx(expected, rel=1e-3)
    assert stability(np.array([50, 50]), shares) == 0
    assert np.isfinite(stability(np.array([100, 0]), shares))


def test_a_count_that_is_nearly_always_nought_has_fewer_bins():
    found = Learned.of_numbers(np.array([0.0] * 90 + [1.0] * 6 + [2.0] * 4))
    assert found.shares.sum() == pytest.approx(1)
    assert found.bin(0) != found.bin(2)
    assert found.shares[found.bin(0)] == pytest.approx(0.9)
