"""Predictions as read-only items."""

from dataclasses import replace

import numpy as np
import pytest

from eddi.model.prediction import Prediction
from eddi.service.fhir.scores import build_scores
from eddi.service.fhir.vocabulary import HIDDEN, UNIT


class View:
    """What the scores of an interview depend on."""

    def __init__(self, questionnaire, predictions):
        self.questionnaire, self.predictions = questionnaire, predictions


@pytest.fixture
def score(make_items):
    """The items of a score: `score(prediction, **settings)`."""

    def build(prediction, **settings):
        items = make_items(**settings)
        view = View(items.questionnaire, {prediction.variable.name: prediction})
        [pair] = build_scores(view, items)
        return pair

    return build


@pytest.fixture
def age(people_schema):
    mean, sd, interval = np.float64(61.23456789), np.float64(5.0), np.array([53.0, 70.0])
    return Prediction(people_schema["age"], mean, sd, interval)


@pytest.fixture
def stage(people_schema):
    nothing = np.float64("nan")
    probabilities = np.array([0.2, 0.7, 0.1])
    return Prediction(people_schema["stage"], nothing, nothing, np.array([0.0, 0.0]), probabilities)


def test_a_quantity_has_a_mean_an_sd_and_an_interval(score, age):
    form, response = score(age)
    assert [item["linkId"].rpartition("/")[2] for item in form["item"]] == ["mean", "sd", "low", "high"]
    assert [item["answer"][0]["valueDecimal"] for item in response["item"]] == [61.2346, 5.0, 53.0, 70.0]
    assert form["item"][0]["extension"] == [{"url": UNIT, "valueCoding": {"display": "years"}}]


def test_levels_have_the_most_likely_one_and_all_probabilities(score, stage):
    form, response = score(stage)
    level, *probabilities = response["item"]
    assert level["answer"][0]["valueCoding"]["code"] == "late"
    assert [item["answer"][0]["valueDecimal"] for item in probabilities] == [0.2, 0.7, 0.1]
    assert [item["text"] for item in form["item"]] == ["Stage", "Early", "Late", "Last"]


def test_all_items_are_read_only(score, stage):
    form, _ = score(stage)
    assert all(item["readOnly"] for item in (form, *form["item"]))


def test_a_result_that_respondents_do_not_see_is_hidden(score, stage):
    hidden = {"url": HIDDEN, "valueBoolean": True}
    assert score(stage, show_result=False)[0]["extension"] == [hidden]
    assert "extension" not in score(stage)[0]


def test_the_names_are_those_of_the_settings(score, stage):
    changed = replace(stage)
    assert score(changed, names={"stage": "Stage of life"})[0]["text"] == "Result: Stage of life"
