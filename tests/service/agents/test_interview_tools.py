"""The tools of language models: an interview from begin to prediction."""

from dataclasses import replace

import pytest

from eddi.errors import OutOfRangeError
from eddi.service.agents.interview_tools import describe_step
from eddi.service.errors import InterviewNotFoundError
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings


@pytest.fixture
def key(tools):
    return tools.begin()["interview"]


def test_questionnaires_are_listed(tools):
    [listed] = tools.list_questionnaires()["questionnaires"]
    assert (listed["name"], listed["target"], listed["questions"]) == ("people", ["stage"], 7)


def test_an_interview_asks_what_the_library_asks(tools, questionnaire):
    step, interview = tools.begin("people"), questionnaire.interview()
    key = step["interview"]
    while step["question"] is not None:
        assert step["question"]["name"] == interview.ask().name
        interview.tell(interview.ask(), None)
        step = tools.tell(key, step["question"]["name"], None)
    assert interview.ask() is None


def test_ask_lists_the_open_questions_and_the_answers(tools, key):
    tools.tell(key, "town", "Bala")
    asked = tools.ask(key)
    assert [answer["question"] for answer in asked["answers"]] == ["town"]
    assert "town" not in asked["open"]
    assert asked["question"]["name"] == next(iter(asked["open"]))


def test_asking_changes_nothing(tools, key):
    assert tools.ask(key) == tools.ask(key)


def test_an_answer_changes_the_prediction(tools, key):
    before = tools.predict(key)
    tools.tell(key, "pain", "worst")
    after = tools.predict(key)
    assert (before["answers"], after["answers"]) == (0, 1)
    assert after["prediction"] != before["prediction"]


def test_an_answer_can_be_undone(tools, key):
    first = tools.ask(key)
    tools.tell(key, "pain", "worst")
    tools.undo(key)
    assert tools.ask(key) == first


def test_a_value_outside_its_range_must_be_confirmed(tools, key):
    with pytest.raises(OutOfRangeError, match="'age' should be between"):
        tools.tell(key, "age", 1e4)
    assert tools.tell(key, "age", 1e4, confirm=True)["question"]["name"] != "age"


def test_the_next_question_is_explained(tools, key):
    explained = tools.explain(key)
    assert explained["question"] == tools.ask(key)["question"]["name"]
    assert "bits of information about stage" in explained["explanation"]


def test_a_complete_interview_has_nothing_to_explain(tools, key):
    while (question := tools.ask(key)["question"]) is not None:
        tools.tell(key, question["name"], {"without": "declined"})
    assert tools.explain(key)["explanation"].startswith("The interview is over")


def test_an_unknown_interview_is_an_error(tools):
    with pytest.raises(InterviewNotFoundError, match="there is no such interview"):
        tools.ask("0" * 32)


def test_a_question_has_the_texts_of_the_settings(tools, questionnaire):
    name = questionnaire.interview().ask().name
    settings = QuestionnaireSettings(questions={name: "How is it? (Roughly.)"})
    changed = replace(questionnaire, settings=settings)
    step = describe_step(tools.service.next_step(changed, changed.interview()))
    assert (step["question"]["text"], step["question"]["note"]) == ("How is it?", "Roughly.")
