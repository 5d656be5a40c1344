"""Answers that follow the model are as expected; others are not."""

import numpy as np
import pytest
import torch

from eddi.interview.record import Answer, Record
from eddi.service.analyst.dashboard.answer_distributions import compare_answers
from eddi.service.analyst.questionnaires.collected_answers import Person
from eddi.table.evidence import Evidence

N_PEOPLE = 300


def make_people(rows):
    """People who answered about their age, then about smoking, with the values of these rows."""
    return [
        Person(
            *("name", 1, "2026-01-01", "2026-01-01", True),
            Record(("stage",), tuple(Answer(name, {name: value}) for name, value in row), "k"),
            {},
        )
        for row in rows
    ]


@pytest.fixture(scope="module")
def drawn(model):
    """Ages and smoking of people who are drawn from the predictions before each answer."""
    fitted = model.model_
    schema, rng = fitted.schema, np.random.default_rng(0)
    [distribution] = fitted.predictive_distributions(Evidence.empty(N_PEOPLE, len(schema.variables)))
    levels = torch.as_tensor(rng.random((N_PEOPLE, len(schema.variables))), dtype=torch.float32)
    position = schema.position("age")
    coded = np.full((N_PEOPLE, len(schema.variables)), np.nan)
    coded[:, position] = distribution.quantile(levels, [position])[:, 0].numpy()
    ages = fitted.coding.decode(coded)[:, position].tolist()
    smoking = fitted.predict_evidence(Evidence.of(coded), ["smoker"])["smoker"].probabilities[:, 1]
    smokers = np.where(rng.random(N_PEOPLE) < smoking, "yes", "no").tolist()
    return [(("age", age), ("smoker", smoker)) for age, smoker in zip(ages, smokers, strict=True)]


def test_people_who_are_drawn_from_the_model_answer_as_expected(model, drawn):
    found = compare_answers(model.model_, make_people(drawn), ["age", "smoker"])
    for name in ("age", "smoker"):
        [distribution] = found[name]
        assert distribution.n_people == N_PEOPLE
        assert distribution.observed.sum() == pytest.approx(1)
        assert distribution.expected.sum() == pytest.approx(1)
        assert distribution.stability < 0.1
        assert np.abs(distribution.observed - distribution.expected).max() < 0.1


def test_people_who_differ_from_the_model_are_found(model, drawn):
    people = make_people([(("age", dict(row)["age"] + 40), ("smoker", "yes")) for row in drawn])
    found = compare_answers(model.model_, people, ["age", "smoker"])
    assert found["age"][0].stability > 0.25
    assert found["smoker"][0].stability > 0.25


def test_a_question_that_nobody_answered_has_no_distribution(model, drawn):
    assert compare_answers(model.model_, make_people(drawn), ["town"]) == {"town": []}


def test_counts_have_bins_of_whole_numbers(model):
    people = make_people([(("visits", number % 6),) for number in range(60)])
    [distribution] = compare_answers(model.model_, people, ["visits"])["visits"]
    assert all(edge.is_integer() and edge > 0 for edge in distribution.edges)
    assert len(distribution.observed) == len(distribution.edges) + 1
    assert distribution.observed[0] > 0
    assert distribution.expected.sum() == pytest.approx(1)
