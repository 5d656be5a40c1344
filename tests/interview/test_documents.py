"""One stateless step in plain JSON."""

import json

import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop
from eddi.errors import AnswerError, TargetError
from eddi.interview.documents import describe, resume
from eddi.interview.record import Answer


def test_answers_go_by_question_or_variable(body_model):
    document = {"answers": {"smoker": "yes", "body": {"age": 61, "weight": None}, "town": None}}
    interview = resume(body_model, document, "stage")
    assert interview.record.answers == (
        Answer("smoker", {"smoker": "yes"}),
        Answer("body", {"age": 61.0}, {"weight": UNKNOWN}),
        Answer("town", {}, {"town": UNKNOWN}),
    )


def test_a_silence_may_say_why(body_model):
    document = {
        "answers": {
            "town": {"without": "declined"},
            "body": {"age": {"without": "declined"}, "weight": 80},
        }
    }
    interview = resume(body_model, document, "stage")
    assert interview.record.declined() == {"town", "age"}
    assert interview.record.known() == {"weight"}


def test_a_record_will_do_and_brings_its_target(model):
    first = Interview(model, "stage")
    first.tell("age", 61)
    first.tell("town", DECLINED)
    document = json.loads(json.dumps(first.record.to_document()))
    again = resume(model, document)
    assert again.record == first.record
    assert describe(again) == describe(first)


def test_no_answers_are_a_beginning(model):
    assert resume(model, {}, "stage").record.answers == ()
    assert resume(model, {"target": "stage", "answers": {}}).target == ("stage",)


def test_a_step_says_the_question_the_belief_and_the_rewards(body_model):
    order = {"answers": dict.fromkeys(("visits", "smoker", "pain", "town", "colour"))}
    step = json.loads(json.dumps(describe(resume(body_model, order, "stage"))))
    assert step["question"] == {
        "name": "body",
        "text": "body",
        "cost": 3.0,
        "reveals": [
            {"name": "age", "kind": "real", "unit": "years"},
            {"name": "weight", "kind": "real", "unit": "kg"},
        ],
    }
    chances = step["prediction"]["stage"]["probabilities"]
    assert list(chances) == ["early", "late", "last"]
    assert step["prediction"]["stage"]["value"] == max(chances, key=chances.get)
    assert list(step["rewards"]) == ["body"]


def test_a_quantity_has_a_mean_and_an_interval_and_a_level_its_levels(model):
    step = describe(resume(model, {"answers": {"age": 61}}, ["weight", "stage"]))
    low, high = step["prediction"]["weight"]["interval"]
    assert low < step["prediction"]["weight"]["mean"] < high
    assert sum(step["prediction"]["stage"]["probabilities"].values()) == pytest.approx(1)
    asked = describe(resume(model, {}, "stage", stop=Stop(after=0)))
    assert asked["question"] is None


def test_a_question_of_levels_names_them(model):
    told = dict.fromkeys(("age", "visits", "smoker", "town", "weight", "colour"))
    step = describe(resume(model, {"answers": told}, "stage"))
    assert step["question"]["reveals"] == [
        {"name": "pain", "kind": "ordinal", "levels": ["none", "mild", "strong", "worst"]}
    ]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ([1, 2], r"not an object of answers: \[1, 2\]. Expected {\"answers\": {\"age\": 61"),
        ({"age": 61}, "not an object of answers: {'age': 61}"),
        ({"answers": 3}, "not an object of answers: 3"),
        ({"answers": "x" * 100}, "xxx..."),
        ({"answers": [{"question": "age"}]}, "not the record of an interview"),
        ({"answers": {"mood": 1}}, "there is no question 'mood'"),
        ({"answers": {"age": "old"}}, "'age' must be a number, got 'old'"),
        ({"answers": {"age": [61]}}, r"'age' must be a number, got \[61\]"),
        ({"answers": {"age": {"without": "lost"}}}, '"without" must be "unknown" or "declined", got'),
        ({"answers": {"age": {"without": [1]}}}, '"without" must be "unknown" or "declined", got'),
        ({"answers": {"stage": "late"}}, "'stage' tells what this interview wants to know"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_words(model, document, words):
    with pytest.raises(AnswerError, match=words):
        resume(model, document, "stage")


def test_a_target_the_model_lacks_is_refused(model):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        resume(model, {"target": "mood", "answers": {}})
