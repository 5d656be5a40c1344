"""The common frame of the analyst's pages: access control, rendering, and error pages."""

import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from eddi.errors import EddiError
from eddi.service.analyst.sign_in import NotSignedInError, SignIn
from eddi.service.settings import Settings
from eddi.service.web import form_tokens, problem_details, wording
from eddi.service.web.form_tokens import Forms
from eddi.service.web.rendering import Rendering

MAX_FIELDS = 30_000  # of the largest form, the schema of a wide table
PUBLIC_PATHS = ("/analyst/sign-in", "/analyst/sign-out")
ANALYST_URL = re.compile(r"/analyst[A-Za-z0-9/_.?=&%-]*")
HEADINGS = {
    403: "Please try that once more",
    404: "There is nothing here",
    409: "That cannot be done now",
    413: "That is too large",
    422: "That does not fit",
    503: "We are very busy just now",
}


async def read_form(request: Request) -> dict[str, str]:
    """The text fields of a form; files are ignored, and of repeated fields the last one counts."""
    async with request.form(max_files=0, max_fields=MAX_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(read_form)]


class Layout:
    """Renders the analyst's pages with signed forms, and restricts them to analysts."""

    def __init__(self, settings: Settings, sign_in: SignIn) -> None:
        self.forms = Forms(settings)
        self.sign_in = sign_in
        self.rendering = Rendering()

    def page(
        self, request: Request, template: str, context: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """A page whose forms contain a token against cross-site requests."""
        seed = self.forms.seed(request)
        complete = {
            "section": "",
            "name": "Workshop",
            "error": "",
            "has_navigation": True,
            "can_sign_out": self.sign_in.is_needed,
            **context,
            "csrf": self.forms.token(seed),
        }
        response = self.rendering.page(f"analyst/{template}", complete, status=status)
        form_tokens.keep(request, response, form_tokens.SEED_COOKIE, seed)
        return response

    def route_class(self) -> type[APIRoute]:
        """Routes for analysts only, which show errors as pages."""
        layout = self

        class AnalystRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handle_as_analyst(request: Request) -> Response:
                    try:
                        if request.url.path not in PUBLIC_PATHS:
                            await run_in_threadpool(layout.sign_in.check, request)
                        return await handle(request)
                    except NotSignedInError:
                        next_url = quote(request.url.path) if request.method == "GET" else "/analyst"
                        return redirect(f"/analyst/sign-in?next={next_url}")
                    except EddiError as error:
                        return layout.error_page(request, error)

                return handle_as_analyst

        return AnalystRoute

    def error_page(self, request: Request, error: EddiError) -> HTMLResponse:
        """A page with the error's own message, which tells analysts what to do."""
        status = problem_details.status_of(error)
        if status == 500:
            raise error  # the middleware logs it
        heading = HEADINGS.get(status, error.title)
        context = {"title": heading, "message": wording.sentence(str(error))}
        return self.page(request, "error.html", context, status=status)


def redirect(address: str) -> RedirectResponse:
    """A redirect to a page of its own, so that reloading it does not send a form again."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def check_next_url(text: str) -> str:
    """An address among the analyst's pages; the first page if ``text`` is anything else."""
    return text if ANALYST_URL.fullmatch(text) else "/analyst"
