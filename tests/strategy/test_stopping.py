"""When it is enough: each rule, and rules combined."""

import math

import numpy as np
import pytest

from eddi import Stop
from eddi.errors import StopError
from eddi.model.prediction import Prediction
from eddi.strategy.stopping import Situation, Sure
from eddi.table.variable import Variable

SD = np.array([0.5, 1.0, 2.0])
CHANCES = np.array([[0.5, 0.5], [0.2, 0.8], [0.05, 0.95]])
RISK = Prediction(Variable("risk", "real"), np.zeros(3), SD, np.stack([-2 * SD, 2 * SD], axis=1))
ILL = Prediction(Variable("ill", "binary", ("no", "yes")), SD, SD, np.zeros((3, 2)), CHANCES)
TOWN = Prediction(Variable("town", "category", ("a", "b")), SD * np.nan, SD, np.zeros((3, 2)), CHANCES)


def situation(**beliefs):
    asked, best = np.array([0, 3, 5]), np.array([0.5, 0.01, -np.inf])
    return Situation(asked, best, lambda: beliefs)


def reached(rule, **beliefs):
    return rule.reached(situation(**(beliefs or {"risk": RISK}))).tolist()


def test_by_default_it_is_never_enough():
    assert reached(Stop()) == [False, False, False]
    assert Stop().budget == math.inf


def test_after_so_many_questions():
    assert reached(Stop(after=3)) == [False, True, True]
    assert reached(Stop(after=0)) == [True, True, True]


def test_once_no_question_is_worth_its_price():
    assert reached(Stop(reward_below=0.1)) == [False, True, True]


def test_once_the_standard_deviation_is_small():
    assert reached(Stop(sd_below=1.5)) == [True, True, False]


def test_once_the_interval_is_narrow():
    assert reached(Stop(interval_below=3.0)) == [True, False, False]


def test_once_a_level_is_likely():
    assert reached(Stop(probability_above=0.8), ill=ILL) == [False, True, True]


def test_certainty_is_asked_of_every_target():
    other = Prediction(RISK.variable, RISK.mean, SD[::-1], RISK.interval)
    assert reached(Stop(sd_below=1.5), risk=RISK, other=other) == [False, True, False]


def test_any_condition_of_one_rule_is_enough():
    assert reached(Stop(after=5, sd_below=0.7)) == [True, False, True]


def test_rules_joined_by_or_end_with_the_first():
    assert reached(Stop(after=5) | Stop(sd_below=0.7)) == [True, False, True]


def test_rules_joined_by_and_end_with_the_last():
    assert reached(Stop(after=3) & Stop(sd_below=1.5)) == [False, True, False]


def test_combinations_combine_again():
    both = Stop(after=3) & Stop(sd_below=1.5)
    assert reached(both | Stop(after=5)) == [False, True, True]
    assert reached(both & Stop(reward_below=0.001)) == [False, False, False]


def test_the_smallest_budget_holds_however_rules_are_combined():
    assert (Stop(budget=5) | Stop(budget=3)).budget == 3
    assert (Stop(budget=5) & Stop(after=3)).budget == 5


def test_belief_is_worked_out_only_where_a_rule_asks_for_it():
    unasked = Situation(np.array([1]), np.array([1.0]), lambda: pytest.fail("nobody asked"))
    assert Stop(after=1, reward_below=0.1).reached(unasked).tolist() == [True]


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("the budget must be above 0, got 0. Nothing could be asked", {"budget": 0}),
        ("the budget must be above 0, got nan", {"budget": math.nan}),
        ("after must be 0 or more questions, got -1", {"after": -1}),
        (r"probability_above must be in \(0, 1\], got 1.5", {"probability_above": 1.5}),
        ("sd_below must be above 0, got 0. It could never be reached", {"sd_below": 0}),
        ("interval_below must be above 0, got -1", {"interval_below": -1}),
    ],
)
def test_a_rule_that_cannot_work_is_refused(words, rule):
    with pytest.raises(StopError, match=words):
        Stop(**rule)


def test_a_quantity_has_no_likeliest_level():
    with pytest.raises(StopError, match=r"'risk' is real. Use sd_below or interval_below"):
        reached(Stop(probability_above=0.9))


@pytest.mark.parametrize("rule", ["sd_below", "interval_below"])
def test_a_category_has_no_spread(rule):
    with pytest.raises(StopError, match=f"{rule} needs a target with an order; 'town' is a category"):
        reached(Stop(**{rule: 1.0}), town=TOWN)


def test_sure_is_a_likely_level():
    assert reached(Sure(0.8), ill=ILL) == [False, True, True]
    assert reached(Sure(0.8), town=TOWN) == [False, True, True]


def test_sure_is_a_quantity_that_is_probably_near_its_mean():
    chance = math.erf(1 / math.sqrt(2))  # within one standard deviation
    assert reached(Sure(chance - 1e-9, within=1.0)) == [True, True, False]
    certain = Prediction(RISK.variable, RISK.mean, np.zeros(3), RISK.interval)
    assert reached(Sure(1.0, within=1.0), risk=certain) == [True, True, True]


def test_above_certainty_it_is_never_enough():
    assert reached(Sure(math.inf), ill=ILL) == [False, False, False]


def test_sure_of_every_target():
    assert reached(Sure(0.6, within=1.0), risk=RISK, ill=ILL) == [False, True, False]


def test_a_risk_must_be_settled_before_it_can_end_anything():
    with pytest.raises(StopError, match="must be settled for a model"):
        reached(Stop(risk=0.05))


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"risk": 0.0}, "risk must be in"),
        ({"risk": 1.0}, "risk must be in"),
        ({"risk": 0.1, "confidence": 1.0}, "confidence must be in"),
        ({"risk": 0.1, "within": 0.0}, "within must be above 0"),
        ({"within": 1.0}, "within goes with risk"),
    ],
)
def test_a_promise_that_makes_no_sense_is_refused(rules, words):
    with pytest.raises(StopError, match=words):
        Stop(**rules)
