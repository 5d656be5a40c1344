"""The effects of answers agree with the predictions that are shown."""

import math

import numpy as np
import pytest

from eddi import UNKNOWN, Interview
from eddi.interview.effects import information, measure_effects, predictions_over_time
from eddi.model.prediction import Prediction


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
    predictions = predictions_over_time(interview, "weight")
    means = [float(prediction.mean) for prediction in predictions]
    assert len(means) == 4
    assert means[0] == pytest.approx(float(Interview(model, "weight").predict().mean))
    assert means[-1] == pytest.approx(float(interview.predict().mean))
    assert means[1] == pytest.approx(means[2])  # an unknown answer changes nothing


def test_an_effect_is_the_prediction_with_the_answer_minus_the_one_without(model, interview):
    over_time = predictions_over_time(interview, "weight")
    effects = measure_effects(interview, over_time)
    assert {effect.answer.question for effect in effects} == {"age", "pain"}
    without_age = Interview(model, "weight")
    without_age.tell("pain", "worst")
    expected = float(interview.predict().mean - without_age.predict().mean)
    [age] = [effect for effect in effects if effect.answer.question == "age"]
    assert age.shift == pytest.approx(expected, rel=1e-4)
    assert abs(effects[0].shift) >= abs(effects[1].shift)


def test_an_interview_without_answers_has_no_effects(model):
    new = Interview(model, "weight")
    over_time = predictions_over_time(new, "weight")
    assert measure_effects(new, over_time) == []


def test_information_is_the_divergence_of_the_predictions(model):
    weight = model.schema_["weight"]
    wide, narrow = normal(weight, 80, 10), normal(weight, 80, 5)
    assert information(wide, wide) == pytest.approx(0.0)
    assert information(wide, narrow) == pytest.approx(math.log(2) + 1 / 8 - 1 / 2)
    pain = model.schema_["pain"]
    uniform, certain = (
        Prediction(pain, np.float64(0), np.float64(0), np.zeros(2), np.array(probabilities))
        for probabilities in ([0.25] * 4, [1.0, 0.0, 0.0, 0.0])
    )
    assert information(uniform, certain) == pytest.approx(math.log(4), abs=1e-6)


def test_the_effect_of_the_only_answer_is_the_change_of_the_prediction(model):
    interview = Interview(model, "stage")
    before = interview.predict()
    interview.tell("pain", "worst")
    after = interview.predict()
    [effect] = measure_effects(interview, predictions_over_time(interview, "stage"))
    level = int(after.probabilities.argmax())
    change = after.probabilities[level] - before.probabilities[level]
    assert effect.shift == pytest.approx(float(change), abs=1e-6)
    assert effect.nats == pytest.approx(information(before, after), abs=1e-6)
