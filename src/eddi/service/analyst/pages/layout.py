"""The common frame of the analyst's pages: access control, rendering, and error pages."""

import re
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from eddi.errors import EddiError
from eddi.service.analyst.accounts.sign_in import SCOPE_HOLDER, NotSignedInError, SignIn
from eddi.service.errors import N_
from eddi.service.settings import Settings
from eddi.service.web.form_tokens import FormTokens
from eddi.service.web.formatting import capitalize
from eddi.service.web.languages.choice import choose_language, remember_language, switch_links
from eddi.service.web.languages.current import current_language, gettext, use_language
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.languages.messages import translate_message
from eddi.service.web.page_context import design
from eddi.service.web.problem_details import get_request_id, public_text
from eddi.service.web.rendering import Renderer

MAX_FIELDS = 30_000  # of the largest form, the schema of a wide table
PUBLIC_PATHS = ("/analyst/sign-in", "/analyst/sign-out")
# Titles of errors of the library, which has no catalogue.
ERROR_TITLES = (
    N_("This table cannot be used"),
    N_("This schema is not valid"),
    N_("This target cannot be used"),
    N_("This was forgotten"),
    N_("We are very busy just now"),
    N_("This server cannot save answers just now"),
)
ANALYST_URL = re.compile(r"/analyst[A-Za-z0-9/_.?=&%-]*")


async def read_form(request: Request) -> dict[str, str]:
    """The text fields of a form; files are ignored, and of repeated fields the last one counts."""
    async with request.form(max_files=0, max_fields=MAX_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(read_form)]

MAX_VERSION_DIGITS = 8


def read_version(form: Mapping[str, str]) -> int | None:
    """Return the version that a form was shown for, which a change must follow; None if it names none."""
    text = form.get("after", "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_VERSION_DIGITS
    return int(text) if is_number else None


class Layout:
    """Renders the analyst's pages with signed forms, and restricts them to analysts."""

    def __init__(self, settings: Settings, sign_in: SignIn) -> None:
        self.forms = FormTokens(settings)
        self.sign_in = sign_in
        self.renderer = Renderer()

    def page(
        self, request: Request, template: str, context: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """A page whose forms contain a token against cross-site requests."""
        session_id, language = self.forms.session_id(request), current_language()
        complete = {
            **design(None),
            "section": "",
            "name": gettext("Workshop"),
            "languages": switch_links(request, tuple(LANGUAGES), current=language.code, page="/analyst"),
            "error": "",
            "has_navigation": True,
            "can_sign_out": self.sign_in.is_needed,
            "holder": request.scope.get(SCOPE_HOLDER, ""),
            **context,
            "csrf": self.forms.token(session_id),
        }
        response = self.renderer.render(
            f"analyst/{template}", complete, status=status, language=language
        )
        self.forms.set_session_cookie(request, response, session_id)
        return response

    def route_class(self) -> type[APIRoute]:
        """Routes for analysts only, which show errors as pages."""
        layout = self

        class AnalystRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handle_as_analyst(request: Request) -> Response:
                    with use_language(LANGUAGES[choose_language(request)]):
                        response = await layout.respond(request, handle)
                    remember_language(request, response)
                    return response

                return handle_as_analyst

        return AnalystRoute

    async def respond(
        self, request: Request, handle: Callable[[Request], Coroutine[Any, Any, Response]]
    ) -> Response:
        """The response to a request of an analyst, or the page that explains why there is none."""
        try:
            if request.url.path not in PUBLIC_PATHS:
                await run_in_threadpool(self.sign_in.check, request)
            return await handle(request)
        except NotSignedInError:
            next_url = quote(request.url.path) if request.method == "GET" else "/analyst"
            return redirect(f"/analyst/sign-in?next={next_url}")
        except EddiError as error:
            return self.error_page(request, error)

    def error_page(self, request: Request, error: EddiError) -> HTMLResponse:
        """A page with the error's own message, which tells analysts what to do."""
        if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
            raise error  # the middleware logs it
        message = translate_message(public_text(error, get_request_id(request)))
        context = {"title": gettext(error.title), "message": capitalize(message)}
        return self.page(request, "error.html", context, status=error.status)


def redirect(address: str) -> RedirectResponse:
    """A redirect to a page of its own, so that reloading it does not send a form again."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def check_next_url(text: str) -> str:
    """An address among the analyst's pages; the first page if ``text`` is anything else."""
    return text if ANALYST_URL.fullmatch(text) else "/analyst"
