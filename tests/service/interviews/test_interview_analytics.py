"""Predictions over an interview, effects of answers, and the number of questions left."""

import math

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.model.prediction import Prediction
from eddi.service.interviews import interview_analytics


@pytest.fixture
def interview(model):
    interview = Interview(model, "weight")
    interview.tell("age", 70)
    interview.tell("smoker", UNKNOWN)
    interview.tell("pain", "worst")
    return interview


def normal(variable, mean, sd):
    half = 1.645 * sd
    return Prediction(variable, np.float64(mean), np.float64(sd), np.array([mean - half, mean + half]))


def test_predictions_over_time_start_without_answers_and_end_with_the_present(model, interview):
    predictions = interview_analytics.predictions_over_time(interview, "weight")
    means = [float(prediction.mean) for prediction in predictions]
    assert len(means) == 4
    assert means[0] == pytest.approx(float(Interview(model, "weight").predict().mean))
    assert means[-1] == pytest.approx(float(interview.predict().mean))
    assert means[1] == pytest.approx(means[2])  # an unknown answer changes nothing


def test_an_effect_is_the_prediction_with_the_answer_minus_the_one_without(model, interview):
    over_time = interview_analytics.predictions_over_time(interview, "weight")
    effects = interview_analytics.effects(interview, over_time)
    assert {effect.answer.question for effect in effects} == {"age", "pain"}
    without_age = Interview(model, "weight")
    without_age.tell("pain", "worst")
    expected = float(interview.predict().mean - without_age.predict().mean)
    [age] = [effect for effect in effects if effect.answer.question == "age"]
    assert age.shift == pytest.approx(expected, rel=1e-4)
    assert abs(effects[0].shift) >= abs(effects[1].shift)


def test_an_interview_without_answers_has_no_effects(model):
    new = Interview(model, "weight")
    over_time = interview_analytics.predictions_over_time(new, "weight")
    assert interview_analytics.effects(new, over_time) == []


def test_information_is_the_divergence_of_the_predictions(model):
    weight = model.schema_["weight"]
    wide, narrow = normal(weight, 80, 10), normal(weight, 80, 5)
    assert interview_analytics.information(wide, wide) == pytest.approx(0.0)
    assert interview_analytics.information(wide, narrow) == pytest.approx(math.log(2) + 1 / 8 - 1 / 2)
    pain = model.schema_["pain"]
    uniform, certain = (
        Prediction(pain, np.float64(0), np.float64(0), np.zeros(2), np.array(probabilities))
        for probabilities in ([0.25] * 4, [1.0, 0.0, 0.0, 0.0])
    )
    assert interview_analytics.information(uniform, certain) == pytest.approx(math.log(4), abs=1e-6)


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
    assert interview_analytics.max_questions_left(interview) == 1
    interview.tell("smoker", "no")
    assert interview_analytics.max_questions_left(interview) == 1  # age, which is always asked
    unlimited = Interview(model, "stage")
    assert interview_analytics.max_questions_left(unlimited) == 7
    unlimited.tell("smoker", "no")
    # Neither smoker nor visits, which only smokers are asked.
    assert interview_analytics.max_questions_left(unlimited) == 5


def test_only_rules_that_depend_on_answers_end_interviews_early(model, with_schema, people_schema):
    def may_end_early(model, stop):
        return interview_analytics.may_end_early(Interview(model, "stage", stop=stop).rules)

    assert not may_end_early(model, Stop(after=3, budget=9))
    assert may_end_early(model, Stop(probability_above=0.6))
    assert may_end_early(model, Stop(after=3) | Stop(probability_above=0.6))
    assert may_end_early(
        with_schema(people_schema.with_question("visits", requires={"smoker": "yes"})), Stop()
    )


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
