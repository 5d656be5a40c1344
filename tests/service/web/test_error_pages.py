"""Error pages for respondents explain what happened without the message of the error."""

import pytest

from eddi.errors import AnswerError, SchemaError
from eddi.service.analyst.models.publishing import QuestionnaireNotFoundError
from eddi.service.errors import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.questionnaire import NothingPublishedError
from eddi.service.web.error_pages import find_error_page
from eddi.service.web.form_tokens import ForeignFormError
from eddi.store.base import StoreBusyError, StoreUnreachableError, StreamForgottenError


@pytest.mark.parametrize(
    ("error", "status", "title", "can_continue"),
    [
        (InterviewNotFoundError, 404, "There is no interview at this link", False),
        (StreamForgottenError, 404, "There is no interview at this link", False),
        (NothingPublishedError, 404, "There is nothing to answer here yet", False),
        (QuestionnaireNotFoundError, 404, "There is no questionnaire of this name", False),
        (QuestionnaireMissingError, 410, "This interview has ended", False),
        (InterviewMovedError, 409, "This page was out of date", True),
        (InterviewConflictError, 409, "This page was out of date", True),
        (ForeignFormError, 403, "Please try that once more", True),
        (AnswerError, 422, "That answer does not fit", True),
        (BusyError, 503, "We are very busy just now", True),
        (StoreBusyError, 503, "We are very busy just now", True),
        (StoreUnreachableError, 503, "We are very busy just now", True),
    ],
)
def test_each_error_has_a_page(error, status, title, can_continue):
    page = find_error_page(error("message for programs"))
    assert (page.status, page.title, page.can_continue) == (status, title, can_continue)
    assert page.explanation
    assert "message for programs" not in page.explanation


def test_an_error_that_is_not_the_respondents_concern_has_no_page():
    assert find_error_page(SchemaError("a schema is wrong")) is None
