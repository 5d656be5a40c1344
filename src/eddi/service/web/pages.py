"""The respondent's pages: one question at a time, the answers, and the result. They need no scripts."""

import secrets
from collections.abc import Callable, Coroutine, Mapping
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute

from eddi.errors import EddiError, OutOfRangeError
from eddi.service.errors import InterviewMovedError, InterviewNotFoundError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.length_estimates import LengthEstimates
from eddi.service.interviews.questionnaire import NothingPublishedError
from eddi.service.settings import Settings
from eddi.service.web import page_context, wording
from eddi.service.web.answer_form import FormInput, parse_form
from eddi.service.web.cookies import DEFERRED_COOKIE, format_deferred, read_deferred, set_cookie
from eddi.service.web.error_pages import find_error_page
from eddi.service.web.form_tokens import FormTokens
from eddi.service.web.rendering import Renderer
from eddi.table.question import Question

DEFER = "later"  # value of the form field "act" that puts a question off
MAX_FORM_FIELDS = 400
IDEMPOTENCY_KEY_BYTES = 12  # random name of a form, by which a second submission is recognised
MAX_IDEMPOTENCY_KEY = 64  # characters


async def read_form(request: Request) -> dict[str, str]:
    """Return the text fields of a form; files and repeated fields are ignored."""
    async with request.form(max_files=0, max_fields=MAX_FORM_FIELDS) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(read_form)]


def router(service: InterviewService, settings: Settings) -> APIRouter:
    """Return the routes of the respondent's pages."""
    pages = Pages(service, settings)
    routes = APIRouter(route_class=pages.route_class(), include_in_schema=False)
    routes.add_api_route("/", pages.start, methods=["GET"])
    routes.add_api_route("/q/{name}", pages.start_named, methods=["GET"])
    routes.add_api_route("/start", pages.begin, methods=["POST"])
    routes.add_api_route("/resume", pages.resume, methods=["POST"])
    routes.add_api_route("/static/{name}", pages.static, methods=["GET"])
    routes.add_api_route("/i/{key}", pages.question, methods=["GET"])
    routes.add_api_route("/i/{key}", pages.answer, methods=["POST"])
    routes.add_api_route("/i/{key}/why", pages.why, methods=["GET"])
    routes.add_api_route("/i/{key}/back", pages.undo, methods=["POST"])
    routes.add_api_route("/i/{key}/answers", pages.answers, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.change, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.save_change, methods=["POST"])
    routes.add_api_route("/i/{key}/result", pages.result, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.confirm_forget, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.forget, methods=["POST"])
    return routes


class Pages:
    """The handlers of the respondent's pages."""

    def __init__(self, service: InterviewService, settings: Settings) -> None:
        self.service, self.settings = service, settings
        self.tokens = FormTokens(settings)
        self.renderer = Renderer()
        self.length_estimates = LengthEstimates()

    def start(self, request: Request) -> HTMLResponse:
        """The start page of the first questionnaire."""
        return self._render_start(request)

    def start_named(self, request: Request, name: str) -> HTMLResponse:
        """The start page of the questionnaire with this name."""
        return self._render_start(request, name=name)

    def begin(self, request: Request, form: Form) -> Response:
        """Start an interview."""
        self.tokens.check(request, form)
        view = self.service.start(questionnaire=form.get("questionnaire") or None)
        return _redirect(f"/i/{view.key}")

    def resume(self, request: Request, form: Form) -> Response:
        """Continue with the interview whose link was entered."""
        self.tokens.check(request, form)
        link = form.get("link", "").strip()
        key = link.partition("?")[0].rstrip("/").rpartition("/i/")[2].partition("/")[0]
        try:
            return _redirect(f"/i/{self.service.resume(key).key}")
        except InterviewNotFoundError:
            error = "No interview has this link. Paste the complete link, as you saved it."
            return self._render_start(request, link=link, error=error)

    def static(self, name: str) -> Response:
        """A static file."""
        return self.renderer.serve_static(name)

    def question(self, request: Request, key: str) -> Response:
        """The page of the next question."""
        view = self.service.resume(key)
        question = _next_question(view, _read_deferred(request, view))
        if question is None:
            return _redirect(f"/i/{key}/result")
        return self._render_question(request, view, question, None)

    def answer(self, request: Request, key: str, form: Form) -> Response:
        """Save an answer, or put the question off."""
        self.tokens.check(request, form)
        view = self.service.resume(key)
        record = view.interview.record
        question = _find_question(view, form.get("question", ""))
        if form.get("act") == DEFER:
            return self._defer(request, view, question)
        if question.name in record.answered_questions():
            return self._answer_again(request, view, question, form)
        form_input = parse_form(
            question, view.interview.model.schema, form, answered=record.answered_variables()
        )
        if form_input.errors:
            return self._render_question(request, view, question, form_input)
        try:
            self.service.add_answer(
                key,
                question.name,
                form_input.values,
                confirm=bool(form_input.confirmed),
                after=_read_version(form),
                idempotency_key=_read_idempotency_key(form),
            )
        except OutOfRangeError as error:
            form_input = form_input.with_out_of_range(error)
            return self._render_question(request, view, question, form_input)
        return _redirect(f"/i/{key}")

    def why(self, request: Request, key: str) -> Response:
        """The page that explains the next question."""
        view = self.service.resume(key)
        question = _next_question(view, _read_deferred(request, view))
        if question is None:
            return _redirect(f"/i/{key}/result")
        return self._render(request, "why.html", page_context.why_page(view, question))

    def undo(self, request: Request, key: str, form: Form) -> Response:
        """Remove the last answer."""
        self.tokens.check(request, form)
        self.service.undo(key, after=_read_version(form))
        return _redirect(f"/i/{key}/answers")

    def answers(self, request: Request, key: str) -> Response:
        """The page with all answers."""
        context = page_context.answers_page(self.service.resume(key))
        return self._render(request, "answers.html", context)

    def change(self, request: Request, key: str, place: str) -> Response:
        """The page that changes an answer."""
        view = self.service.resume(key)
        number = _parse_place(view, place)
        if number is None:
            return _redirect(f"/i/{key}/answers")
        return self._render(request, "question.html", page_context.change_page(view, number))

    def save_change(self, request: Request, key: str, place: str, form: Form) -> Response:
        """Save a changed answer."""
        self.tokens.check(request, form)
        view = self.service.resume(key)
        number = _parse_place(view, place)
        if number is None:
            return _redirect(f"/i/{key}/answers")
        interview = view.interview
        answer = interview.record.answers[number - 1]
        if answer.question != form.get("question"):
            raise InterviewMovedError("the order of the answers has changed since the page was shown.")
        form_input = parse_form(
            page_context.find_question(interview, answer),
            interview.model.schema,
            form,
            answered=page_context.variables_of_other_answers(interview, answer),
        )
        if form_input.errors:
            return self._render_change(request, view, number, form_input)
        try:
            self.service.change_answer(
                key,
                answer.question,
                form_input.values,
                confirm=bool(form_input.confirmed),
                after=_read_version(form),
                idempotency_key=_read_idempotency_key(form),
            )
        except OutOfRangeError as error:
            return self._render_change(request, view, number, form_input.with_out_of_range(error))
        return _redirect(f"/i/{key}")

    def result(self, request: Request, key: str) -> Response:
        """The page with the result."""
        view = self.service.resume(key)
        today = date.today()
        context = page_context.result_page(
            view, link=f"{request.base_url}i/{key}", today=f"{today.day} {today:%B %Y}"
        )
        return self._render(request, "result.html", context)

    def confirm_forget(self, request: Request, key: str) -> Response:
        """The page that asks whether to forget the interview."""
        context = page_context.forget_page(self.service.resume(key))
        return self._render(request, "forget.html", context)

    def forget(self, request: Request, key: str, form: Form) -> Response:
        """Forget the interview."""
        self.tokens.check(request, form)
        self.service.forget(key)
        response = self._render_message(
            request,
            "Your answers are forgotten",
            "None of your answers are kept, and the link no longer works. Thank you for your time.",
        )
        response.delete_cookie(DEFERRED_COOKIE, path=f"/i/{key}")
        return response

    def route_class(self) -> type[APIRoute]:
        """Return a class of routes that respond to errors with a page instead of JSON."""
        render_error = self._render_error

        class PageRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handle_errors(request: Request) -> Response:
                    try:
                        return await handle(request)
                    except EddiError as error:
                        return render_error(request, error)

                return handle_errors

        return PageRoute

    def _render_error(self, request: Request, error: EddiError) -> HTMLResponse:
        page = find_error_page(error)
        if page is None:
            raise error  # the middleware logs it
        key = request.path_params.get("key", "")
        link = ("/", "Go to the start")
        if isinstance(error, NothingPublishedError):
            link = ("/analyst", "Go to the workshop")
        elif key and page.can_continue:
            link = (f"/i/{key}", "Continue from here")
        return self._render_message(request, page.title, page.explanation, status=page.status, link=link)

    def _render_start(
        self, request: Request, *, name: str | None = None, link: str = "", error: str = ""
    ) -> HTMLResponse:
        questionnaire = self.service.catalogue.current(name)
        target = questionnaire.target
        about = " and ".join(target)
        left = self.length_estimates.questions_left(questionnaire, questionnaire.interview())
        context = {
            "name": page_context.site_name(target),
            "questionnaire": name or "",
            "key": "",
            "title": self.settings.title or f"A short interview about {about}",
            "heading": self.settings.title or f"A few questions about {about}",
            "introduction": self.settings.about,
            "about": about,
            "length": wording.describe_length(left.maximum, left.estimate),
            "link": link,
            "link_error": error,
        }
        return self._render(request, "start.html", context, status=422 if error else 200)

    def _render_question(
        self, request: Request, view: InterviewView, question: Question, form_input: FormInput | None
    ) -> HTMLResponse:
        left = self.length_estimates.questions_left(view.questionnaire, view.interview)
        context = page_context.question_page(
            view, question, form_input, deferred=_read_deferred(request, view)
        )
        context["questions_left"] = wording.describe_questions_left(max(1, left.maximum), left.estimate)
        status = 200 if form_input is None else 422
        return self._render(request, "question.html", context, status=status)

    def _render_change(
        self, request: Request, view: InterviewView, number: int, form_input: FormInput
    ) -> HTMLResponse:
        context = page_context.change_page(view, number, form_input)
        return self._render(request, "question.html", context, status=422)

    def _answer_again(
        self, request: Request, view: InterviewView, question: Question, form: Mapping[str, str]
    ) -> Response:
        """Handle an answer to an answered question: a second submission, or an old page."""
        schema, answers = view.interview.model.schema, view.interview.record.answers
        place = next(n for n, answer in enumerate(answers, start=1) if answer.question == question.name)
        answer = answers[place - 1]
        other_variables = page_context.variables_of_other_answers(view.interview, answer)
        form_input = parse_form(question, schema, form, answered=other_variables)
        if dict(FormInput.from_answer(answer, schema).values) == dict(form_input.values):
            return _redirect(f"/i/{view.key}")
        context = page_context.change_page(view, place, form_input)
        given = wording.describe_answer(answer, schema)
        context["notice"] = f"You answered this already: {given}. Save the change if you meant to."
        return self._render(request, "question.html", context, status=409)

    def _defer(self, request: Request, view: InterviewView, question: Question) -> Response:
        deferred = {*_read_deferred(request, view), question.name}
        if _next_question(view, deferred) in (None, question):
            deferred = {question.name}  # all were put off: start over, with this question last
        path = f"/i/{view.key}"
        response = _redirect(path)
        cookie = format_deferred(deferred, _question_names(view))
        set_cookie(request, response, DEFERRED_COOKIE, cookie, path=path)
        return response

    def _render(
        self, request: Request, template: str, context: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        session_id = self.tokens.session_id(request)
        form_context = {
            **context,
            "csrf": self.tokens.token(session_id),
            "once": secrets.token_urlsafe(IDEMPOTENCY_KEY_BYTES),
        }
        response = self.renderer.render(template, form_context, status=status)
        self.tokens.set_session_cookie(request, response, session_id)
        return response

    def _render_message(
        self,
        request: Request,
        heading: str,
        text: str,
        *,
        status: int = 200,
        link: tuple[str, str] = ("/", "Go to the start"),
    ) -> HTMLResponse:
        context = page_context.message_page(heading, [text], link=link[0], link_text=link[1])
        context["name"] = self._site_name()
        return self._render(request, "message.html", context, status=status)

    def _site_name(self) -> str:
        try:
            return page_context.site_name(self.service.catalogue.current().target)
        except NothingPublishedError:
            return "EDDI"


def _redirect(path: str) -> RedirectResponse:
    """Redirect after a form was sent, so that reloading the page does not send it again."""
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})


def _question_names(view: InterviewView) -> tuple[str, ...]:
    return tuple(question.name for question in view.interview.model.schema.questions)


def _find_question(view: InterviewView, name: str) -> Question:
    """Return the question with this name; a form of this interview always names one."""
    for question in view.interview.model.schema.questions:
        if question.name == name:
            return question
    raise InterviewMovedError(f"there is no question {name[:40]!r}. Load the page again.")


def _read_deferred(request: Request, view: InterviewView) -> set[str]:
    return read_deferred(request, _question_names(view))


def _next_question(view: InterviewView, deferred: set[str]) -> Question | None:
    """Return the next question; those that were put off come last, before the interview ends."""
    is_deferred = view.question is not None and view.question.name in deferred
    if not deferred or (view.question is not None and not is_deferred):
        return view.question
    return view.interview.next_step(deferred).question


def _parse_place(view: InterviewView, text: str) -> int | None:
    """Return the position of an answer, counted from 1; None if there is no such answer."""
    number = _parse_digits(text, max_digits=6)
    is_answer = number is not None and 1 <= number <= len(view.interview.record.answers)
    return number if is_answer else None


def _read_version(form: Mapping[str, str]) -> int | None:
    return _parse_digits(form.get("after", ""), max_digits=9)


def _read_idempotency_key(form: Mapping[str, str]) -> str | None:
    return form.get("once", "")[:MAX_IDEMPOTENCY_KEY] or None


def _parse_digits(text: str, *, max_digits: int) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= max_digits
    return int(text) if is_number else None
