"""The pages before an interview: the list of questionnaires, and the start page of each."""

from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from eddi.service.errors import N_, InterviewNotFoundError, QuestionnaireMissingError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.length_estimates import LengthEstimates
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.interviews.questionnaire_settings import COLOUR
from eddi.service.settings import Settings
from eddi.service.web import page_context, wording
from eddi.service.web.cookies import INTERVIEW_COOKIE, set_cookie
from eddi.service.web.languages.choice import choose_language, translate
from eddi.service.web.languages.language import LANGUAGES
from eddi.service.web.respondent.page_frame import (
    Form,
    PageFrame,
    read_idempotency_key,
    redirect,
)
from eddi.service.web.respondent.theme import find_logo_type, make_style
from eddi.service.web.texts import Texts

MAX_INVITATION = 64  # characters of the token
CONSENT_MISSING = N_("Please agree first, or close this page if you do not want to take part.")
LINK_UNKNOWN = N_("No interview has this link. Paste the complete link, as you saved it.")
CACHE_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # the address has a hash


class StartPages:
    """The handlers of the pages before an interview."""

    def __init__(self, service: InterviewService, frame: PageFrame, settings: Settings) -> None:
        self.service, self.frame, self.settings = service, frame, settings
        self.length_estimates = LengthEstimates()

    def first(self, request: Request) -> Response:
        """The start page of the questionnaire that was chosen, or the list of all."""
        chosen = self.service.catalogue.first_page()
        if chosen is None:
            return self._render_list(request)
        return self._render_start(request, chosen)

    def named(self, request: Request, name: str) -> Response:
        """The start page of the questionnaire with this name."""
        questionnaire = self.service.catalogue.current(name)
        if questionnaire.name != name:  # it was renamed
            query = f"?{request.url.query}" if request.url.query else ""
            return redirect(f"/q/{quote(questionnaire.name)}{query}")
        return self._render_start(request, questionnaire)

    def begin(self, request: Request, form: Form) -> Response:
        """Start an interview of the questionnaire that was displayed."""
        self.frame.tokens.check(request, form)
        questionnaire = self.service.catalogue.current(form.get("questionnaire") or None)
        settings = questionnaire.settings
        if settings.consent and not form.get("consent"):
            return self._render_start(request, questionnaire, form=form, consent_error=CONSENT_MISSING)
        request_name = read_idempotency_key(form) if settings.needs_invitation else None
        view = self.service.start(
            questionnaire=questionnaire.name,
            invitation=form.get("invitation", "")[:MAX_INVITATION],
            idempotency_key=request_name and f"form-{request_name}",
        )
        response = redirect(f"/i/{view.key}")
        set_cookie(request, response, INTERVIEW_COOKIE, view.key)
        return response

    def resume(self, request: Request, form: Form) -> Response:
        """Continue with the interview whose link was entered."""
        self.frame.tokens.check(request, form)
        link = form.get("link", "").strip()
        key = link.partition("?")[0].rstrip("/").rpartition("/i/")[2].partition("/")[0]
        try:
            return redirect(f"/i/{self.service.resume(key).key}")
        except InterviewNotFoundError:
            questionnaire = self.service.catalogue.current(form.get("questionnaire") or None)
            return self._render_start(request, questionnaire, form=form, link_error=LINK_UNKNOWN)

    def static(self, name: str) -> Response:
        """A static file."""
        return self.frame.renderer.serve_static(name)

    def theme(self, name: str) -> Response:
        """The style sheet with a colour, such as 0b6b60.css."""
        colour = f"#{name.removesuffix('.css')}"
        if not COLOUR.fullmatch(colour):
            return Response("There is no such style.", 404, media_type="text/plain")
        return Response(make_style(colour), headers=CACHE_FOREVER, media_type="text/css")

    def logo(self, digest: str) -> Response:
        """The logo of a questionnaire."""
        content = self.service.catalogue.read_logo(digest) or b""
        media_type = find_logo_type(content)  # other files of the server are not pictures
        if media_type is None:
            return Response("There is no such logo.", 404, media_type="text/plain")
        return Response(content, headers=CACHE_FOREVER, media_type=media_type)

    def _render_list(self, request: Request) -> HTMLResponse:
        items = [
            {
                "address": f"/q/{quote(questionnaire.name)}",
                "title": page_context.questionnaire_title(questionnaire),
                "language": questionnaire.settings.languages[0],
                "introduction": questionnaire.settings.introduction.partition("\n")[0],
            }
            for questionnaire in (translate(request, item) for item in self.service.catalogue.all())
        ]
        title = LANGUAGES[choose_language(request)].gettext("Questionnaires")
        context = {"name": title, "title": title, "questionnaires": items}
        return self.frame.render(request, "list.html", context)

    def _render_start(
        self,
        request: Request,
        questionnaire: Questionnaire,
        *,
        form: Form | None = None,
        link_error: str = "",
        consent_error: str = "",
    ) -> HTMLResponse:
        questionnaire = translate(request, questionnaire)
        fields = form or {}
        invitation = fields.get("invitation") or request.query_params.get("invitation", "")
        self.service.admission.check(questionnaire, invitation=invitation[:MAX_INVITATION])
        texts = Texts(questionnaire.settings)
        language = texts.language
        about = texts.join_names(questionnaire.variables)
        left = self.length_estimates.questions_left(questionnaire, questionnaire.interview())
        title = questionnaire.settings.title or self._server_title(questionnaire)
        context = {
            "name": title or page_context.site_name(questionnaire.variables, texts),
            "questionnaire": questionnaire.name,
            "invitation": invitation[:MAX_INVITATION],
            "title": title or language.gettext("A short interview about %(about)s", about=about),
            "heading": title or language.gettext("A few questions about %(about)s", about=about),
            "introduction": page_context.paragraphs(
                questionnaire.settings.introduction or self._server_introduction(questionnaire)
            ),
            "consent": page_context.paragraphs(questionnaire.settings.consent),
            "consent_error": consent_error and language.gettext(consent_error),
            "contact": questionnaire.settings.contact,
            "about": about,
            "shows_result": questionnaire.settings.show_result,
            "length": wording.describe_length(left.maximum, left.estimate, language),
            "unfinished": self._find_unfinished(request, questionnaire),
            "link": fields.get("link", ""),
            "link_error": link_error and language.gettext(link_error),
        }
        status = 422 if link_error or consent_error else 200
        return self.frame.render(
            request, "start.html", context, questionnaire=questionnaire, status=status
        )

    def _find_unfinished(self, request: Request, questionnaire: Questionnaire) -> str:
        """The key of the interview that this browser has begun; empty if there is none."""
        key = request.cookies.get(INTERVIEW_COOKIE, "")
        try:
            view = self.service.resume(key) if key else None
        except (InterviewNotFoundError, QuestionnaireMissingError):
            return ""
        return key if view is not None and view.questionnaire.key == questionnaire.key else ""

    def _server_title(self, questionnaire: Questionnaire) -> str:
        return self.settings.title if self._is_first(questionnaire) else ""

    def _server_introduction(self, questionnaire: Questionnaire) -> str:
        return self.settings.about if self._is_first(questionnaire) else ""

    def _is_first(self, questionnaire: Questionnaire) -> bool:
        """Whether this is the questionnaire that the settings of the server describe."""
        first = self.service.catalogue.first_page()
        return first is not None and first.key == questionnaire.key
