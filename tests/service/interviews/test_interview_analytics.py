"""Draws of the prediction of an interview, and the number of questions left."""

from dataclasses import replace

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.service.interviews import interview_analytics
from eddi.strategy import Explore, Information, Randomesque


@pytest.fixture
def interview(model):
    interview = Interview(model, "weight")
    interview.tell("age", 70)
    interview.tell("smoker", UNKNOWN)
    interview.tell("pain", "worst")
    return interview


def test_draws_come_from_the_present_predictive_distribution(interview):
    draws = interview_analytics.draw_values(interview, "weight")
    prediction = interview.predict()
    assert draws.shape == (interview_analytics.N_DRAWS,)
    assert draws.mean() == pytest.approx(float(prediction.mean), abs=float(prediction.sd) / 4)


def test_at_most_all_questions_except_the_target_are_left(model):
    interview = Interview(model, "stage")
    assert interview_analytics.max_questions_left(interview) == 7
    interview.tell("age", 50)
    interview.tell("town", DECLINED)
    assert interview_analytics.max_questions_left(interview) == 5


@pytest.mark.parametrize(
    ("stop", "maximum"),
    [
        (Stop(after=3), 3),
        (Stop(budget=2), 2),
        (Stop(after=3) | Stop(after=5), 3),
        (Stop(after=3) & Stop(after=5), 5),
        (Stop(after=3) & Stop(reward_below=0.1), 7),
        (Stop(after=0), 0),
    ],
)
def test_a_stopping_rule_limits_the_questions_left(model, stop, maximum):
    interview = Interview(model, "stage", stop=stop)
    assert interview_analytics.max_questions_left(interview) == maximum


def test_questions_left_include_required_ones_and_exclude_impossible_ones(with_schema, people_schema):
    schema = people_schema.with_question("age", always=True)
    schema = schema.with_question("visits", requires={"smoker": "yes"})
    model = with_schema(schema)
    interview = Interview(model, "stage", stop=Stop(after=1))
    assert interview_analytics.max_questions_left(interview) == 2  # another one first, then age
    interview.tell("smoker", "no")
    assert interview_analytics.max_questions_left(interview) == 1  # age, which is always asked
    unlimited = Interview(model, "stage")
    assert interview_analytics.max_questions_left(unlimited) == 7
    unlimited.tell("smoker", "no")
    # Neither smoker nor visits, which only smokers are asked.
    assert interview_analytics.max_questions_left(unlimited) == 5


def test_questions_that_were_put_off_are_asked_after_the_end(model, people):
    interview, person = Interview(model, "stage", stop=Stop(after=2)), people(1, 3, missing=0).iloc[0]
    deferred, expected = ["age", "visits"], []
    while (question := interview.next_step(deferred).question) is not None:
        expected.append(interview_analytics.max_questions_left(interview, deferred))
        interview.tell(question.name, person[question.name])
    assert expected == [4, 3, 2, 1]


def test_only_rules_that_depend_on_answers_end_interviews_early(model, with_schema, people_schema):
    def may_end_early(model, stop):
        return interview_analytics.may_end_early(Interview(model, "stage", stop=stop).rules)

    assert not may_end_early(model, Stop(after=3, budget=9))
    assert may_end_early(model, Stop(probability_above=0.6))
    assert may_end_early(model, Stop(after=3) | Stop(probability_above=0.6))
    assert may_end_early(
        with_schema(people_schema.with_question("visits", requires={"smoker": "yes"})), Stop()
    )


@pytest.mark.parametrize(
    ("explore", "maximum", "differs"),
    [
        (Explore(Information(), continuation=0.5), 7, True),
        (Explore(Information(), continuation=1.0), 7, False),
        (Explore(Information(), min_answers=np.inf), 7, False),
        (Explore(Information()), 2, False),
        (Randomesque(Information()), 2, False),
    ],
)
def test_exploration_may_ask_questions_after_the_end(model, explore, maximum, differs):
    interview = Interview(model, "stage", strategy=explore, stop=Stop(after=2))
    assert interview_analytics.max_questions_left(interview) == maximum
    assert interview_analytics.may_end_early(interview.rules) == differs


def test_questions_with_enough_answers_do_not_follow_the_end(model):
    fitted = model.fitted()
    n_answers = tuple(0 if v.name == "age" else 100 for v in fitted.schema.variables)
    training = replace(fitted.training, n_answers=n_answers)
    strategy = Explore(Information(), min_answers=60)
    rarely = replace(fitted, training=training)
    interview = Interview(rarely, "stage", strategy=strategy, stop=Stop(after=2))
    assert interview_analytics.max_questions_left(interview) == 3
    assert interview_analytics.may_end_early(interview.rules)


def test_simulated_respondents_give_the_length_of_interviews(model):
    rules = Interview(model, "stage", stop=Stop(after=3)).rules
    lengths = interview_analytics.simulate_lengths(rules)
    assert lengths.tolist() == [3] * interview_analytics.N_SIMULATED
    rules = Interview(model, "stage", stop=Stop(probability_above=0.6)).rules
    assert 0 < interview_analytics.simulate_lengths(rules).mean() < 7


@pytest.mark.parametrize(
    ("n_answered", "maximum", "estimate"), [(0, 9, 3), (2, 7, 4), (4, 5, 2), (6, 3, 1), (4, 1, 1)]
)
def test_the_estimate_is_the_mean_of_simulated_interviews_that_got_this_far(
    n_answered, maximum, estimate
):
    lengths = np.array([2, 2, 2, 6])
    found = interview_analytics.estimate_questions_left(lengths, n_answered, maximum)
    assert found == estimate


def test_without_the_end_of_simulated_interviews_the_estimate_is_the_maximum():
    lengths = np.array([3, interview_analytics.MAX_SIMULATED_STEPS])
    assert interview_analytics.estimate_questions_left(lengths, 2, 40) == 40
