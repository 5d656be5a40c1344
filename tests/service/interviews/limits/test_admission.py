"""Interviews begin within the limits of a questionnaire's settings."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from eddi.service.interviews.limits.admission import Admission
from eddi.service.interviews.limits.invitations import InvitationCountError, InvitationError
from eddi.service.interviews.questionnaire import QuestionnaireClosedError
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.store.memory import MemoryStore


@pytest.fixture
def admission():
    return Admission(MemoryStore())


@pytest.fixture
def with_settings(questionnaire):
    return lambda **settings: replace(questionnaire, settings=QuestionnaireSettings(**settings))


def test_nothing_limits_a_questionnaire_by_default(admission, questionnaire):
    admission.check(questionnaire)
    admission.admit(questionnaire)
    assert list(admission.store.streams()) == []


def test_interviews_begin_until_the_closing_date(admission, with_settings):
    today = datetime.now(UTC).date()
    admission.admit(with_settings(closes_on=f"{today}"))
    with pytest.raises(QuestionnaireClosedError, match="closed on"):
        admission.admit(with_settings(closes_on=f"{today - timedelta(days=1)}"))


def test_the_last_place_is_taken_once_also_by_two_servers(admission, with_settings):
    limited, other_server = with_settings(max_respondents=2), Admission(admission.store)
    admission.admit(limited)
    other_server.admit(limited)
    for server in (admission, other_server):
        with pytest.raises(QuestionnaireClosedError, match="has all of its 2 respondents"):
            server.admit(limited)


def test_an_invitation_is_used_once(admission, with_settings):
    invited = with_settings(needs_invitation=True)
    tokens = admission.invitations.issue("people", 2)
    admission.check(invited, invitation=tokens[0])
    admission.admit(invited, invitation=tokens[0], request="a")
    admission.admit(invited, invitation=tokens[0], request="a")  # the same form again
    with pytest.raises(InvitationError):
        admission.admit(invited, invitation=tokens[0], request="b")
    with pytest.raises(InvitationError):
        admission.check(invited, invitation=tokens[0])
    assert vars(admission.invitations.count("people")) == {"issued": 2, "used": 1}


@pytest.mark.parametrize("token", ["", "x" * 22, "x" * 5000])
def test_an_unknown_invitation_is_refused(admission, with_settings, token):
    with pytest.raises(InvitationError):
        admission.admit(with_settings(needs_invitation=True), invitation=token)


def test_an_invitation_is_not_used_by_a_questionnaire_that_is_closed(admission, with_settings):
    (token,) = admission.invitations.issue("people", 1)
    with pytest.raises(QuestionnaireClosedError):
        admission.admit(with_settings(needs_invitation=True, closes_on="2020-01-01"), invitation=token)
    admission.check(with_settings(needs_invitation=True), invitation=token)


def test_the_store_does_not_contain_the_tokens(admission):
    (token,) = admission.invitations.issue("people", 1)
    assert token not in str(admission.store.read("invitations/people"))


@pytest.mark.parametrize("count", [0, 1001])
def test_the_number_of_invitations_is_limited(admission, count):
    with pytest.raises(InvitationCountError, match="must be between 1 and 1,000"):
        admission.invitations.issue("people", count)
