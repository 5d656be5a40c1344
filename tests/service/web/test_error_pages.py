"""What a respondent reads when something went wrong."""

import pytest

from eddi.errors import AnswerError, SchemaError
from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.interview_service import (
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.web.error_pages import apology
from eddi.service.web.form_tokens import ForeignFormError
from eddi.store.base import StoreBusyError, StreamForgottenError


@pytest.mark.parametrize(
    ("error", "status", "goes_on"),
    [
        (InterviewNotFoundError, 404, False),
        (StreamForgottenError, 404, False),
        (QuestionnaireMissingError, 410, False),
        (InterviewMovedError, 409, True),
        (ForeignFormError, 403, True),
        (AnswerError, 422, True),
        (BusyError, 503, True),
        (StoreBusyError, 503, True),
    ],
)
def test_each_trouble_has_its_words_and_a_way_on(error, status, goes_on):
    found = apology(error("inner words"))
    assert (found.status, found.goes_on) == (status, goes_on)
    assert "inner words" not in found.words


def test_a_fault_of_ours_is_not_talked_away():
    assert apology(SchemaError("a table of ours is wrong")) is None
