"""Each stopping rule, and combinations of rules."""

import math
from dataclasses import replace

import numpy as np
import pytest

from eddi import Interview, PartialVAE, Stop
from eddi.errors import EddiError, StopError
from eddi.model.prediction import Prediction
from eddi.strategy.stopping import (
    ConfidenceThreshold,
    RiskControlledStop,
    Situation,
    is_risk_controlled,
    max_questions,
)
from eddi.table.variable import Variable

SD = np.array([0.5, 1.0, 2.0])
PROBABILITIES = np.array([[0.5, 0.5], [0.2, 0.8], [0.05, 0.95]])
RISK = Prediction(Variable("risk", "real"), np.zeros(3), SD, np.stack([-2 * SD, 2 * SD], axis=1))
ILL = Prediction(Variable("ill", "binary", ("no", "yes")), SD, SD, np.zeros((3, 2)), PROBABILITIES)
TOWN = Prediction(
    Variable("town", "category", ("a", "b")), SD * np.nan, SD, np.zeros((3, 2)), PROBABILITIES
)


def situation(**predictions):
    n_asked, best = np.array([0, 3, 5]), np.array([0.5, 0.01, -np.inf])
    return Situation(n_asked, best, lambda: predictions)


def reached(rule, **predictions):
    """Whether each of three interviews ends."""
    return rule.reached(situation(**(predictions or {"risk": RISK}))).tolist()


def test_a_rule_knows_whether_a_condition_can_end_an_interview():
    assert Stop().never_ends
    assert Stop(budget=3).never_ends
    assert not Stop(after=3).never_ends
    assert not Stop(reward_below=0.1, budget=3).never_ends


def test_a_rule_without_conditions_never_ends_an_interview():
    assert reached(Stop()) == [False, False, False]
    assert Stop().budget == math.inf


def test_a_rule_can_end_interviews_after_a_number_of_questions():
    assert reached(Stop(after=3)) == [False, True, True]
    assert reached(Stop(after=0)) == [True, True, True]


def test_a_rule_can_end_interviews_when_no_question_has_a_sufficient_reward():
    assert reached(Stop(reward_below=0.1)) == [False, True, True]


def test_a_rule_can_end_interviews_when_the_standard_deviation_is_small():
    assert reached(Stop(sd_below=1.5)) == [True, True, False]


def test_a_rule_can_end_interviews_when_the_interval_is_narrow():
    assert reached(Stop(interval_below=3.0)) == [True, False, False]


def test_a_rule_can_end_interviews_when_a_level_is_likely():
    assert reached(Stop(probability_above=0.8), ill=ILL) == [False, True, True]


def test_a_condition_on_the_prediction_must_hold_for_every_target():
    other = Prediction(RISK.variable, RISK.mean, SD[::-1], RISK.interval)
    assert reached(Stop(sd_below=1.5), risk=RISK, other=other) == [False, True, False]


def test_any_condition_of_a_rule_ends_an_interview():
    assert reached(Stop(after=5, sd_below=0.7)) == [True, False, True]


def test_rules_joined_by_or_end_an_interview_when_either_does():
    assert reached(Stop(after=5) | Stop(sd_below=0.7)) == [True, False, True]


def test_rules_joined_by_and_end_an_interview_when_both_do():
    assert reached(Stop(after=3) & Stop(sd_below=1.5)) == [False, True, False]


def test_combined_rules_can_be_combined_again():
    both = Stop(after=3) & Stop(sd_below=1.5)
    assert reached(both | Stop(after=5)) == [False, True, True]
    assert reached(both & Stop(reward_below=0.001)) == [False, False, False]


def test_the_smallest_budget_applies_however_rules_are_combined():
    assert (Stop(budget=5) | Stop(budget=3)).budget == 3
    assert (Stop(budget=5) & Stop(after=3)).budget == 5


def test_predictions_are_computed_only_if_a_rule_needs_them():
    state = Situation(np.array([1]), np.array([1.0]), lambda: pytest.fail("not needed"))
    assert Stop(after=1, reward_below=0.1).reached(state).tolist() == [True]


@pytest.mark.parametrize(
    ("message", "conditions"),
    [
        ("the budget must be above 0, got 0. No question could be asked", {"budget": 0}),
        ("the budget must be above 0, got nan", {"budget": math.nan}),
        ("after must be 0 or more questions, got -1", {"after": -1}),
        (r"probability_above must be in \(0, 1\], got 1.5", {"probability_above": 1.5}),
        ("sd_below must be above 0, got 0. It could never be reached", {"sd_below": 0}),
        ("interval_below must be above 0, got -1", {"interval_below": -1}),
    ],
)
def test_a_rule_that_cannot_work_is_refused(message, conditions):
    with pytest.raises(StopError, match=message):
        Stop(**conditions)


def test_probability_above_is_refused_for_a_quantity():
    with pytest.raises(StopError, match=r"'risk' is real. Use sd_below or interval_below"):
        reached(Stop(probability_above=0.9))


@pytest.mark.parametrize("rule", ["sd_below", "interval_below"])
def test_conditions_on_width_are_refused_for_a_category(rule):
    with pytest.raises(StopError, match=f"{rule} needs a target with an order; 'town' is a category"):
        reached(Stop(**{rule: 1.0}), town=TOWN)


def test_the_confidence_of_a_decision_about_levels_is_the_highest_probability():
    assert reached(ConfidenceThreshold(0.8), ill=ILL) == [False, True, True]
    assert reached(ConfidenceThreshold(0.8), town=TOWN) == [False, True, True]


def test_the_confidence_of_a_decision_about_a_quantity_is_the_probability_within_the_margin():
    probability = math.erf(1 / math.sqrt(2))  # within one standard deviation
    assert reached(ConfidenceThreshold(probability - 1e-9, within=1.0)) == [True, True, False]
    certain = Prediction(RISK.variable, RISK.mean, np.zeros(3), RISK.interval)
    assert reached(ConfidenceThreshold(1.0, within=1.0), risk=certain) == [True, True, True]


def test_a_confidence_threshold_above_one_is_never_reached():
    assert reached(ConfidenceThreshold(math.inf), ill=ILL) == [False, False, False]


def test_the_confidence_threshold_must_be_reached_for_every_target():
    assert reached(ConfidenceThreshold(0.6, within=1.0), risk=RISK, ill=ILL) == [False, True, False]


def test_a_risk_must_be_resolved_before_it_can_end_an_interview():
    with pytest.raises(
        StopError,
        match=r"Stop\(risk=0.05\) depends on a model. Give it to an interview, which resolves it",
    ):
        reached(Stop(risk=0.05))


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"risk": 0.0}, "risk must be in"),
        ({"risk": 1.0}, "risk must be in"),
        ({"risk": 0.1, "confidence": 1.0}, "confidence must be in"),
        ({"risk": 0.1, "within": 0.0}, "within must be above 0"),
        ({"within": 1.0}, "within needs risk"),
    ],
)
def test_an_impossible_guarantee_is_refused(conditions, message):
    with pytest.raises(StopError, match=message):
        Stop(**conditions)


def test_a_risk_controlled_rule_is_resolved_once_and_only_when_needed():
    calls = []

    def resolve(rule):
        calls.append(rule)
        return ConfidenceThreshold(0.8)

    rule = Stop(risk=0.05, budget=7)
    controlled = RiskControlledStop(rule, resolve)
    assert controlled.budget == 7
    assert max_questions(controlled) == math.inf
    assert calls == []
    assert reached(controlled, ill=ILL) == [False, True, True]
    assert reached(controlled, ill=ILL) == [False, True, True]
    assert calls == [rule]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Stop(), math.inf),
        (Stop(after=3, sd_below=1), 3),
        (Stop(after=3) | Stop(after=5), 3),
        (Stop(after=3) & Stop(after=5), 5),
        (Stop(after=3) & Stop(sd_below=1), math.inf),
        (Stop(after=3) | ConfidenceThreshold(0.9), 3),
        (RiskControlledStop(Stop(risk=0.1, after=4), lambda rule: rule), 4),
    ],
)
def test_the_maximum_number_of_questions_follows_from_the_rule(rule, expected):
    assert max_questions(rule) == expected


def test_a_rule_is_risk_controlled_if_any_part_of_it_has_a_certified_threshold():
    threshold = ConfidenceThreshold(0.9)
    assert is_risk_controlled(threshold)
    assert is_risk_controlled(Stop(after=3) & (Stop(budget=2) | threshold))
    assert is_risk_controlled(RiskControlledStop(Stop(risk=0.1), lambda _: threshold))
    assert not is_risk_controlled(Stop(after=3) | Stop(sd_below=1))
    # No threshold could be certified, so the rule without its risk is left.
    assert not is_risk_controlled(RiskControlledStop(Stop(risk=0.1), lambda _: Stop()))


def test_a_rule_is_read_from_its_document():
    rule = Stop(after=3, sd_below=0.5, budget=9)
    assert rule.to_document() == {"after": 3, "sd_below": 0.5, "budget": 9}
    assert Stop.from_document({"after": 3.0, "sd_below": 0.5, "budget": 9}) == rule


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"sd_bellow": 1}, "there is no stopping condition 'sd_bellow'. Did you mean 'sd_below'"),
        ({"after": 2.5}, "the stopping condition after must be a whole number, got 2.5"),
        ({"risk": "low"}, "the stopping condition risk must be a number, got 'low'"),
        ({"risk": True}, "the stopping condition risk must be a number, got True"),
    ],
)
def test_an_invalid_document_is_refused(document, message):
    with pytest.raises(StopError, match=message):
        Stop.from_document(document)


@pytest.mark.parametrize(
    ("rule", "summary"),
    [
        (Stop(), "asks all questions"),
        (Stop(after=1), "stops after one answer"),
        (
            Stop(after=2, probability_above=0.9, budget=40),
            "stops after 2 answers or when a level is 90% likely; questions cost at most 40 in total",
        ),
        (Stop(risk=0.05, within=1), "stops when the expected error rate is at most 0.05"),
    ],
)
def test_a_rule_is_summarized_in_words(rule, summary):
    assert rule.summarize() == summary


def test_an_interview_ends_as_the_schema_says(with_schema, people_schema):
    model = with_schema(replace(people_schema, stop={"after": 1}))
    interview = Interview(model, "stage")
    interview.tell("age", 61)
    assert interview.ask() is None
    assert Interview(model, record=interview.record, stop=Stop()).ask() is not None


def test_a_condition_of_the_schema_that_is_not_valid_is_refused_before_training(people_schema, people):
    schema = replace(people_schema, stop={"aftr": 1})
    with pytest.raises(StopError, match="Did you mean 'after'"):
        PartialVAE(schema).fit(people(30, 0))


def test_an_interview_ends_once_the_risk_at_a_horizon_is_high_or_low(survival_model):
    stop = Stop(horizon=50, risk_below=0.15, risk_above=0.7)
    healthy, ill, unclear = (Interview(survival_model, "death", stop=stop) for _ in range(3))
    for name, answer in {"age": 42, "stage": "I"}.items():
        healthy.tell(name, answer)
    for name, answer in {"age": 78, "stage": "III"}.items():
        ill.tell(name, answer)
    assert healthy.ask() is None
    assert ill.ask() is None
    assert unclear.ask() is not None


def test_a_horizon_needs_a_survival_target(survival_model):
    rule = Stop(horizon=50, risk_above=0.5)
    with pytest.raises(StopError, match="a horizon needs a survival target; 'age' is real"):
        Interview(survival_model, "age", stop=rule).ask()


def test_a_risk_needs_a_horizon_and_a_horizon_needs_a_risk():
    with pytest.raises(StopError, match="risk_below needs horizon"):
        Stop(risk_below=0.1)
    with pytest.raises(StopError, match="horizon needs risk_below or risk_above"):
        Stop(horizon=3)
    with pytest.raises(StopError, match=r"risk_above must be in \(0, 1\), got 2"):
        Stop(horizon=3, risk_above=2)


def test_a_time_can_be_precise_enough(survival_model):
    assert Interview(survival_model, "death", stop=Stop(sd_below=1e6)).ask() is None


def test_a_horizon_after_the_last_event_is_an_error(survival_model):
    rule = Stop(horizon=1e6, risk_above=0.5)
    with pytest.raises(EddiError, match="is not between 0 and"):
        Interview(survival_model, "death", stop=rule).ask()
