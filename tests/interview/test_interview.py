"""Ask and tell: the record of answers is the only state."""

import json

import numpy as np
import pytest

from eddi import DECLINED, UNKNOWN, Interview, Stop, Variable
from eddi.errors import AnswerError, TargetError
from eddi.interview.record import Answer, Record
from eddi.strategy import FixedOrder

ANSWERS = {
    "age": 61.5,
    "visits": 3,
    "smoker": "yes",
    "pain": "mild",
    "town": "Bala",
    "weight": 80.0,
    "colour": "red",
}


def facts(interview):
    """All that an interview says."""
    question, belief = interview.ask(), interview.predict()
    chances = None if belief.probabilities is None else belief.probabilities.tolist()
    return question and question.name, chances, interview.rewards()


def play(interview):
    """The names of the questions, asked to the end."""
    asked = []
    while (question := interview.ask()) is not None:
        asked.append(question.name)
        interview.tell(question, ANSWERS[question.name])
    return asked


def test_asking_changes_nothing(interview):
    before, first = interview.record, facts(interview)
    assert facts(interview) == first
    assert interview.record is before


def test_every_question_but_the_target_is_asked_once(interview):
    assert sorted(play(interview)) == sorted(ANSWERS)
    assert interview.rewards() == {}
    assert interview.explain() is None


def test_a_respondent_may_volunteer_an_answer(interview):
    interview.tell("age", "61.5")
    assert interview.record.answers == (Answer("age", {"age": 61.5}),)
    assert "age" not in interview.rewards()


def test_an_answer_is_recorded_in_the_words_of_the_schema(interview):
    interview.tell("smoker", " YES ")
    interview.tell("visits", "3")
    assert [answer.values for answer in interview.record.answers] == [{"smoker": "yes"}, {"visits": 3}]


def test_a_variable_of_a_larger_question_may_be_told_by_its_own_name(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", 61)
    assert "body" in interview.rewards()
    interview.tell("weight", 80)
    assert "body" not in interview.rewards()


def test_what_is_told_changes_what_is_believed(interview):
    before = interview.predict().probabilities
    interview.tell("pain", "worst")
    assert np.abs(interview.predict().probabilities - before).max() > 0.01


@pytest.mark.parametrize("silence", [UNKNOWN, DECLINED])
def test_no_answer_is_no_evidence_and_is_never_asked_again(interview, silence):
    chances = interview.predict().probabilities
    question = interview.ask()
    interview.tell(question, silence)
    assert np.array_equal(interview.predict().probabilities, chances)
    assert interview.ask().name != question.name
    assert question.name not in interview.rewards()


def test_unknown_and_declined_are_distinct_facts(interview):
    interview.tell("age", UNKNOWN)
    interview.tell("weight", DECLINED)
    assert [answer.without for answer in interview.record.answers] == [
        {"age": UNKNOWN},
        {"weight": DECLINED},
    ]


def test_a_question_is_closed_once_all_it_could_bring_was_declined(body_model):
    interview = Interview(body_model, "stage", stop=Stop(budget=9))
    interview.tell("age", DECLINED)
    assert "body" in interview.rewards()
    interview.tell("weight", DECLINED)
    assert "body" not in interview.rewards()
    assert len(interview.rewards()) == 5  # and what was never asked has not been paid for


def test_what_is_not_known_by_heart_may_still_be_measured(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", UNKNOWN)
    interview.tell("weight", UNKNOWN)
    assert "body" in interview.rewards()


@pytest.mark.parametrize(
    "said",
    [
        [{"age": 61}],
        [61, UNKNOWN],
        [{"age": 61, "weight": UNKNOWN}],
    ],
)
def test_a_question_may_be_answered_in_part(body_model, said):
    interview = Interview(body_model, "stage")
    interview.tell("body", *said)
    assert interview.record.answers == (Answer("body", {"age": 61.0}, {"weight": UNKNOWN}),)
    assert interview.evidence().observed.sum() == 1
    assert "body" not in interview.rewards()


def test_one_silence_stands_for_all_variables(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("body", DECLINED)
    assert interview.record.answers[0].without == {"age": DECLINED, "weight": DECLINED}


def test_a_known_part_that_is_left_out_stays_known(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("age", 61)
    interview.tell("body", {"weight": 80})
    assert interview.record.answers[1] == Answer("body", {"weight": 80.0})
    assert interview.evidence().observed.sum() == 2


def test_the_newer_of_two_values_counts(body_model):
    corrected, right = Interview(body_model, "stage"), Interview(body_model, "stage")
    corrected.tell("age", 20)
    corrected.tell("body", 61, 80)
    right.tell("body", 61, 80)
    assert np.array_equal(corrected.evidence().values, right.evidence().values)


def test_undo_forgets_the_last_answer_and_all_that_followed_from_it(interview):
    interview.tell("age", 61)
    before = facts(interview)
    interview.tell("pain", "mild")
    assert facts(interview) != before
    interview.undo()
    assert facts(interview) == before
    interview.undo()
    with pytest.raises(AnswerError, match="there is no answer to undo"):
        interview.undo()


def test_rewards_are_of_open_questions_best_first(interview):
    interview.tell("age", 61)
    rewards = interview.rewards()
    assert set(rewards) == set(ANSWERS) - {"age"}
    assert list(rewards.values()) == sorted(rewards.values(), reverse=True)
    assert next(iter(rewards)) == interview.ask().name


def test_rewards_are_nats_whatever_the_strategy_scores_by(model, interview):
    fixed = Interview(model, "stage", strategy=FixedOrder(("colour", "town")))
    assert fixed.ask().name == "colour"
    assert fixed.rewards() == interview.rewards()


def test_an_explanation_is_words_and_figures(interview):
    why, rewards = interview.explain(), interview.rewards()
    second = list(rewards)[1]
    assert why.question == interview.ask()
    assert why.runner_up == (second, rewards[second])
    assert why.after < why.now
    assert str(why) == (
        f"{why.question.text!r} is expected to tell {why.nats:.2f} nats about stage, and to change "
        f"the chance that our best guess of stage is wrong from {why.now:.0%} to {why.after:.0%}. "
        f"Next best: {second!r} ({rewards[second]:.2f} nats)."
    )


def test_a_quantity_is_explained_by_its_interval(model):
    why = Interview(model, "weight").explain()
    assert f"the 90% interval of weight from {why.now:.4g} to {why.after:.4g} wide" in str(why)
    assert why.after < why.now


def test_the_last_question_has_no_runner_up(interview):
    for name in list(ANSWERS)[:-1]:
        interview.tell(name, ANSWERS[name])
    assert str(interview.explain()).endswith("Nothing else is left to ask.")


def test_another_strategys_choice_is_explained_in_nats_with_its_own_runner_up(model):
    fixed = Interview(model, "stage", strategy=FixedOrder(("colour", "town")))
    why = fixed.explain()
    assert (why.question.name, why.runner_up[0]) == ("colour", "town")
    assert why.nats == fixed.rewards()["colour"]


@pytest.mark.parametrize("n_answers", [0, 1, 4, 7])
def test_a_record_resumes_to_the_same_questions_and_predictions(model, interview, n_answers):
    order = play(interview)
    short = Interview(model, "stage")
    for name in order[:n_answers]:
        short.tell(name, ANSWERS[name])
    document = json.loads(json.dumps(short.record.to_document()))
    resumed = Interview(model, record=Record.from_document(document))
    assert resumed.record == short.record
    assert facts(resumed) == facts(short)
    assert play(resumed) == order[n_answers:]


def test_resuming_keeps_silences_and_parts(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("town", DECLINED)
    interview.tell("body", {"age": 61})
    resumed = Interview(body_model, record=interview.record)
    assert resumed.record == interview.record
    assert facts(resumed) == facts(interview)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer("mood", {"mood": 1}), "there is no question 'mood'. Questions are: 'age', 'visits'"),
        (Answer("age", {"weight": 80}), "'age' reveals age, not 'weight'"),
        (Answer("age", {}, {"weight": UNKNOWN}), "'age' reveals age, not 'weight'"),
        (Answer("smoker", {"smoker": "often"}), "'smoker' must be one of no, yes, got 'often'"),
        (Answer("age", {"age": [1]}), "'age' must be a number"),
        (Answer("stage", {"stage": "late"}), "'stage' tells what this interview wants to know"),
    ],
)
def test_a_record_that_does_not_fit_the_model_is_refused(model, answer, words):
    with pytest.raises(AnswerError, match=words):
        Interview(model, record=Record(("stage",), (answer,)))


def test_a_record_of_a_question_told_twice_is_refused(model):
    twice = Record(("stage",), (Answer("age", {"age": 1}), Answer("age", {"age": 2})))
    with pytest.raises(AnswerError, match="'age' was answered already"):
        Interview(model, record=twice)


def test_a_record_about_another_target_is_refused(model):
    with pytest.raises(TargetError, match="an interview about stage, not about weight"):
        Interview(model, "weight", record=Record(("stage",)))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (("mood", 1), "there is no question 'mood'. Questions are: 'age'"),
        (("age", "old"), "'age' must be a number, got 'old'. Use eddi.UNKNOWN or eddi.DECLINED"),
        (("age", float("nan")), "'age' must be a number, got nan"),
        (("age", None), "'age' must be a number, got None"),
        (("visits", 2.5), "'visits' must be a whole number from 0 up, got 2.5"),
        (("visits", -1), "'visits' must be a whole number from 0 up, got -1"),
        (("smoker", "often"), "'smoker' must be one of no, yes, got 'often'"),
        (("smoker", "unknown"), "'smoker' must be one of no, yes, got 'unknown'"),
        (("age",), r"'age' takes 1 value\(s\) \(age\), got 0"),
        (("age", 1, 2), r"'age' takes 1 value\(s\) \(age\), got 2"),
        (("age", {"weight": 80}), "'age' reveals age, not 'weight'"),
        (("stage", "late"), "'stage' tells what this interview wants to know, and cannot be told"),
        (("pain", "mild"), "'pain' was answered already. Undo that answer to change it"),
    ],
)
def test_a_wrong_answer_is_refused_and_nothing_is_lost(interview, told, words):
    interview.tell("pain", "mild")
    before = interview.record
    with pytest.raises(AnswerError, match=words):
        interview.tell(*told)
    assert interview.record is before


def test_an_answer_out_of_range_is_refused_and_nothing_is_lost(worded, people_schema):
    aged = people_schema.with_variable(Variable("age", "real", low=0, high=120))
    interview = Interview(worded(aged), "stage")
    with pytest.raises(AnswerError, match=r"'age' must be between 0 and 120, got 450. Widen the range"):
        interview.tell("age", 450)
    assert interview.record.answers == ()


def test_a_part_that_does_not_fit_refuses_the_whole_answer(body_model):
    interview = Interview(body_model, "stage")
    with pytest.raises(AnswerError, match="'weight' must be a number"):
        interview.tell("body", {"age": 61, "weight": "heavy"})
    assert interview.record.answers == ()


def test_a_variable_told_within_a_question_is_not_told_again(body_model):
    interview = Interview(body_model, "stage")
    interview.tell("body", 61, 80)
    with pytest.raises(AnswerError, match="'age' was answered already"):
        interview.tell("age", 62)


def test_a_question_that_would_tell_the_target_is_neither_asked_nor_told(body_model):
    interview = Interview(body_model, "weight")
    assert "body" not in interview.rewards()
    with pytest.raises(AnswerError, match="'body' tells what this interview wants to know"):
        interview.tell("body", 61, 80)
    interview.tell("age", 61)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mood", "the target 'mood' is not a variable of this schema. Variables are: 'age'"),
        ("name", r"the target 'name' is set aside and not modelled \(every value is different\)"),
        (["stage", "mood"], "the target 'mood' is not a variable"),
        ((), "an interview needs a target: name what you want to know"),
        (None, "an interview needs a target"),
    ],
)
def test_a_target_the_model_does_not_have_is_refused(model, target, words):
    with pytest.raises(TargetError, match=words):
        Interview(model, target)


def test_the_models_own_target_is_the_interviews(people_model):
    assert Interview(people_model(target="stage")).target == ("stage",)


def test_several_targets_are_followed_at_once(model):
    interview = Interview(model, ["stage", "weight"])
    assert {"stage", "weight"}.isdisjoint(interview.rewards())
    assert interview.predict().variable.name == "stage"
    assert interview.predict("weight").variable.name == "weight"
    with pytest.raises(AnswerError, match="'weight' tells what this interview wants"):
        interview.tell("weight", 80)
    assert interview.explain().target == "stage"
    assert not set(play(interview)) & {"stage", "weight"}


def test_predicting_what_the_model_lacks_is_refused(interview):
    with pytest.raises(TargetError, match="the target 'mood' is not a variable"):
        interview.predict("mood")


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize(("name", "value"), [("weight", 1e5), ("weight", 3e30), ("visits", 10**9)])
def test_an_answer_far_beyond_all_rows_does_not_end_the_interview(people_model, recipe, name, value):
    interview = Interview(people_model(recipe=recipe), "stage")
    interview.tell(name, value)
    assert interview.ask() is not None
    assert not any(np.isnan(list(interview.rewards().values())))


def test_a_whole_number_too_large_for_any_float_is_refused(model):
    with pytest.raises(AnswerError, match="must be a number"):
        Interview(model, "stage").tell("weight", 10**400)
