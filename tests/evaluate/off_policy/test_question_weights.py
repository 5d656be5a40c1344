"""Training weights of logged interviews, checked on a small discrete problem in closed form.

A test is taken by everybody who has a symptom, and by few others. The disease is likely with the symptom, so
those with a test result are not representative.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddi.evaluate.off_policy.logged_interviews import LoggedInterviews
from eddi.evaluate.off_policy.question_weights import compute_question_weights
from eddi.interview.next_step import NextSteps
from eddi.interview.rules import InterviewRules
from eddi.model.recipe import DEFAULT
from eddi.model.training.question_weights import MAX_WEIGHT
from eddi.partial_vae import PartialVAE
from eddi.strategy import Explore, FixedOrder
from eddi.strategy.stopping import Stop
from eddi.table.schema import Schema

SCHEMA = Schema.from_toml(
    """
targets = ["disease"]
[variables]
symptom = { kind = "binary", levels = ["no", "yes"] }
test = { kind = "binary", levels = ["negative", "positive"] }
disease = { kind = "binary", levels = ["no", "yes"] }
"""
)
SYMPTOM, TEST, DISEASE = range(3)
P_DISEASE = np.array([[0.05, 0.2], [0.5, 0.9]])  # by symptom and test
P_POSITIVE = np.array([0.2, 0.4])  # of the test, by symptom
EXPLORED = 0.1  # share of people without the symptom who take the test
RECIPE = replace(DEFAULT, max_steps=1_200, passes=None, term=16, hidden=(32, 32), batch_size=64)


def draw_people(n_rows: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    symptom = random.integers(0, 2, n_rows)
    test = random.random(n_rows) < P_POSITIVE[symptom]
    disease = random.random(n_rows) < P_DISEASE[symptom, test.astype(int)]
    return np.stack([symptom, test, disease], axis=1).astype(np.float64)


def true_probability(test: int) -> float:
    """P(disease | test), over people with and without the symptom."""
    by_symptom = P_POSITIVE if test else 1 - P_POSITIVE
    return float(by_symptom @ P_DISEASE[:, test] / by_symptom.sum())


@pytest.fixture(scope="module")
def policy() -> InterviewRules:
    """Ask for the symptom. Without it the disease is unlikely, so few are asked for the test."""
    people = pa.table(
        {
            name: [SCHEMA[name].levels[int(value)] for value in column]
            for name, column in zip(SCHEMA.names, draw_people(1_000, 1).T, strict=True)
        }
    )
    recipe = replace(RECIPE, max_steps=100)
    model = PartialVAE(SCHEMA, "disease", recipe=recipe, random_state=0, device="cpu").fit(people)
    strategy = Explore(FixedOrder(("symptom", "test")), share=0.0, continuation=EXPLORED)
    return InterviewRules(model.fitted(), ("disease",), strategy, Stop(probability_above=0.8))


@pytest.fixture(scope="module")
def logged(policy: InterviewRules) -> LoggedInterviews:
    numbers = draw_people(4_000, 2)
    random = np.random.default_rng(3)
    order = np.full((len(numbers), 2), -1)
    chances, nothing = np.ones(order.shape), np.zeros(numbers.shape, dtype=bool)
    number = np.zeros(len(numbers), dtype=np.int64)
    people = LoggedInterviews(SCHEMA, numbers, order, chances, nothing, nothing, (policy,), number)
    asked = np.zeros((len(numbers), 3), dtype=bool)
    for step in range(2):
        states = people.states(policy.model, asked)
        steps = NextSteps(policy, replace(states, uniform=random.random(len(numbers))))
        order[:, step], chances[:, step] = steps.chosen, steps.propensities
        asked = (order[..., None] == np.arange(3)).any(1)
    numbers[~asked[:, TEST], TEST] = np.nan
    return LoggedInterviews(SCHEMA, numbers, order, chances, nothing, nothing, (policy,), number)


def test_the_test_is_taken_by_those_with_the_symptom_and_few_others(logged: LoggedInterviews) -> None:
    has_test, has_symptom = ~np.isnan(logged.numbers[:, TEST]), logged.numbers[:, SYMPTOM] == 1
    assert has_test[has_symptom].all()
    assert has_test[~has_symptom].mean() == pytest.approx(EXPLORED, abs=0.02)


@pytest.mark.parametrize("test", [0, 1])
def test_weighted_frequencies_are_those_of_all_people(logged: LoggedInterviews, test: int) -> None:
    weights = compute_question_weights(logged)
    rows = np.flatnonzero(logged.numbers[:, TEST] == test)
    bits = weights.bits[rows, TEST]
    own = weights.by_subset[rows, bits]
    disease = logged.numbers[rows, DISEASE]
    truth = true_probability(test)
    assert abs(disease.mean() - truth) > 0.12  # those who took the test
    assert np.average(disease, weights=own) == pytest.approx(truth, abs=0.05)


def test_weights_have_mean_one_over_the_interviews_with_a_question(logged: LoggedInterviews) -> None:
    weights = compute_question_weights(logged)
    rows = np.flatnonzero(~np.isnan(logged.numbers[:, TEST]))
    own = weights.by_subset[rows, weights.bits[rows, TEST]]
    assert own.mean() == pytest.approx(1.0, abs=0.02)
    assert (weights.by_subset <= MAX_WEIGHT).all()
    assert (weights.by_subset[:, 0] == 1.0).all()


def test_interviews_without_exploration_have_equal_weights(logged: LoggedInterviews) -> None:
    fixed = replace(logged.policies[0], strategy=FixedOrder(("symptom", "test")))
    weights = compute_question_weights(replace(logged, policies=(fixed,)))
    assert (weights.by_subset == 1.0).all()
    assert weights.is_known.all()


def test_long_interviews_have_equal_weights(
    logged: LoggedInterviews, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddi.evaluate.off_policy.question_weights.MAX_QUESTIONS", 1)
    weights = compute_question_weights(logged)
    assert (weights.by_subset == 1.0).all()
    is_long = logged.n_asked == 2
    assert (weights.bits[is_long] == 0).all()


def predict_from_test(logged: LoggedInterviews, weights: Any) -> Any:
    """The predicted probability of the disease for each test result, without the symptom."""
    table = pa.table(
        {
            name: [None if np.isnan(x) else SCHEMA[name].levels[int(x)] for x in column]
            for name, column in zip(SCHEMA.names, logged.numbers.T, strict=True)
        }
    )
    model = PartialVAE(SCHEMA, "disease", recipe=RECIPE, random_state=0, device="cpu")
    model.fit(table, question_weights=weights)
    asked = pa.table({"symptom": pa.nulls(2, pa.string()), "test": ["negative", "positive"]})
    return model.predict(asked).probabilities[:, 1]


@pytest.mark.slow
def test_a_model_with_question_weights_predicts_for_all_people(logged: LoggedInterviews) -> None:
    truth = np.array([true_probability(0), true_probability(1)])
    naive = predict_from_test(logged, None)
    weighted = predict_from_test(logged, compute_question_weights(logged))
    assert (naive - truth > 0.08).all()
    assert np.abs(weighted - truth).max() < 0.05
