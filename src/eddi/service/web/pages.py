"""The respondent's pages: one question at a time, answers to look over, a result; no script needed."""

import secrets
from collections.abc import Callable, Coroutine, Hashable, Mapping
from datetime import date
from threading import Lock
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from numpy.typing import NDArray

from eddi.errors import EddiError
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.interview_service import (
    Desk,
    InterviewMovedError,
    InterviewNotFoundError,
    Sitting,
)
from eddi.service.interviews.questionnaire import NothingPublishedError, Questionnaire, rules_of
from eddi.service.settings import Settings
from eddi.service.web import form_tokens, page_context, wording
from eddi.service.web.error_pages import apology
from eddi.service.web.form_tokens import Forms
from eddi.service.web.rendering import Rendering
from eddi.table.question import Question

LATER = "later"
ONCE_BYTES = 12  # of the random name by which a form sent twice is known


async def sent(request: Request) -> dict[str, str]:
    """The fields of a form; files and repeated fields are none of ours."""
    async with request.form(max_files=0, max_fields=400) as form:
        return {name: value for name, value in form.items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(sent)]


def router(desk: Desk, settings: Settings) -> APIRouter:
    """The routes of the pages, over ``desk``."""
    pages = Pages(desk, settings)
    routes = APIRouter(route_class=pages.route_class(), include_in_schema=False)
    routes.add_api_route("/", pages.start, methods=["GET"])
    routes.add_api_route("/q/{name}", pages.start_of, methods=["GET"])
    routes.add_api_route("/start", pages.begin, methods=["POST"])
    routes.add_api_route("/resume", pages.resume, methods=["POST"])
    routes.add_api_route("/static/{name}", pages.static, methods=["GET"])
    routes.add_api_route("/i/{key}", pages.question, methods=["GET"])
    routes.add_api_route("/i/{key}", pages.answer, methods=["POST"])
    routes.add_api_route("/i/{key}/why", pages.why, methods=["GET"])
    routes.add_api_route("/i/{key}/back", pages.back, methods=["POST"])
    routes.add_api_route("/i/{key}/answers", pages.answers, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.change, methods=["GET"])
    routes.add_api_route("/i/{key}/change/{place}", pages.save_change, methods=["POST"])
    routes.add_api_route("/i/{key}/result", pages.result, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.ask_forget, methods=["GET"])
    routes.add_api_route("/i/{key}/forget", pages.forget, methods=["POST"])
    return routes


class Pages:
    """What each address shows and does."""

    def __init__(self, desk: Desk, settings: Settings) -> None:
        self.desk, self.settings = desk, settings
        self.forms = Forms(settings)
        self.rendering = Rendering()
        self._lengths: dict[Hashable, NDArray[np.int64]] = {}
        self._lock = Lock()

    def start(self, request: Request) -> HTMLResponse:
        return self._start(request)

    def start_of(self, request: Request, name: str) -> HTMLResponse:
        """Where interviews of one questionnaire of several begin."""
        return self._start(request, name=name)

    def begin(self, request: Request, form: Form) -> Response:
        self.forms.check(request, form)
        sitting = self.desk.open(questionnaire=form.get("questionnaire") or None)
        return _see(f"/i/{sitting.key}")

    def resume(self, request: Request, form: Form) -> Response:
        """Go on by a link that was typed or pasted in."""
        self.forms.check(request, form)
        link = form.get("link", "").strip()
        key = link.partition("?")[0].rstrip("/").rpartition("/i/")[2].partition("/")[0]
        try:
            return _see(f"/i/{self.desk.resume(key).key}")
        except InterviewNotFoundError:
            words = "No interview has this link. Paste all of it, as you kept it."
            return self._start(request, link=link, error=words)

    def static(self, name: str) -> Response:
        return self.rendering.file(name)

    def question(self, request: Request, key: str) -> Response:
        sitting = self.desk.resume(key)
        aside = _aside(request, sitting)
        asked = _next(sitting, aside)
        if asked is None:
            return _see(f"/i/{key}/result")
        return self._question(request, sitting, asked, None)

    def answer(self, request: Request, key: str, form: Form) -> Response:
        """Take an answer, or why there is none, or put the question off."""
        self.forms.check(request, form)
        sitting = self.desk.resume(key)
        schema = sitting.interview.model.schema
        asked = _named(sitting, form.get("question", ""))
        if form.get("act") == LATER:
            return self._put_off(request, sitting, asked)
        if asked.name in sitting.interview.record.answered_questions():
            return self._repeated(request, sitting, asked, form)
        heard = wording.hear(asked, schema, form, known=sitting.interview.record.answered_variables())
        if heard.errors:
            return self._question(request, sitting, asked, heard)
        self.desk.tell(key, asked.name, heard.values, after=_after(form), request=_once(form))
        return _see(f"/i/{key}")

    def why(self, request: Request, key: str) -> Response:
        sitting = self.desk.resume(key)
        asked = _next(sitting, _aside(request, sitting))
        if asked is None:
            return _see(f"/i/{key}/result")
        return self._page(request, "why.html", page_context.why(sitting, asked))

    def back(self, request: Request, key: str, form: Form) -> Response:
        self.forms.check(request, form)
        self.desk.undo(key, after=_after(form))
        return _see(f"/i/{key}/answers")

    def answers(self, request: Request, key: str) -> Response:
        return self._page(request, "answers.html", page_context.answers(self.desk.resume(key)))

    def change(self, request: Request, key: str, place: str) -> Response:
        sitting = self.desk.resume(key)
        number = _place(sitting, place)
        if number is None:
            return _see(f"/i/{key}/answers")
        return self._page(request, "question.html", page_context.change(sitting, number))

    def save_change(self, request: Request, key: str, place: str, form: Form) -> Response:
        self.forms.check(request, form)
        sitting = self.desk.resume(key)
        number = _place(sitting, place)
        if number is None:
            return _see(f"/i/{key}/answers")
        interview = sitting.interview
        answer = interview.record.answers[number - 1]
        if answer.question != form.get("question"):
            raise InterviewMovedError("the answers are no longer in the order this page showed.")
        asked = page_context.question_of(interview, answer)
        known = page_context.elsewhere(interview, answer)
        heard = wording.hear(asked, interview.model.schema, form, known=known)
        if heard.errors:
            facts = page_context.change(sitting, number, heard)
            return self._page(request, "question.html", facts, status=422)
        self.desk.change(key, answer.question, heard.values, after=_after(form), request=_once(form))
        return _see(f"/i/{key}")

    def result(self, request: Request, key: str) -> Response:
        sitting = self.desk.resume(key)
        today = date.today()
        words = f"{today.day} {today:%B %Y}"
        facts = page_context.result(sitting, link=f"{request.base_url}i/{key}", today=words)
        return self._page(request, "result.html", facts)

    def ask_forget(self, request: Request, key: str) -> Response:
        sitting = self.desk.resume(key)
        facts = {
            **page_context.frame(sitting, ""),
            "title": "Forget your answers?",
            "n_said": page_context.n_said(sitting.interview),
        }
        return self._page(request, "forget.html", facts)

    def forget(self, request: Request, key: str, form: Form) -> Response:
        self.forms.check(request, form)
        self.desk.forget(key)
        response = self._message(
            request,
            "Your answers are forgotten",
            ["Nothing of what you said is kept, and the link no longer works. Thank you for your time."],
        )
        response.delete_cookie(form_tokens.ASIDE_COOKIE, path=f"/i/{key}")
        return response

    def route_class(self) -> type[APIRoute]:
        """Routes that answer with a page, not with a problem in JSON, when something goes wrong."""
        trouble = self.trouble

        class PageRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handle = super().get_route_handler()

                async def handled(request: Request) -> Response:
                    try:
                        return await handle(request)
                    except EddiError as error:
                        return trouble(request, error)

                return handled

        return PageRoute

    def trouble(self, request: Request, error: EddiError) -> HTMLResponse:
        """A page that says what went wrong and what to do."""
        found = apology(error)
        if found is None:
            raise error  # the guard logs it
        if isinstance(error, NothingPublishedError):
            way = ("/analyst", "Go to the workshop")
            return self._message(request, found.heading, [found.words], status=found.status, way=way)
        key = request.path_params.get("key", "")
        way = (f"/i/{key}", "Go on from here") if key and found.goes_on else ("/", "Go to the start")
        return self._message(request, found.heading, [found.words], status=found.status, way=way)

    def _start(
        self, request: Request, *, name: str | None = None, link: str = "", error: str = ""
    ) -> HTMLResponse:
        ours = self.desk.catalogue.current(name)
        about = " and ".join(ours.target)
        most = interview_analytics.max_questions_left(ours.interview())
        facts = {
            "name": page_context.heading(ours.target),
            "questionnaire": name or "",
            "key": "",
            "here": "",
            "title": self.settings.title or f"A short interview about {about}",
            "heading": self.settings.title or f"A few questions about {about}",
            "introduction": self.settings.about,
            "about": about,
            "how_many": _how_many(most, self._about(ours, ours.target, 0, most)),
            "link": link,
            "link_error": error,
        }
        return self._page(request, "start.html", facts, status=422 if error else 200)

    def _question(
        self, request: Request, sitting: Sitting, asked: Question, heard: wording.Heard | None
    ) -> HTMLResponse:
        interview = sitting.interview
        most = interview_analytics.max_questions_left(interview)
        n_told = len(interview.record.answers)
        about = self._about(sitting.questionnaire, interview.target, n_told, most)
        facts = page_context.question(sitting, asked, heard, aside=_aside(request, sitting))
        status = 422 if heard is not None else 200
        return self._page(
            request, "question.html", {**facts, "left": wording.left(most, about)}, status=status
        )

    def _repeated(
        self, request: Request, sitting: Sitting, asked: Question, form: Mapping[str, str]
    ) -> Response:
        """An answer to what was answered already: sent twice, or from a page gone back to."""
        record = sitting.interview.record
        place = next(n for n, one in enumerate(record.answers, 1) if one.question == asked.name)
        answer = record.answers[place - 1]
        known = page_context.elsewhere(sitting.interview, answer)
        heard = wording.hear(asked, sitting.interview.model.schema, form, known=known)
        if dict(wording.remembered(answer).values) == dict(heard.values):
            return _see(f"/i/{sitting.key}")
        facts = page_context.change(sitting, place, heard)
        said = wording.said(answer, sitting.interview.model.schema)
        notice = f"You answered this already: {said}. Save the change if you meant to."
        return self._page(request, "question.html", {**facts, "notice": notice}, status=409)

    def _put_off(self, request: Request, sitting: Sitting, asked: Question) -> Response:
        names = _names(sitting)
        aside = {*_aside(request, sitting), asked.name}
        if _next(sitting, aside) in (None, asked):
            aside = {asked.name}  # all were put off: the round begins again, with this one last
        response = _see(f"/i/{sitting.key}")
        path = f"/i/{sitting.key}"
        form_tokens.keep(
            request, response, form_tokens.ASIDE_COOKIE, form_tokens.aside_text(aside, names), path=path
        )
        return response

    def _about(self, ours: Questionnaire, target: tuple[str, ...], n_told: int, most: int) -> int:
        """About how many questions are left, from interviews rehearsed once for each questionnaire."""
        rules = ours.rules(target)
        which = (ours.seal, target, frozenset(rules_of(ours.stop).items()))
        if not interview_analytics.may_end_early(rules):
            return most
        with self._lock:
            if which not in self._lengths:
                self._lengths[which] = interview_analytics.simulate_lengths(rules)
        return interview_analytics.estimate_questions_left(self._lengths[which], n_told, most)

    def _page(
        self, request: Request, template: str, facts: Mapping[str, Any], *, status: int = 200
    ) -> HTMLResponse:
        seed = self.forms.seed(request)
        signed = {
            **facts,
            "csrf": self.forms.token(seed),
            "once": secrets.token_urlsafe(ONCE_BYTES),
        }
        response = self.rendering.page(template, signed, status=status)
        form_tokens.keep(request, response, form_tokens.SEED_COOKIE, seed)
        return response

    def _message(
        self,
        request: Request,
        heading: str,
        sentences: list[str],
        *,
        status: int = 200,
        way: tuple[str, str] = ("/", "Go to the start"),
    ) -> HTMLResponse:
        facts = page_context.message(heading, sentences, where=way[0], way=way[1])
        return self._page(request, "message.html", {**facts, "name": self._name()}, status=status)

    def _name(self) -> str:
        try:
            return page_context.heading(self.desk.current.target)
        except NothingPublishedError:
            return "EDDI"


def _see(address: str) -> RedirectResponse:
    """Go on with a page of its own, so that loading it again sends nothing twice."""
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})


def _names(sitting: Sitting) -> tuple[str, ...]:
    return tuple(question.name for question in sitting.interview.model.schema.questions)


def _named(sitting: Sitting, name: str) -> Question:
    """The question a form was about; a form that names none was not given out for this interview."""
    for question in sitting.interview.model.schema.questions:
        if question.name == name:
            return question
    raise InterviewMovedError(f"there is no question {name[:40]!r}. Load the page again.")


def _aside(request: Request, sitting: Sitting) -> set[str]:
    return form_tokens.put_aside(request, _names(sitting))


def _next(sitting: Sitting, aside: set[str]) -> Question | None:
    """What is asked now: the desk's choice, unless that was put off."""
    if sitting.question is None or sitting.question.name not in aside:
        return sitting.question
    return sitting.interview.next_step(aside).question


def _place(sitting: Sitting, text: str) -> int | None:
    """Which answer is meant, counted from 1; None if there is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        return None
    return int(text) if 1 <= int(text) <= len(sitting.interview.record.answers) else None


def _after(form: Mapping[str, str]) -> int | None:
    text = form.get("after", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def _once(form: Mapping[str, str]) -> str | None:
    return form.get("once", "")[:64] or None


def _how_many(most: int, about: int) -> str:
    if about >= most:
        return f"At most {most}."
    return f"At most {most}, probably about {about}."
