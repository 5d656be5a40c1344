"""Errors that respondents see as a page."""

from typing import ClassVar

from eddi.errors import EddiError


def N_(text: str) -> str:  # noqa: N802  # the usual name in programs that use gettext
    """Mark a text for the catalogue of translations, and return it unchanged."""
    return text


OUT_OF_DATE = N_("This page was out of date")
CHANGED_ELSEWHERE = N_("Something changed since it was shown, perhaps in another tab. Nothing is lost.")


class RespondentError(EddiError):
    """An error that ends a request of a respondent, who reads `title` and `explanation` on a page.

    The message of the exception itself is for programs and appears only in the API.

    Attributes:
        explanation: the text below the title: what happened, and what to do.
        page_status: HTTP status of the page where it differs from that of the API.
    """

    explanation: ClassVar[str]
    page_status: ClassVar[int | None] = None


class InterviewNotFoundError(RespondentError, LookupError):
    """The interview does not exist, or it was forgotten."""

    status = 404
    title = N_("There is no interview at this link")
    explanation = N_("The link may be incomplete, or the answers behind it were forgotten.")


class InterviewMovedError(RespondentError, RuntimeError):
    """Another request or browser tab changed the interview first."""

    status = 412
    page_status = 409
    title = OUT_OF_DATE
    explanation = CHANGED_ELSEWHERE


class InterviewConflictError(RespondentError, ValueError):
    """The request does not fit the present state of the interview."""

    status = 409
    title = OUT_OF_DATE
    explanation = CHANGED_ELSEWHERE


class QuestionnaireMissingError(RespondentError, LookupError):
    """The interview started with a model that this server does not have."""

    status = 409
    page_status = 410
    title = N_("This interview has ended")
    explanation = N_("The questions have changed since you began, and the earlier ones are gone.")
