"""How an interview went and may go on."""

import copy
import math

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.model.prediction import Prediction
from eddi.service.interviews import interview_analytics


@pytest.fixture
def interview(model):
    found = Interview(model, "weight")
    found.tell("age", 70)
    found.tell("smoker", UNKNOWN)
    found.tell("pain", "worst")
    return found


def normal(variable, mean, sd):
    half = 1.645 * sd
    return Prediction(variable, np.float64(mean), np.float64(sd), np.array([mean - half, mean + half]))


def test_beliefs_begin_with_nothing_known_and_end_with_now(model, interview):
    course = interview_analytics.beliefs(interview, "weight")
    assert len(course) == 4
    assert float(course[0].mean) == pytest.approx(float(Interview(model, "weight").predict().mean))
    assert float(course[-1].mean) == pytest.approx(float(interview.predict().mean))
    assert float(course[1].mean) == pytest.approx(float(course[2].mean))  # not knowing tells nothing


def test_an_effect_is_the_prediction_with_the_answer_less_that_without(model, interview):
    effects = interview_analytics.effects(interview, interview_analytics.beliefs(interview, "weight"))
    assert {effect.answer.question for effect in effects} == {"age", "pain"}
    without = Interview(model, "weight")
    without.tell("pain", "worst")
    expected = float(interview.predict().mean - without.predict().mean)
    found = next(effect for effect in effects if effect.answer.question == "age")
    assert found.shift == pytest.approx(expected, rel=1e-4)
    assert abs(effects[0].shift) >= abs(effects[1].shift)


def test_without_answers_nothing_had_an_effect(model):
    fresh = Interview(model, "weight")
    assert interview_analytics.effects(fresh, interview_analytics.beliefs(fresh, "weight")) == []


def test_what_was_told_is_the_divergence_of_the_beliefs(model):
    weight = model.schema_["weight"]
    same, narrow = normal(weight, 80, 10), normal(weight, 80, 5)
    assert interview_analytics.told(same, same) == pytest.approx(0.0)
    assert interview_analytics.told(same, narrow) == pytest.approx(math.log(2) + 1 / 8 - 1 / 2)
    pain = model.schema_["pain"]
    even, sure = (
        Prediction(pain, np.float64(0), np.float64(0), np.zeros(2), np.array(chances))
        for chances in ([0.25] * 4, [1.0, 0.0, 0.0, 0.0])
    )
    assert interview_analytics.told(even, sure) == pytest.approx(math.log(4), abs=1e-6)


def test_a_question_put_aside_waits_until_nothing_else_is_left(model):
    interview = Interview(model, "stage")
    first = interview.ask()
    second = interview_analytics.next_question(interview, {first.name})
    assert second.name != first.name
    everything = {question.name for question in model.schema_.questions}
    assert interview_analytics.next_question(interview, everything).name == first.name
    assert interview_analytics.next_question(interview, ()).name == first.name


def test_when_it_is_enough_nothing_is_asked_whatever_was_put_aside(model):
    assert (
        interview_analytics.next_question(Interview(model, "stage", stop=Stop(after=0)), {"age"}) is None
    )


def test_why_explains_the_question_that_is_shown(model):
    interview = Interview(model, "stage")
    second = interview_analytics.next_question(interview, {interview.ask().name})
    explained = interview_analytics.why(interview, second)
    assert explained.question == second
    assert explained.nats == pytest.approx(interview.rewards()[second.name])
    assert explained.runner_up[0] == interview.ask().name


def test_at_most_all_questions_but_the_target_are_left(model):
    interview = Interview(model, "stage")
    assert interview_analytics.most_left(interview) == 7
    interview.tell("age", 50)
    interview.tell("town", DECLINED)
    assert interview_analytics.most_left(interview) == 5


@pytest.mark.parametrize(
    ("rule", "most"),
    [
        (Stop(after=3), 3),
        (Stop(budget=2), 2),
        (Stop(after=3) | Stop(after=5), 3),
        (Stop(after=3) & Stop(after=5), 5),
        (Stop(after=3) & Stop(reward_below=0.1), 7),
        (Stop(after=0), 0),
    ],
)
def test_a_stopping_rule_bounds_how_many_are_left(model, rule, most):
    assert interview_analytics.most_left(Interview(model, "stage", stop=rule)) == most


def test_questions_that_are_always_asked_are_counted_and_impossible_ones_are_not(model, people_schema):
    schema = people_schema.with_question("age", always=True)
    schema = schema.with_question("visits", requires={"smoker": "yes"})
    worded = copy.copy(model)
    worded.schema_ = schema
    interview = Interview(worded, "stage", stop=Stop(after=1))
    assert interview_analytics.most_left(interview) == 1
    interview.tell("smoker", "no")
    assert interview_analytics.most_left(interview) == 1  # age, which is always asked
    free = Interview(worded, "stage")
    assert interview_analytics.most_left(free) == 7
    free.tell("smoker", "no")
    assert (
        interview_analytics.most_left(free) == 5
    )  # neither smoker nor visits, which only smokers are asked


def test_imagined_respondents_say_about_how_long_it_takes(model):
    lengths = interview_analytics.lengths(Interview(model, "stage", stop=Stop(after=3)).turns)
    assert lengths.tolist() == [3] * interview_analytics.N_IMAGINED
    certain = interview_analytics.lengths(
        Interview(model, "stage", stop=Stop(probability_above=0.6)).turns
    )
    assert 0 < certain.mean() < 7


@pytest.mark.parametrize(
    ("n_told", "most", "about"), [(0, 9, 3), (2, 7, 4), (4, 5, 2), (6, 3, 1), (4, 1, 1)]
)
def test_about_as_many_are_left_as_those_needed_who_came_as_far(n_told, most, about):
    assert interview_analytics.about_left(np.array([2, 2, 2, 6]), n_told, most) == about
