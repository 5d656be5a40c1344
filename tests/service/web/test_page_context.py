"""The context of the pages describes the question that is shown."""

from datetime import date

import pytest

from eddi import DECLINED, Interview, Stop
from eddi.interview.record import Answer
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.web import page_context, wording
from eddi.service.web.formatting import format_level
from eddi.service.web.respondent.interview_pages import _next_question
from eddi.service.web.respondent.result_context import result_page


@pytest.fixture
def make_view(questionnaire):
    def make(interview=None):
        interview = interview or questionnaire.interview()
        return InterviewView("key", 1, questionnaire, interview, interview.next_step())

    return make


def test_a_deferred_question_waits_until_no_other_is_left(make_view):
    view = make_view()
    first = view.question
    second = _next_question(view, {first.name})
    assert second.name != first.name
    all_questions = {question.name for question in view.interview.model.schema.questions}
    assert _next_question(view, all_questions) == first
    assert _next_question(view, set()) == first


def test_a_deferred_question_is_asked_before_the_end(make_view, model):
    view = make_view(Interview(model, "stage", stop=Stop(after=0)))
    assert _next_question(view, set()) is None
    assert _next_question(view, {"age"}).name == "age"


def test_the_why_page_explains_the_question_that_is_shown(make_view):
    view = make_view()
    second = _next_question(view, {view.question.name})
    context = page_context.why_page(view, second)
    [main] = [bar for bar in context["alternatives"] if bar.is_main]
    assert main.label == second.text
    assert context["sentences"][0] == "Your answer is expected to tell us more about stage."


def test_the_worst_question_is_compared_with_the_best(make_view):
    view = make_view()
    worst = view.interview.model.schema.question(list(view.rewards)[-1])
    bars = page_context.why_page(view, worst)["alternatives"]
    assert len(bars) == page_context.MAX_ALTERNATIVES
    assert (bars[0].percent, bars[-1].is_main) == (100, True)


def test_effects_are_relative_to_the_largest_one(make_view, questionnaire):
    interview = questionnaire.interview()
    interview.tell("age", 70)
    interview.tell("pain", "worst")
    context = result_page(make_view(interview), is_over=False, today=date(2030, 5, 1))
    percents = [abs(effect.percent) for effect in context["effects"]]
    assert percents[0] == 50
    assert percents[1] <= 50


def test_the_effect_of_the_only_answer_is_the_change_of_the_shown_prediction(make_view, questionnaire):
    before, interview = questionnaire.interview().predict("stage"), questionnaire.interview()
    interview.tell("pain", "worst")
    after = interview.predict("stage")
    level = int(after.probabilities.argmax())
    context = result_page(make_view(interview), is_over=False, today=date(2030, 5, 1))
    change = float(after.probabilities[level] - before.probabilities[level])
    assert (
        f"the probability of “{format_level(after.variable.levels[level])}”" in context["effects_note"]
    )
    assert [effect.shift for effect in context["effects"]] == [wording.describe_shift(change, after)]


def test_a_variable_of_another_answer_is_not_asked_again(questionnaire):
    interview = questionnaire.interview()
    interview.tell("age", 70)
    interview.tell("town", DECLINED)
    age = interview.record.answers[0]
    assert page_context.variables_of_other_answers(interview, age) == set()
    town = interview.record.answers[1]
    assert page_context.variables_of_other_answers(interview, town) == {"age"}


def test_a_variable_that_was_answered_by_name_is_a_question(body_model):
    interview = Interview(body_model, "stage")
    answer = Answer("weight", {"weight": 70.0})
    assert page_context.find_question(interview, answer).reveals == ("weight",)
    assert page_context.find_question(interview, Answer("body", {})).reveals == ("age", "weight")
