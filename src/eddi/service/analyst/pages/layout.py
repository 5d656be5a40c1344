"""What all pages of the analyst share: who may see them, how they look, and what they say of errors."""

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
from eddi.service.web.form_tokens import FormTokens
from eddi.service.web.rendering import Renderer

MAX_FIELDS = 30_000  # boxes of the largest grid
OPEN = ("/analyst/sign-in", "/analyst/sign-out")  # to whoever has not signed in yet
OWN_ADDRESS = re.compile(r"/analyst[A-Za-z0-9/_.?=&%-]*")
HEADINGS = {
    403: "Please try that once more",
    404: "There is nothing here",
    409: "That cannot be done now",
    413: "That is too large",
    422: "That does not fit",
    503: "We are very busy just now",
}


async def sent(request: Request) -> dict[str, str]:
    """The fields of a form; files and repeated fields are none of ours."""
    async with request.form(max_files=0, max_fields=MAX_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(sent)]


class Frame:
    """Signs forms, lets analysts in, and puts facts into pages."""

    def __init__(self, settings: Settings, sign_in: SignIn) -> None:
        self.forms = FormTokens(settings)
        self.sign_in = sign_in
        self.renderer = Renderer()

    def page(
        self, request: Request, template: str, facts: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        """A page with its forms signed."""
        session_id = self.forms.session_id(request)
        signed = {
            "here": "",
            "name": "Workshop",
            "error": "",
            "outside": False,
            "key": "",
            "can_leave": self.sign_in.is_needed,
            **facts,
            "csrf": self.forms.token(session_id),
        }
        response = self.renderer.render(f"analyst/{template}", signed, status=status)
        self.forms.set_session_cookie(request, response, session_id)
        return response

    def route_class(self) -> type[APIRoute]:
        """Routes for analysts only, which answer with a page when something goes wrong."""
        frame = self

        class AnalystRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handled(request: Request) -> Response:
                    try:
                        if request.url.path not in OPEN:
                            await run_in_threadpool(frame.sign_in.admit, request)
                        return await handle(request)
                    except NotSignedInError:
                        back = quote(request.url.path) if request.method == "GET" else "/analyst"
                        return see(f"/analyst/sign-in?next={back}")
                    except EddiError as error:
                        return frame.trouble(request, error)

                return handled

        return AnalystRoute

    def trouble(self, request: Request, error: EddiError) -> HTMLResponse:
        """A page that says what went wrong, in the error's own words: analysts can act on them."""
        status = error.status
        if status == 500:
            raise error  # the guard logs it
        facts = {"heading": HEADINGS.get(status, "That did not work"), "words": sentence(str(error))}
        return self.page(request, "trouble.html", facts, status=status)


def see(address: str) -> RedirectResponse:
    """Go on with a page of its own, so that loading it again sends nothing twice."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def own_address(text: str) -> str:
    """An address among the analyst's pages, or their first one."""
    return text if OWN_ADDRESS.fullmatch(text) else "/analyst"


def sentence(words: str) -> str:
    """Words of an error as a sentence of a page."""
    return words[:1].upper() + words[1:]
