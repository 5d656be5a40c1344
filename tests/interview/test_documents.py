"""Interviews as JSON documents: answers in, next question out."""

import json
from dataclasses import replace

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.errors import AnswerError, TargetError
from eddi.interview.documents import describe, prediction_document, resume
from eddi.interview.record import Answer
from eddi.strategy import Explore, Information


def test_answers_may_be_keyed_by_question_or_variable(body_model):
    document = {"answers": {"smoker": "yes", "body": {"age": 61, "weight": None}, "town": None}}
    interview = resume(body_model, document, "stage")
    assert interview.record.answers == (
        Answer("smoker", {"smoker": "yes"}),
        Answer("body", {"age": 61.0}, {"weight": UNKNOWN}),
        Answer("town", {}, {"town": UNKNOWN}),
    )


def test_a_missing_answer_may_have_a_reason(body_model):
    document = {
        "answers": {
            "town": {"without": "declined"},
            "body": {"age": {"without": "declined"}, "weight": 80},
        }
    }
    interview = resume(body_model, document, "stage")
    assert interview.record.declined_variables() == {"town", "age"}
    assert interview.record.answered_variables() == {"weight"}


def test_a_record_is_a_valid_document_and_contains_the_target(model):
    first = Interview(model, "stage")
    first.tell("age", 61)
    first.tell("town", DECLINED)
    document = json.loads(json.dumps(first.record.to_document()))
    resumed = resume(model, document)
    assert resumed.record == first.record
    assert describe(resumed) == describe(first)


def test_a_document_without_answers_starts_an_interview(model):
    assert resume(model, {}, "stage").record.answers == ()
    assert resume(model, {"target": "stage", "answers": {}}).target == ("stage",)


def test_a_step_contains_the_question_the_prediction_and_the_rewards(body_model):
    document = {"answers": dict.fromkeys(("visits", "smoker", "pain", "town", "colour"))}
    step = json.loads(json.dumps(describe(resume(body_model, document, "stage"))))
    assert step["question"] == {
        "name": "body",
        "text": "body",
        "cost": 3.0,
        "reveals": [
            {"name": "age", "kind": "real", "unit": "years"},
            {"name": "weight", "kind": "real", "unit": "kg"},
        ],
    }
    probabilities = step["prediction"]["stage"]["probabilities"]
    assert list(probabilities) == ["early", "late", "last"]
    assert step["prediction"]["stage"]["value"] == max(probabilities, key=probabilities.get)
    assert list(step["rewards"]) == ["body"]


def test_a_quantity_has_a_mean_and_an_interval_and_other_targets_have_probabilities(model):
    step = describe(resume(model, {"answers": {"age": 61}}, ["weight", "stage"]))
    low, high = step["prediction"]["weight"]["interval"]
    assert low < step["prediction"]["weight"]["mean"] < high
    assert sum(step["prediction"]["stage"]["probabilities"].values()) == pytest.approx(1)


def test_a_completed_interview_has_no_question(model):
    step = describe(resume(model, {}, "stage", stop=Stop(after=0)))
    assert step["question"] is None


def test_a_question_about_a_variable_with_levels_lists_them(model):
    answers = dict.fromkeys(("age", "visits", "smoker", "town", "weight", "colour"))
    step = describe(resume(model, {"answers": answers}, "stage"))
    assert step["question"]["reveals"] == [
        {"name": "pain", "kind": "ordinal", "levels": ["none", "mild", "strong", "worst"]}
    ]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            [1, 2],
            r"the document must be an object of answers, got \[1, 2\]. Expected {\"answers\": {\"age\": 61",
        ),
        ({"age": 61}, "the document must be an object of answers, got {'age': 61}"),
        ({"answers": 3}, "the answers must be an object, got 3"),
        ({"answers": "x" * 100}, "xxx..."),
        ({"answers": [{"question": "age"}]}, "not the record of an interview"),
        ({"answers": {"mood": 1}}, "there is no question 'mood'"),
        ({"answers": {"age": "old"}}, "'age' must be a number, got 'old'"),
        ({"answers": {"age": [[61]]}}, r"'age' must be a number, got \[61\]"),
        ({"answers": {"age": [61, 62]}}, r"'age' takes 1 value\(s\) \(age\), got 2"),
        ({"answers": {"age": {"without": "lost"}}}, '"without" must be "unknown" or "declined", got'),
        ({"answers": {"age": {"without": [1]}}}, '"without" must be "unknown" or "declined", got'),
        ({"answers": {"stage": "late"}}, "'stage' reveals the target of this interview"),
    ],
)
def test_an_invalid_document_is_refused(model, document, message):
    with pytest.raises(AnswerError, match=message):
        resume(model, document, "stage")


def test_an_unknown_target_is_refused(model):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        resume(model, {"target": "mood", "answers": {}})


def test_a_document_without_a_key_is_answered_without_exploration(model):
    strategy = Explore(Information(), share=1.0)
    best = Interview(model, "stage").ask()
    questions = [resume(model, {"answers": {}}, "stage", strategy=strategy).ask() for _ in range(5)]
    assert questions == [best] * 5


def test_a_document_with_a_key_explores_reproducibly(model):
    strategy = Explore(Information(), share=1.0)
    asked = [
        resume(model, {"key": key, "answers": {}}, "stage", strategy=strategy).ask().name
        for key in ("a", "a", "b", "c", "d", "e")
    ]
    assert asked[0] == asked[1]
    assert len(set(asked)) > 1


def test_a_survival_prediction_has_risks_and_a_curve(survival_model):
    prediction = Interview(survival_model, "death").predict()
    document = json.loads(json.dumps(prediction_document(prediction)))
    assert document["risk"]["50"] == pytest.approx(float(prediction.risk(50)))
    assert document["curve"]["time"][0] == 0
    assert len(document["curve"]["survival"]) == len(document["curve"]["low"])
    assert document["median"] == pytest.approx(float(prediction.median))


def test_a_median_that_is_not_reached_is_null(survival_model):
    prediction = Interview(survival_model, "death").predict()
    never = np.zeros_like(prediction.bin_probabilities)
    never[-1] = 1.0
    assert prediction_document(replace(prediction, bin_probabilities=never))["median"] is None
