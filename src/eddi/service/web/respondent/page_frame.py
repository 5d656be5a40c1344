"""What all pages of respondents share: rendering with signed forms, error pages, and embedding."""

import secrets
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from eddi.errors import EddiError
from eddi.service.errors import N_
from eddi.service.interviews.questionnaire import NothingPublishedError, Questionnaire
from eddi.service.settings import Settings
from eddi.service.web import page_context
from eddi.service.web.error_pages import find_error_page
from eddi.service.web.form_tokens import FormTokens
from eddi.service.web.languages.choice import choose_language, remember_language, switch_links
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.middleware.security_headers import content_security_policy
from eddi.service.web.rendering import Renderer

MAX_FORM_FIELDS = 400
IDEMPOTENCY_KEY_BYTES = 12  # random name of a form, by which a second submission is recognised
MAX_IDEMPOTENCY_KEY = 64  # characters


async def read_form(request: Request) -> dict[str, str]:
    """Return the text fields of a form; files and repeated fields are ignored."""
    async with request.form(max_files=0, max_fields=MAX_FORM_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(read_form)]


class PageFrame:
    """Renders the pages of respondents and responds to errors with a page."""

    def __init__(self, settings: Settings) -> None:
        self.tokens = FormTokens(settings)
        self.renderer = Renderer()

    def render(
        self,
        request: Request,
        template: str,
        context: Mapping[str, Any],
        *,
        questionnaire: Questionnaire | None = None,
        status: int = 200,
    ) -> HTMLResponse:
        """Return a page in the design and language of a questionnaire, which its sites may embed."""
        offered = questionnaire.settings.languages if questionnaire is not None else tuple(LANGUAGES)
        language = LANGUAGES[choose_language(request, offered)]
        session_id = self.tokens.session_id(request)
        key = context.get("key", "")
        design = page_context.design(questionnaire)
        page = f"/i/{key}" if key else design["home"]
        links = switch_links(request, offered, current=language.code, page=page)
        complete = {
            **design,
            "languages": links if questionnaire is not None else [],
            "private_link": f"{request.base_url}i/{key}" if key else "",
            **context,
            "csrf": self.tokens.token(session_id),
            "once": secrets.token_urlsafe(IDEMPOTENCY_KEY_BYTES),
        }
        response = self.renderer.render(template, complete, status=status, language=language)
        self.tokens.set_session_cookie(request, response, session_id)
        if questionnaire is not None and questionnaire.settings.embed_on:
            sites = questionnaire.settings.embed_on
            response.headers["Content-Security-Policy"] = content_security_policy(embed_on=sites)
        return response

    def render_message(
        self,
        request: Request,
        heading: str,
        text: str,
        *,
        status: int = 200,
        link: tuple[str, str] = ("/", N_("Go to the start")),
    ) -> HTMLResponse:
        """Return a page with a message and a link, in the language of the browser."""
        language = LANGUAGES[choose_language(request)]
        paragraphs = [language.gettext(text)]
        context = page_context.message_page(heading, paragraphs, link=link, language=language)
        return self.render(request, "message.html", context, status=status)

    def route_class(self) -> type[APIRoute]:
        """Return a class of routes that respond to errors with a page instead of JSON."""
        render_error = self._render_error

        class PageRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handle_errors(request: Request) -> Response:
                    try:
                        response = await handle(request)
                    except EddiError as error:
                        response = render_error(request, error)
                    remember_language(request, response)
                    return response

                return handle_errors

        return PageRoute

    def _render_error(self, request: Request, error: EddiError) -> HTMLResponse:
        page = find_error_page(error)
        if page is None:
            raise error  # the middleware logs it
        key = request.path_params.get("key", "")
        link = ("/", N_("Go to the start"))
        if isinstance(error, NothingPublishedError):
            link = ("/analyst", N_("Go to the workshop"))
        elif key and page.can_continue:
            link = (f"/i/{key}", N_("Continue from here"))
        return self.render_message(request, page.title, page.explanation, status=page.status, link=link)


def redirect(path: str) -> RedirectResponse:
    """Redirect after a form was sent, so that reloading the page does not send it again."""
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})


def read_idempotency_key(form: Mapping[str, str]) -> str | None:
    """Return the random name of a form."""
    return form.get("once", "")[:MAX_IDEMPOTENCY_KEY] or None
