"""What a respondent reads when something went wrong."""

from dataclasses import dataclass

from eddi.errors import AnswerError, EddiError
from eddi.service import problem
from eddi.service.desk import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.forms import ForeignFormError


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
BUSY = Apology(
    503,
    "We are very busy just now",
    "Wait a moment, then try again. Your answers so far are safe.",
)
APOLOGIES: dict[type[EddiError], Apology] = {
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
    return {404: NOT_FOUND, 503: BUSY}.get(problem.status_of(error))
