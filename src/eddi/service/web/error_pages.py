"""What a respondent reads when something went wrong."""

from dataclasses import dataclass
from functools import cache

from eddi.errors import AnswerError, EddiError
from eddi.service.analyst.models.publishing import QuestionnaireNotFoundError
from eddi.service.interviews.interview_service import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.questionnaire import NothingPublishedError
from eddi.service.web import page_context, problem_details
from eddi.service.web.form_tokens import ForeignFormError
from eddi.service.web.rendering import Rendering


@dataclass(frozen=True)
class Apology:
    """What happened, what it means, and whether the interview can be gone on with."""

    status: int
    heading: str
    words: str
    goes_on: bool = True


NOT_FOUND = Apology(
    404,
    "There is no interview at this link",
    "The link may be incomplete, or the answers behind it were forgotten.",
    goes_on=False,
)
OVER = Apology(
    410,
    "This interview has ended",
    "The questions have changed since you began, and those you began with are gone.",
    goes_on=False,
)
MOVED = Apology(
    409,
    "This page was out of date",
    "Something changed since it was shown, perhaps in another tab. Nothing is lost.",
)
FOREIGN = Apology(
    403,
    "Please try that once more",
    "The form was too old, or this browser keeps no cookies, so that we cannot be sure that it came "
    "from you. Your answers so far are safe.",
)
UNFIT = Apology(
    422,
    "That answer does not fit",
    "It was not kept. Your other answers are safe.",
)
NOTHING_YET = Apology(
    404,
    "There is nothing to answer here yet",
    "No questionnaire is published. An analyst trains a model from a table, and publishes it.",
    goes_on=False,
)
NO_SUCH = Apology(
    404,
    "There is no questionnaire of this name",
    "The link may be incomplete, or it goes by another name now.",
    goes_on=False,
)
BUSY = Apology(
    503,
    "We are very busy just now",
    "Wait a moment, then try again. Your answers so far are safe.",
)
REFUSED = Apology(
    400,
    "That could not be understood",
    "The browser sent something this server does not take. Go back, and try once more.",
)
REFUSALS = {
    404: Apology(
        404,
        "There is no page here",
        "The address may be mistyped, or the page may have moved.",
    ),
    405: Apology(
        405,
        "This page cannot be reached that way",
        "It was perhaps loaded again after a form was sent. Nothing was changed.",
    ),
    413: Apology(
        413,
        "That was too much at once",
        "What was sent is larger than this server takes. Nothing was kept of it.",
    ),
    421: Apology(
        421,
        "This server goes by another name",
        "It does not answer at this address. Use the link that you were given; whoever runs the server "
        "can let it answer to this name (EDDI_HOSTS).",
    ),
    429: Apology(
        429,
        "That was a little fast",
        "Very many requests came from your address. Wait a moment, then load the page again. Your "
        "answers so far are safe.",
    ),
    500: Apology(
        500,
        "Something went wrong on our side",
        "It has been noted. What you just sent may not have been kept; your earlier answers are safe.",
    ),
    503: BUSY,
}
APOLOGIES: dict[type[EddiError], Apology] = {
    NothingPublishedError: NOTHING_YET,
    QuestionnaireNotFoundError: NO_SUCH,
    InterviewNotFoundError: NOT_FOUND,
    QuestionnaireMissingError: OVER,
    InterviewMovedError: MOVED,
    InterviewConflictError: MOVED,
    ForeignFormError: FOREIGN,
    AnswerError: UNFIT,
}


def apology(error: EddiError) -> Apology | None:
    """What to say about ``error``; None where it is a fault of ours, to be logged."""
    for kind, words in APOLOGIES.items():
        if isinstance(error, kind):
            return words
    return {404: NOT_FOUND, 503: BUSY}.get(problem_details.status_of(error))


def refusal(status: int, request_id: str) -> bytes:
    """The page for a browser whose request was answered with a problem of this status."""
    found = REFUSALS.get(status, REFUSED)
    number = [f"If you write to us about it, give this number: {request_id}."] if status >= 500 else []
    facts = page_context.message(found.heading, [found.words, *number], where="/", way="Go to the start")
    return bytes(_rendering().page("message.html", facts).body)


@cache
def _rendering() -> Rendering:
    return Rendering()
