"""The pages of an interview: one question at a time, the answers, and the result."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from eddi.errors import OutOfRangeError
from eddi.service.errors import N_, InterviewMovedError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.length_estimates import LengthEstimates
from eddi.service.web import page_context, wording
from eddi.service.web.answer_form import FormInput, parse_form
from eddi.service.web.cookies import (
    DEFERRED_COOKIE,
    INTERVIEW_COOKIE,
    format_deferred,
    read_deferred,
    set_cookie,
)
from eddi.service.web.languages.choice import translate
from eddi.service.web.respondent.page_frame import (
    Form,
    PageFrame,
    read_idempotency_key,
    redirect,
)
from eddi.service.web.respondent.result_context import result_page
from eddi.table.question import Question

DEFER = "later"  # value of the form field "act" that puts a question off


class InterviewPages:
    """The handlers of the pages of an interview."""

    def __init__(self, service: InterviewService, frame: PageFrame) -> None:
        self.service, self.frame = service, frame
        self.length_estimates = LengthEstimates()

    def _resume(self, request: Request, key: str) -> InterviewView:
        """The interview in the language of the respondent."""
        view = self.service.resume(key)
        return replace(view, questionnaire=translate(request, view.questionnaire))

    def current(self, request: Request, key: str) -> Response:
        """Go to the next question, or to the result. Each question has its own address.

        So the browser's Back button leads to the question before.
        """
        return redirect(_next_address(request, self._resume(request, key)))

    def question(self, request: Request, key: str, number: str) -> Response:
        """The page of the next question, or of an earlier one with its answer."""
        view = self._resume(request, key)
        place = _parse_place(view, number)
        if place is not None:
            context = page_context.change_page(view, place)
            return self._render(request, "question.html", context, view=view)
        question = _next_question(view, _read_deferred(request, view))
        if question is None:
            return redirect(f"/i/{key}/result")
        if number != str(len(view.interview.record.answers) + 1):
            return redirect(_question_address(view))
        return self._render_question(request, view, question, None)

    def answer(self, request: Request, key: str, number: str, form: Form) -> Response:  # noqa: ARG002
        """Save an answer, or put the question off. The form names the question, not its number."""
        self.frame.tokens.check(request, form)
        view = self._resume(request, key)
        record = view.interview.record
        question = _find_question(view, form.get("question", ""))
        if form.get("act") == DEFER:
            return self._defer(request, view, question)
        if question.name in record.answered_questions():
            return self._answer_again(request, view, question, form)
        form_input = parse_form(
            question,
            view.interview.model.schema,
            form,
            answered=record.answered_variables(),
            language=page_context.texts_of(view).language,
        )
        store = partial(self.service.add_answer, key, question.name)
        show = partial(self._render_question, request, view, question)
        return self._store_answer(request, view, form, form_input, store=store, show=show)

    def _store_answer(
        self,
        request: Request,
        view: InterviewView,
        form: Form,
        form_input: FormInput,
        *,
        store: Callable[..., InterviewView],
        show: Callable[[FormInput], Response],
    ) -> Response:
        """Store the values of a form, or show the form again with its errors."""
        if form_input.errors:
            return show(form_input)
        try:
            changed = store(
                form_input.values,
                confirm=bool(form_input.confirmed),
                after=_read_version(form),
                idempotency_key=read_idempotency_key(form),
            )
        except OutOfRangeError as error:
            return show(form_input.with_out_of_range(error, page_context.texts_of(view).language))
        return redirect(_next_address(request, changed))

    def why(self, request: Request, key: str) -> Response:
        """The page that explains the next question."""
        view = self._resume(request, key)
        question = _next_question(view, _read_deferred(request, view))
        if question is None:
            return redirect(f"/i/{key}/result")
        context = page_context.why_page(view, question)
        return self._render(request, "why.html", context, view=view)

    def undo(self, request: Request, key: str, form: Form) -> Response:
        """Remove the last answer."""
        self.frame.tokens.check(request, form)
        self.service.undo(key, after=_read_version(form))
        return redirect(f"/i/{key}/answers")

    def answers(self, request: Request, key: str) -> Response:
        """The page with all answers."""
        view = self._resume(request, key)
        context = page_context.answers_page(view)
        return self._render(request, "answers.html", context, view=view)

    def change(self, request: Request, key: str, place: str) -> Response:
        """The page that changes an answer."""
        view = self._resume(request, key)
        number = _parse_place(view, place)
        if number is None:
            return redirect(f"/i/{key}/answers")
        context = page_context.change_page(view, number)
        return self._render(request, "question.html", context, view=view)

    def save_change(self, request: Request, key: str, place: str, form: Form) -> Response:
        """Save a changed answer."""
        self.frame.tokens.check(request, form)
        view = self._resume(request, key)
        number = _parse_place(view, place)
        if number is None:
            return redirect(f"/i/{key}/answers")
        interview = view.interview
        answer = interview.record.answers[number - 1]
        if answer.question != form.get("question"):
            raise InterviewMovedError("the order of the answers has changed since the page was shown.")
        form_input = parse_form(
            page_context.find_question(interview, answer),
            interview.model.schema,
            form,
            answered=page_context.variables_of_other_answers(interview, answer),
            language=page_context.texts_of(view).language,
        )
        store = partial(self.service.change_answer, key, answer.question)
        show = partial(self._render_change, request, view, number)
        return self._store_answer(request, view, form, form_input, store=store, show=show)

    def result(self, request: Request, key: str) -> Response:
        """The page with the result, or the end of a questionnaire that does not show one."""
        view = self._resume(request, key)
        is_over = _next_question(view, _read_deferred(request, view)) is None
        if not is_over and not page_context.may_see_result(view):
            return redirect(_question_address(view))
        context = result_page(view, is_over=is_over, today=date.today())
        return self._render(request, "result.html", context, view=view)

    def confirm_forget(self, request: Request, key: str) -> Response:
        """The page that asks whether to forget the interview."""
        view = self._resume(request, key)
        context = page_context.forget_page(view)
        return self._render(request, "forget.html", context, view=view)

    def forget(self, request: Request, key: str, form: Form) -> Response:
        """Forget the interview."""
        self.frame.tokens.check(request, form)
        self.service.forget(key)
        response = self.frame.render_message(
            request,
            N_("Your answers are forgotten"),
            N_("None of your answers are kept, and the link no longer works. Thank you for your time."),
        )
        response.delete_cookie(DEFERRED_COOKIE, path=f"/i/{key}")
        response.delete_cookie(INTERVIEW_COOKIE)
        return response

    def _render_question(
        self, request: Request, view: InterviewView, question: Question, form_input: FormInput | None
    ) -> HTMLResponse:
        deferred = _read_deferred(request, view)
        left = self.length_estimates.questions_left(view.questionnaire, view.interview, deferred)
        context = page_context.question_page(view, question, form_input, deferred=deferred)
        context["questions_left"] = wording.describe_questions_left(
            max(1, left.maximum), left.estimate, page_context.texts_of(view).language
        )
        status = 200 if form_input is None else 422
        return self._render(request, "question.html", context, view=view, status=status)

    def _render_change(
        self, request: Request, view: InterviewView, number: int, form_input: FormInput
    ) -> HTMLResponse:
        context = page_context.change_page(view, number, form_input)
        return self._render(request, "question.html", context, view=view, status=422)

    def _answer_again(
        self, request: Request, view: InterviewView, question: Question, form: Mapping[str, str]
    ) -> Response:
        """Handle an answer to an answered question: a second submission, or an old page."""
        schema, answers = view.interview.model.schema, view.interview.record.answers
        place = next(n for n, answer in enumerate(answers, start=1) if answer.question == question.name)
        answer = answers[place - 1]
        other_variables = page_context.variables_of_other_answers(view.interview, answer)
        texts = page_context.texts_of(view)
        form_input = parse_form(
            question, schema, form, answered=other_variables, language=texts.language
        )
        if dict(FormInput.from_answer(answer, schema).values) == dict(form_input.values):
            return redirect(f"/i/{view.key}")
        context = page_context.change_page(view, place, form_input)
        context["notice"] = texts.language.gettext(
            "You answered this already: %(answer)s. Save the change if you meant to.",
            answer=wording.describe_answer(answer, schema, texts),
        )
        return self._render(request, "question.html", context, view=view, status=409)

    def _defer(self, request: Request, view: InterviewView, question: Question) -> Response:
        deferred = {*_read_deferred(request, view), question.name}
        if _next_question(view, deferred) in (None, question):
            deferred = {question.name}  # all were put off: start over, with this question last
        path = f"/i/{view.key}"
        response = redirect(path)
        cookie = format_deferred(deferred, _question_names(view))
        set_cookie(request, response, DEFERRED_COOKIE, cookie, path=path)
        return response

    def _render(
        self,
        request: Request,
        template: str,
        context: Mapping[str, Any],
        *,
        view: InterviewView,
        status: int = 200,
    ) -> HTMLResponse:
        return self.frame.render(
            request, template, context, questionnaire=view.questionnaire, status=status
        )


def _question_address(view: InterviewView) -> str:
    return f"/i/{view.key}/question/{len(view.interview.record.answers) + 1}"


def _next_address(request: Request, view: InterviewView) -> str:
    """Return the address of the next question, or of the result."""
    is_over = _next_question(view, _read_deferred(request, view)) is None
    return f"/i/{view.key}/result" if is_over else _question_address(view)


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


def _parse_digits(text: str, *, max_digits: int) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) <= max_digits
    return int(text) if is_number else None
