"""A page has the constraints on the choice of questions, and how often each was asked."""

import pytest

from eddi.service.analyst.questionnaires.selection_page import parse_selection, share_rows
from eddi.service.interviews.questionnaire_settings import (
    QuestionnaireSettings,
    QuestionnaireSettingsError,
)
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.section import Section
from eddi.table.variable import Kind, Variable

SCHEMA = Schema(
    (Variable("a", Kind.REAL), Variable("b", Kind.REAL)),
    (Question("a", ("a",), section="mind"), Question("b", ("b",), section="body")),
    sections=(Section("mind", share=0.25),),
)


@pytest.fixture
def page(publish):
    """The address of the page of a questionnaire."""
    return f"{publish('selective')}/selection"


def test_constraints_are_saved(managed_site, managed, fill_in, page):
    saved = fill_in(page, max_exposure="40", n_best="3")
    assert "Saved." in saved.text
    settings = managed.publisher.get("selective").settings
    assert (settings.max_exposure, settings.n_best) == (0.4, 3)
    assert 'name="max_exposure" value="40"' in managed_site.get(page).text


def test_a_value_that_is_not_valid_is_shown_again_with_the_reason(fill_in, page):
    refused = fill_in(page, max_exposure="much")
    assert refused.status_code == 422
    assert "A share is a number from 0 to 100 percent, got “much”." in refused.text
    assert 'value="much"' in refused.text


def test_an_outdated_form_changes_nothing(fill_in, page):
    refused = fill_in(page, max_exposure="40", after="0")
    assert refused.status_code == 422
    assert "somebody else changed this questionnaire" in refused.text.lower()


def test_the_page_shows_how_often_each_question_was_asked(managed_site, fill_in, page):
    fill_in(page, max_exposure="50")
    begun = managed_site.post("/interviews", json={"questionnaire": "selective"}).json()
    answer = {"question": begun["question"]["name"], "values": None}
    managed_site.post(f"/interviews/{begun['id']}/answers", json=answer)
    shown = managed_site.get(page).text
    assert "Respondents since the limit was set: 1" in shown
    assert "100%" in shown


def test_shares_are_read_in_percent_by_section():
    form = {"share-0": "62,5", "share-1": " 30 % "}
    previous = QuestionnaireSettings(section_shares={"of another model": 0.05, "mind": 0.9})
    shares = parse_selection(form, SCHEMA, previous).section_shares
    assert shares == {"of another model": 0.05, "mind": 0.625, "body": 0.3}


def test_shares_of_the_schema_are_suggested():
    rows = share_rows(SCHEMA, QuestionnaireSettings(section_shares={"body": 0.5}), {})
    assert [(row.name, row.text, row.placeholder) for row in rows] == [
        ("mind", "", "25"),
        ("body", "50", ""),
    ]


@pytest.mark.parametrize("text", ["0.5", "-1", "1e3", "101", "nine"])
def test_the_number_of_best_questions_is_a_whole_number(text):
    with pytest.raises(QuestionnaireSettingsError, match="whole number from 1 to 100"):
        parse_selection({"n_best": text}, SCHEMA, QuestionnaireSettings())
