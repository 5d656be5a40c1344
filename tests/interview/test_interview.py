"""The ask/tell loop: the record of answers is the only state."""

import json

import numpy as np
import pandas as pd
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop, Variable
from eddi.errors import AnswerError, OutOfRangeError, TargetError
from eddi.interview.record import Answer, Record
from eddi.strategy import Explore, FixedOrder, Information

ANSWERS = {
    "age": 61.5,
    "visits": 3,
    "smoker": "yes",
    "pain": "mild",
    "town": "Bala",
    "weight": 80.0,
    "colour": "red",
}


def describe(interview):
    """Everything that follows from the record: next question, prediction and rewards."""
    question, prediction = interview.ask(), interview.predict()
    return question and question.name, prediction.probabilities.tolist(), interview.rewards()


def complete(interview):
    """Answer all questions; return their names in the order in which they were asked."""
    asked = []
    while (question := interview.ask()) is not None:
        asked.append(question.name)
        interview.tell(question, ANSWERS[question.name])
    return asked


def test_asking_changes_nothing(interview):
    before, first = interview.record, describe(interview)
    assert describe(interview) == first
    assert interview.record is before


def test_every_question_but_the_target_is_asked_once(interview):
    assert sorted(complete(interview)) == sorted(ANSWERS)
    assert interview.rewards() == {}
    assert interview.explain() is None


def test_a_respondent_may_volunteer_an_answer(interview):
    interview.tell("age", "61.5")
    assert interview.record.answers == (Answer("age", {"age": 61.5}),)
    assert "age" not in interview.rewards()


def test_an_answer_is_recorded_as_the_schema_spells_it(interview):
    interview.tell("smoker", " YES ")
    interview.tell("visits", "3")
    assert [answer.values for answer in interview.record.answers] == [{"smoker": "yes"}, {"visits": 3}]


def test_a_variable_of_a_larger_question_may_be_answered_under_its_own_name(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", 61)
    assert "body" in interview.rewards()
    interview.tell("weight", 80)
    assert "body" not in interview.rewards()


def test_an_answer_changes_the_prediction(interview):
    before = interview.predict().probabilities
    interview.tell("pain", "worst")
    assert np.abs(interview.predict().probabilities - before).max() > 0.01


@pytest.mark.parametrize("reason", [UNKNOWN, DECLINED])
def test_a_question_without_an_answer_adds_no_evidence_and_is_not_asked_again(interview, reason):
    probabilities = interview.predict().probabilities
    question = interview.ask()
    interview.tell(question, reason)
    assert np.array_equal(interview.predict().probabilities, probabilities)
    assert interview.ask().name != question.name
    assert question.name not in interview.rewards()


def test_the_record_distinguishes_unknown_from_declined(interview):
    interview.tell("age", UNKNOWN)
    interview.tell("weight", DECLINED)
    assert [answer.without for answer in interview.record.answers] == [
        {"age": UNKNOWN},
        {"weight": DECLINED},
    ]


def test_a_question_is_closed_once_all_its_variables_were_declined(body_model):
    interview = Interview(body_model, "stage", stop=Stop(budget=9))
    interview.tell("age", DECLINED)
    assert "body" in interview.rewards()
    interview.tell("weight", DECLINED)
    assert "body" not in interview.rewards()
    assert len(interview.rewards()) == 5  # body was not asked, so its cost was not spent


def test_a_question_stays_open_if_its_variables_are_unknown_to_the_respondent(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", UNKNOWN)
    interview.tell("weight", UNKNOWN)
    assert "body" in interview.rewards()


@pytest.mark.parametrize(
    "values",
    [
        [{"age": 61}],
        [61, UNKNOWN],
        [{"age": 61, "weight": UNKNOWN}],
    ],
)
def test_a_question_may_be_answered_in_part(body_model, values):
    interview = Interview(body_model, "stage")
    interview.tell("body", *values)
    assert interview.record.answers == (Answer("body", {"age": 61.0}, {"weight": UNKNOWN}),)
    assert interview.evidence().observed.sum() == 1
    assert "body" not in interview.rewards()


def test_declining_a_question_declines_all_its_variables(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("body", DECLINED)
    assert interview.record.answers[0].without == {"age": DECLINED, "weight": DECLINED}


def test_an_earlier_answer_to_a_part_remains_if_the_part_is_left_out(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", 61)
    interview.tell("body", {"weight": 80})
    assert interview.record.answers[1] == Answer("body", {"weight": 80.0})
    assert interview.evidence().observed.sum() == 2


def test_the_latest_of_two_values_counts(body_model):
    corrected, direct = Interview(body_model, "stage"), Interview(body_model, "stage")
    corrected.tell("age", 20)
    corrected.tell("body", 61, 80)
    direct.tell("body", 61, 80)
    assert np.array_equal(corrected.evidence().values, direct.evidence().values)


def test_undo_removes_the_last_answer_and_its_effects(interview):
    interview.tell("age", 61)
    before = describe(interview)
    interview.tell("pain", "mild")
    assert describe(interview) != before
    interview.undo()
    assert describe(interview) == before
    interview.undo()
    with pytest.raises(AnswerError, match="there is no answer to undo"):
        interview.undo()


def test_rewards_are_those_of_open_questions_highest_first(interview):
    interview.tell("age", 61)
    rewards = interview.rewards()
    assert set(rewards) == set(ANSWERS) - {"age"}
    assert list(rewards.values()) == sorted(rewards.values(), reverse=True)
    assert next(iter(rewards)) == interview.ask().name


def test_rewards_are_in_nats_for_every_strategy(model, interview):
    fixed = Interview(model, "stage", strategy=FixedOrder(("colour", "town")))
    assert fixed.ask().name == "colour"
    assert fixed.rewards() == interview.rewards()


@pytest.mark.parametrize("n_answers", [0, 1, 4, 7])
def test_a_record_resumes_to_the_same_questions_and_predictions(model, interview, n_answers):
    order = complete(interview)
    short = Interview(model, "stage")
    for name in order[:n_answers]:
        short.tell(name, ANSWERS[name])
    document = json.loads(json.dumps(short.record.to_document()))
    resumed = Interview(model, record=Record.from_document(document))
    assert resumed.record == short.record
    assert describe(resumed) == describe(short)
    assert complete(resumed) == order[n_answers:]


def test_a_resumed_interview_keeps_missing_and_partial_answers(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("town", DECLINED)
    interview.tell("body", {"age": 61})
    resumed = Interview(body_model, record=interview.record)
    assert resumed.record == interview.record
    assert describe(resumed) == describe(interview)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer("mood", {"mood": 1}), "there is no question 'mood'. Questions are: 'age', 'visits'"),
        (Answer("age", {"weight": 80}), "'age' reveals age, not 'weight'"),
        (Answer("age", {}, {"weight": UNKNOWN}), "'age' reveals age, not 'weight'"),
        (Answer("smoker", {"smoker": "often"}), "'smoker' must be one of no, yes, got 'often'"),
        (Answer("age", {"age": [1]}), "'age' must be a number"),
        (
            Answer("stage", {"stage": "late"}),
            "'stage' reveals the target of this interview and cannot be answered",
        ),
    ],
)
def test_a_record_that_does_not_fit_the_model_is_refused(model, answer, message):
    with pytest.raises(AnswerError, match=message):
        Interview(model, record=Record(("stage",), (answer,)))


def test_a_record_that_answers_a_question_twice_is_refused(model):
    twice = Record(("stage",), (Answer("age", {"age": 1}), Answer("age", {"age": 2})))
    with pytest.raises(AnswerError, match="'age' was already answered"):
        Interview(model, record=twice)


def test_a_record_about_another_target_is_refused(model):
    with pytest.raises(TargetError, match="an interview about stage, not about weight"):
        Interview(model, "weight", record=Record(("stage",)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (("mood", 1), "there is no question 'mood'. Questions are: 'age'"),
        (("age", "old"), "'age' must be a number, got 'old'. Use eddi.UNKNOWN or eddi.DECLINED"),
        (("visits", 2.5), "'visits' must be a whole number from 0 up, got 2.5"),
        (("visits", -1), "'visits' must be a whole number from 0 up, got -1"),
        (("smoker", "often"), "'smoker' must be one of no, yes, got 'often'"),
        (("smoker", "unknown"), "'smoker' must be one of no, yes, got 'unknown'"),
        (("age",), r"'age' takes 1 value\(s\) \(age\), got 0"),
        (("age", 1, 2), r"'age' takes 1 value\(s\) \(age\), got 2"),
        (("age", {"weight": 80}), "'age' reveals age, not 'weight'"),
        (("stage", "late"), "'stage' reveals the target of this interview and cannot be answered"),
        (("pain", "mild"), "'pain' was already answered. Undo that answer to change it"),
    ],
)
def test_an_invalid_answer_is_refused_and_the_record_does_not_change(interview, answer, message):
    interview.tell("pain", "mild")
    before = interview.record
    with pytest.raises(AnswerError, match=message):
        interview.tell(*answer)
    assert interview.record is before


def test_an_answer_out_of_range_is_refused(with_schema, people_schema):
    schema = people_schema.with_variable(Variable("age", "real", low=0, high=120))
    interview = Interview(with_schema(schema), "stage")
    with pytest.raises(
        AnswerError, match=r"'age' should be between 0 and 120, got 450. If the value is"
    ):
        interview.tell("age", 450)
    assert interview.record.answers == ()


def test_an_answer_out_of_range_is_accepted_once_it_is_confirmed(with_schema, people_schema):
    schema = people_schema.with_variable(Variable("age", "real", low=0, high=90))
    interview = Interview(with_schema(schema), "stage")
    interview.tell("age", 95, confirm=True)
    assert interview.record.answers[0].values == {"age": 95.0}
    again = Interview(with_schema(schema), record=interview.record)
    assert again.predict().probabilities.tolist() == interview.predict().probabilities.tolist()


def test_a_value_that_the_model_cannot_use_must_be_confirmed_without_a_range_as_well(model):
    interview = Interview(model, "stage")
    with pytest.raises(OutOfRangeError, match=r"'age' should be between .* and .*, got 99999"):
        interview.tell("age", 99_999)
    before = interview.predict()
    interview.tell("age", 99_999, confirm=True)
    assert interview.predict().probabilities.tolist() == before.probabilities.tolist()


def test_all_values_out_of_range_are_named(body_model):
    interview = Interview(body_model, "stage")
    with pytest.raises(OutOfRangeError, match=r"'age' should.*'weight' should") as error:
        interview.tell("body", 1e9, -1e9)
    assert list(error.value.ranges) == ["age", "weight"]


@pytest.mark.parametrize("value", [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT])
def test_a_missing_value_means_unknown(model, value):
    interview = Interview(model, "stage")
    interview.tell("age", value)
    assert interview.record.answers[0].without == {"age": UNKNOWN}


def test_a_missing_value_in_a_mapping_means_unknown(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("body", {"age": 61, "weight": None})
    assert interview.record.answers[0].without == {"weight": UNKNOWN}


@pytest.mark.parametrize(
    ("name", "hint"), [("ages", "'age'"), ("TOWN", "'town'"), ("wieght", "'weight'")]
)
def test_a_misspelled_question_gets_a_suggestion(model, name, hint):
    with pytest.raises(AnswerError, match=f"there is no question '{name}'. Did you mean {hint}"):
        Interview(model, "stage").tell(name, 1)


def test_an_invalid_part_makes_the_whole_answer_invalid(body_model):
    interview = Interview(body_model, "stage")
    with pytest.raises(AnswerError, match="'weight' must be a number"):
        interview.tell("body", {"age": 61, "weight": "heavy"})
    assert interview.record.answers == ()


def test_a_variable_that_a_question_revealed_cannot_be_answered_again(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("body", 61, 80)
    with pytest.raises(AnswerError, match="'age' was already answered"):
        interview.tell("age", 62)


def test_a_question_that_reveals_the_target_is_neither_asked_nor_answered(body_model):
    interview = Interview(body_model, "weight")
    assert "body" not in interview.rewards()
    with pytest.raises(AnswerError, match="'body' reveals the target of this interview"):
        interview.tell("body", 61, 80)
    interview.tell("age", 61)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mood", "the target 'mood' is not a variable of this schema. Variables are: 'age'"),
        ("name", r"the target 'name' is set aside and not modelled \(every value is different\)"),
        (["stage", "mood"], "the target 'mood' is not a variable"),
        ((), "an interview needs a target: name what you want to know"),
        (None, "an interview needs a target"),
    ],
)
def test_a_target_that_the_model_does_not_have_is_refused(model, target, message):
    with pytest.raises(TargetError, match=message):
        Interview(model, target)


def test_the_default_target_is_the_one_declared_in_training(people_model):
    assert Interview(people_model(target="stage")).target == ("stage",)


def test_an_interview_may_have_several_targets(model):
    interview = Interview(model, ["stage", "weight"])
    assert {"stage", "weight"}.isdisjoint(interview.rewards())
    assert list(interview.predict()) == ["stage", "weight"]
    assert interview.predict("weight").variable.name == "weight"
    with pytest.raises(AnswerError, match="'weight' reveals the target of this interview"):
        interview.tell("weight", 80)
    assert interview.explain().target == "stage"
    assert not set(complete(interview)) & {"stage", "weight"}


def test_predicting_an_unknown_variable_is_refused(interview):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        interview.predict("mood")


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize(("name", "value"), [("weight", 1e5), ("weight", 3e30), ("visits", 10**9)])
def test_an_extreme_answer_does_not_end_the_interview(people_model, recipe, name, value):
    interview = Interview(people_model(recipe=recipe), "stage")
    interview.tell(name, value, confirm=True)
    assert interview.ask() is not None
    assert not any(np.isnan(list(interview.rewards().values())))


def test_an_integer_that_is_too_large_for_a_float_is_refused(model):
    with pytest.raises(AnswerError, match="must be a number"):
        Interview(model, "stage").tell("weight", 10**400)


def test_deferred_questions_are_asked_only_if_no_other_is_left(interview):
    best, *others = interview.next_step().rewards
    assert interview.next_step().question.name == best
    assert interview.next_step(deferred={best}).question.name == others[0]
    assert interview.next_step(deferred={best, *others}).question.name == best
    assert interview.ask().name == best


def test_a_deferred_question_keeps_its_reward_and_its_place_in_the_ranking(interview):
    step = interview.next_step()
    deferred = interview.next_step(deferred={step.question.name, "no such question"})
    assert deferred.rewards == step.rewards
    assert deferred.ranking == step.ranking
    assert deferred.question.name == step.ranking[1]


def test_a_next_step_agrees_with_ask_predict_and_rewards(interview):
    interview.tell("age", 61)
    step = interview.next_step()
    assert step.question == interview.ask()
    assert step.rewards == interview.rewards()
    np.testing.assert_array_equal(
        step.predictions["stage"].probabilities, interview.predict().probabilities
    )


def test_an_interview_takes_an_estimator_or_its_fitted_model(model):
    assert Interview(model, "stage").rules == Interview(model.fitted(), "stage").rules


def test_several_targets_are_all_predicted(model):
    interview = Interview(model, ["stage", "weight"])
    interview.tell("age", 61)
    predictions = interview.predict()
    assert list(predictions) == ["stage", "weight"]
    assert float(predictions["weight"].mean) == float(interview.predict("weight").mean)
    assert predictions["stage"].probabilities.shape == (3,)


def test_an_interview_has_a_short_repr(model):
    interview = Interview(model, "stage")
    interview.tell("age", 61)
    expected = "<Interview about stage: 1 answer, next question: most informative question>"
    assert repr(interview) == expected


def test_the_probability_of_a_question_is_recorded_and_survives_a_replay(model):
    interview = Interview(model, "stage")
    interview.tell("age", 50, propensity=0.5)
    assert Interview(model, record=interview.record).record.answers[0].propensity == 0.5


def test_the_probabilities_of_all_questions_can_be_computed_again(model):
    interview = Interview(model, "stage", strategy=Explore(Information(), share=0.6))
    expected = []
    for _ in range(3):
        step = interview.next_step()
        expected.append(step.propensity)
        interview.tell(step.question, UNKNOWN)
    assert interview.propensities() == pytest.approx(expected)


def test_a_question_that_was_not_asked_has_probability_zero(model):
    interview = Interview(model, "stage")
    asked = interview.ask().name
    interview.tell(next(name for name in ("age", "town") if name != asked), UNKNOWN)
    assert interview.propensities() == (0.0,)
