"""Error pages for respondents.

The title and the explanation of an error belong to its class (`eddi.service.errors.RespondentError`).
Responses without such an error, for example to an unknown address, are explained by their HTTP status.
"""

from dataclasses import dataclass
from http import HTTPStatus

from eddi.errors import AnswerError, EddiError
from eddi.service.errors import N_, InterviewNotFoundError, RespondentError
from eddi.service.interviews.batcher import BusyError
from eddi.service.web import page_context
from eddi.service.web.formatting import format_bytes
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.rendering import Renderer

ANSWER_TITLES = (N_("That answer does not fit"), N_("Please check this value"))  # of `AnswerError`
FINAL_STATUSES = (404, 410)  # the interview cannot be continued


@dataclass(frozen=True)
class ErrorPage:
    """The content of an error page: what happened, and what it means."""

    status: int
    title: str
    explanation: str

    @classmethod
    def from_error(cls, error: type[RespondentError] | RespondentError) -> "ErrorPage":
        """Return the page of an error that respondents may see."""
        return cls(error.page_status or error.status, error.title, error.explanation)

    @property
    def can_continue(self) -> bool:
        """Whether the interview can be continued."""
        return self.status not in FINAL_STATUSES


FALLBACK_PAGES = {  # by HTTP status, for errors of the store
    404: ErrorPage.from_error(InterviewNotFoundError),
    503: ErrorPage.from_error(BusyError),
    507: ErrorPage(
        507,
        N_("This server has no space left"),
        N_(
            "What you just sent was not saved; your earlier answers are safe. Try again later. The operator "
            "of the server has to free space."
        ),
    ),
}
STATUS_PAGES = {
    page.status: page
    for page in (
        ErrorPage(
            404,
            N_("There is no page here"),
            N_("The address may be mistyped, or the page may have moved."),
        ),
        ErrorPage(
            405,
            N_("This page cannot be reached that way"),
            N_("Perhaps it was loaded again after a form was sent. Nothing was changed."),
        ),
        ErrorPage(
            413,
            N_("That was too much at once"),
            N_("The request is larger than this server accepts. Nothing of it was saved."),
        ),
        ErrorPage(
            421,
            N_("This server goes by another name"),
            N_(
                "It does not respond at this address. Use the link that you were given. The operator of the "
                "server can add this name (EDDI_HOSTS)."
            ),
        ),
        ErrorPage(
            429,
            N_("That was a little fast"),
            N_(
                "Very many requests came from your address. Wait a moment, then load the page again. Your "
                "answers so far are safe."
            ),
        ),
        ErrorPage(
            500,
            N_("Something went wrong on our side"),
            N_(
                "The error has been recorded. What you just sent may not have been saved; your earlier "
                "answers are safe."
            ),
        ),
        FALLBACK_PAGES[503],
        FALLBACK_PAGES[507],
    )
}
BAD_REQUEST = ErrorPage(
    400,
    N_("That could not be understood"),
    N_("The browser sent something that this server does not accept. Go back and try again."),
)


def find_error_page(error: EddiError) -> ErrorPage | None:
    """Return the page that explains ``error``; None if it is not the respondent's concern."""
    if isinstance(error, RespondentError):
        return ErrorPage.from_error(error)
    if isinstance(error, AnswerError):
        explanation = N_("It was not saved. Your other answers are safe.")
        return ErrorPage(error.status, error.title, explanation)
    return FALLBACK_PAGES.get(error.status)


def render_status_page(
    renderer: Renderer,
    status: int,
    request_id: str,
    *,
    upload_limit: int | None = None,
    language: Language = ENGLISH,
) -> bytes:
    """Return the page for a browser whose request failed with this HTTP status.

    Args:
        renderer: renders the page.
        status: of the response.
        request_id: names the request in the log.
        upload_limit: maximum size of a table in bytes, if the request uploads one.
        language: of the respondent.
    """
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and upload_limit is not None:
        return _render_upload_page(renderer, upload_limit, language)
    page = STATUS_PAGES.get(status, BAD_REQUEST)
    paragraphs = [language.gettext(page.explanation)]
    if status >= 500:
        paragraphs.append(
            language.gettext(
                "If you contact us about this error, please include this number: %(number)s.",
                number=request_id,
            )
        )
    context = page_context.message_page(page.title, paragraphs, language=language)
    return bytes(renderer.render("message.html", context, language=language).body)


def _render_upload_page(renderer: Renderer, limit: int, language: Language) -> bytes:
    """Return the page for a table that is too large."""
    paragraphs = [
        language.gettext(
            "This server accepts tables of up to %(size)s. Nothing of the file was saved.",
            size=language.localize(format_bytes(limit)),
        ),
        language.gettext(
            "A Parquet file is often ten times smaller than a CSV file. You can also upload fewer rows or "
            "columns. The operator of the server can raise the limit (EDDI_MAX_UPLOAD)."
        ),
    ]
    link = ("/analyst/tables", N_("Choose another file"))
    context = page_context.message_page(
        N_("The file is too large"), paragraphs, link=link, language=language
    )
    return bytes(renderer.render("message.html", context, language=language).body)
