"""Off-policy estimates agree with the truth, which is known for people whose answers are all known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.off_policy.estimates import compare_rules, estimate_value
from eddi.evaluate.simulate import simulate_evidence
from eddi.interview.rules import InterviewRules
from eddi.strategy import Explore, FixedOrder
from eddi.strategy.stopping import Stop

N_REPLAYS = 100
MIN_COVERAGE = 0.9  # of intervals with a confidence of 95%


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eddi.evaluate.off_policy.estimates.N_START_DRAWS", 100)


@pytest.fixture(scope="session")
def candidate(rules: InterviewRules) -> InterviewRules:
    """Two questions that the current rules seldom ask first."""
    return replace(rules, strategy=FixedOrder(("weight", "stage")), stop=Stop(after=2))


@pytest.fixture(scope="session")
def true_value(draw_people: Any) -> Any:
    """A function that returns the error at the end of interviews with many people."""

    def compute(rules: InterviewRules, n_rows: int = 2_000) -> float:
        truth = rules.model.coding.encode(draw_people(n_rows, 999))
        curves = simulate_evidence(rules.model, truth, "age", strategy=rules.strategy, stop=rules.stop)
        return float(curves.nll[-1])

    return compute


def test_without_exploration_the_current_rules_have_the_mean_error_of_their_interviews(
    rules: InterviewRules, log_people: Any
) -> None:
    logged = log_people(80, 3, share=0.0)
    curves = simulate_evidence(
        rules.model, logged.truth(rules.model), "age", strategy=rules.strategy, stop=rules.stop
    )
    value = estimate_value(rules, logged, n_draws=1)
    assert value.error.value == pytest.approx(curves.nll[-1])
    assert value.weighted_error is not None
    assert value.weighted_error.value == pytest.approx(curves.nll[-1])
    assert value.cost.value == pytest.approx(3.0)
    assert value.n_complete == value.n_interviews == 80


def test_other_rules_are_estimated_from_interviews_with_random_questions(
    candidate: InterviewRules, log_people: Any, true_value: Any
) -> None:
    values = [estimate_value(candidate, log_people(250, seed), n_draws=2) for seed in range(5, 11)]
    truth = true_value(candidate)
    n_covered = sum(value.error.low < truth < value.error.high for value in values)
    assert n_covered >= 4  # fewer of six 90% intervals have a probability of 0.2%
    value = values[0]
    assert value.cost.value == pytest.approx(2.0)
    assert 10 < value.n_effective < value.n_complete < 250


def test_rules_without_support_in_the_log_are_not_supported(
    candidate: InterviewRules, log_people: Any
) -> None:
    longer = replace(candidate, stop=Stop(after=6))
    value = estimate_value(longer, log_people(40, 7), n_draws=1)
    assert value.weighted_error is None
    assert not value.is_supported
    assert value.n_complete == 0


def test_exploration_of_the_rules_is_ignored(rules: InterviewRules, log_people: Any) -> None:
    logged = log_people(40, 7)
    exploring = replace(rules, strategy=Explore(rules.strategy, 0.5))
    assert estimate_value(exploring, logged, n_draws=1) == estimate_value(rules, logged, n_draws=1)


def test_rules_do_not_differ_from_themselves(rules: InterviewRules, log_people: Any) -> None:
    comparison = compare_rules(rules, rules, log_people(40, 7), n_draws=1)
    assert comparison.error_difference.value == comparison.error_difference.high == 0
    assert not comparison.is_better


def test_more_questions_are_better(rules: InterviewRules, log_people: Any) -> None:
    none = replace(rules, stop=Stop(after=0))
    logged = log_people(200, 11, share=0.2)
    comparison = compare_rules(rules, none, logged, metric="rmse", n_draws=1)
    assert comparison.is_better
    assert comparison.cost_difference.value == pytest.approx(3.0)


def test_the_estimate_of_a_root_is_in_the_units_of_the_target(
    rules: InterviewRules, log_people: Any
) -> None:
    value = estimate_value(rules, log_people(80, 7, share=0.1), metric="rmse", n_draws=1)
    assert 5 < value.error.low < value.error.high < 20  # years


def test_several_targets_are_refused(rules: InterviewRules, log_people: Any) -> None:
    several = replace(rules, target=("age", "weight"))
    with pytest.raises(EvaluationError, match="exactly one target, got 'age', 'weight'"):
        estimate_value(several, log_people(10, 7))


@pytest.mark.slow
@pytest.mark.parametrize("first_seed", [0, 1_000])  # the formula was chosen with the first ones
def test_intervals_cover_the_truth_in_most_replays(
    candidate: InterviewRules,
    rules: InterviewRules,
    log_people: Any,
    true_value: Any,
    first_seed: int,
) -> None:
    truth, reference = true_value(candidate, 20_000), true_value(rules, 20_000)
    covered = []
    for seed in range(first_seed, first_seed + N_REPLAYS):
        comparison = compare_rules(candidate, rules, log_people(250, seed), n_draws=2, seed=seed)
        error, weighted = comparison.candidate.error, comparison.candidate.weighted_error
        difference = comparison.error_difference
        assert weighted is not None
        covered.append(
            (
                error.low <= truth <= error.high,
                weighted.low <= truth <= weighted.high,
                difference.low <= truth - reference <= difference.high,
            )
        )
    assert (np.mean(covered, axis=0) >= MIN_COVERAGE).all()
