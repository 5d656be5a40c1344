"""The interview service: starts, resumes and changes interviews. It does not depend on HTTP.

An interview is stored as events: "opened", then "told", "changed" and "undone" in any order, and "closed"
whenever the stopping rule is met or no question is left. The view of an interview is always computed
from its events. Every server on the same store therefore shows the same.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from eddi.interview.documents import parse_answer
from eddi.interview.documents import resume as resume_from_document
from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.service.errors import (
    InterviewConflictError,
    InterviewMovedError,
    InterviewNotFoundError,
    QuestionnaireMissingError,
)
from eddi.service.interviews.admission import Admission
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.history import History, replace_answer, replay
from eddi.service.interviews.idempotency import claim_interview_key
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.questionnaire import Catalogue, Questionnaire, stop_to_document
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict

KEY_PATTERN = re.compile(r"[0-9a-f]{32}")  # 128 random bits, so that keys cannot be guessed
KEY_REUSED = "this Idempotency-Key was already used for another request. Use a new key for each request."
MAX_ATTEMPTS = 8  # to append an event while other requests change the same interview


class Change(NamedTuple):
    """A change of an interview: its new state, and the event that is stored."""

    interview: Interview
    kind: str
    facts: dict[str, Any]


MakeChange = Callable[[History], Change]


class InterviewService:
    """Starts, resumes and changes interviews.

    Args:
        store: keeps the events of the interviews.
        catalogue: the questionnaires; new interviews use a current one.
        batcher: computes the next steps.
        metrics: counts interviews and answers.
    """

    def __init__(
        self,
        store: Store,
        catalogue: Catalogue,
        *,
        batcher: Batcher | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.store = store
        self.catalogue = catalogue
        self.admission = Admission(store)
        self.metrics = metrics or Metrics()
        self.batcher = batcher or Batcher(on_batch=self.metrics.batch_size.observe)

    def start(
        self,
        *,
        target: str | Sequence[str] | None = None,
        questionnaire: str | None = None,
        invitation: str = "",
        idempotency_key: str | None = None,
    ) -> InterviewView:
        """Start an interview.

        Args:
            target: the target; by default that of the questionnaire.
            questionnaire: its name; by default the first of the catalogue.
            invitation: the token of an invitation, if the questionnaire needs one.
            idempotency_key: an unguessable name of this request. If it is repeated, no second interview
                is started, and the response is the same.

        Raises:
            TargetError: the model has no such variable.
            NothingPublishedError: there is no questionnaire.
            QuestionnaireClosedError: no new interviews can begin.
            InvitationError: the invitation is missing, not valid, or was used.
            InterviewConflictError: ``idempotency_key`` was used with other parameters.
        """
        with self.metrics.next_question.time():
            current = self.catalogue.current(questionnaire)
            target_names = current.model.schema.target_names(target or current.target)
            if idempotency_key is None:
                request = secrets.token_hex(16)
                self.admission.admit(current, invitation=invitation, request=request)
                return self._start(secrets.token_hex(16), current, target_names)
            parameters = {"target": target, "questionnaire": questionnaire}
            claim = claim_interview_key(self.store, idempotency_key, parameters)
            if claim.parameters != parameters:
                raise InterviewConflictError(KEY_REUSED)
            if claim.interview_key and not self.store.read(_stream(claim.interview_key)):
                self.admission.admit(current, invitation=invitation, request=idempotency_key)
                with suppress(StoreConflict):  # the same request is being served at the same time
                    return self._start(claim.interview_key, current, target_names, claim.stream)
            return self._first_view(claim.interview_key)

    def resume(self, key: str) -> InterviewView:
        """Return an interview in its present state.

        Raises:
            InterviewNotFoundError: there is no interview with this key.
            QuestionnaireMissingError: it started with a model that this server does not have.
        """
        history = self._history(key)
        return self._view(history, history.interview())

    def ask(self, document: Any) -> InterviewView:
        """Return the next step of an interview that the client keeps, as in `eddi ask`.

        Nothing is stored.
        """
        current = self.catalogue.current()
        has_target = isinstance(document, Mapping) and document.get("target")
        interview = resume_from_document(
            current.model,
            document,
            None if has_target else current.target,
            strategy=current.strategy,
            stop=current.stop,
        )
        return self._view(History("", (), current, interview.record), interview)

    def add_answer(
        self,
        key: str,
        question: str,
        values: Any,
        *,
        confirm: bool = False,
        after: int | None = None,
        idempotency_key: str | None = None,
    ) -> InterviewView:
        """Add an answer and return the next step. When this returns, the answer is stored.

        Args:
            key: the key of the interview.
            question: the name of the question or variable that is answered.
            values: a value; null if it is not known; ``{"without": "declined"}``; a list of these in
                the order of the question's variables; an object of them by variable; or, for a
                multi-select question, the list of the selected options.
            confirm: whether values outside their range are known to be correct.
            after: the version at which the answer was given; by default any.
            idempotency_key: names this request. If it is repeated, nothing changes, and the response is
                the same.

        Raises:
            AnswerError: the answer is not valid.
            OutOfRangeError: a value is outside its range and not confirmed.
            InterviewMovedError: the interview is no longer at version ``after``.
            InterviewConflictError: the question is already answered.
        """
        parsed = parse_answer(values)

        def add(history: History) -> Change:
            interview = history.interview()
            if question in interview.record.answered_questions():
                raise InterviewConflictError(
                    f"{question!r} was already answered. Undo or change that answer instead."
                )
            interview.tell(question, parsed, confirm=confirm)
            return Change(interview, "told", interview.record.answers[-1].to_document())

        with self.metrics.next_question.time():
            view, is_new = self._apply(key, add, after=after, idempotency_key=idempotency_key)
            if is_new:
                self._count_answer(view)
            return view

    def change_answer(
        self,
        key: str,
        question: str,
        values: Any,
        *,
        confirm: bool = False,
        after: int | None = None,
        idempotency_key: str | None = None,
    ) -> InterviewView:
        """Replace the answer to ``question``; all other answers stay. See `add_answer`.

        Raises:
            InterviewConflictError: the question is not answered yet.
        """
        parsed = parse_answer(values)

        def change(history: History) -> Change:
            record = history.record
            if question not in record.answered_questions():
                raise InterviewConflictError(f"{question!r} is not answered yet. Answer it instead.")
            others = tuple(answer for answer in record.answers if answer.question != question)
            without_answer = history.interview(replace(record, answers=others))
            without_answer.tell(question, parsed, confirm=confirm)
            new = without_answer.record.answers[-1]
            interview = history.interview(replace_answer(record, new))
            return Change(interview, "changed", new.to_document())

        return self._apply(key, change, after=after, idempotency_key=idempotency_key)[0]

    def undo(
        self, key: str, *, after: int | None = None, idempotency_key: str | None = None
    ) -> InterviewView:
        """Remove the last answer.

        Raises:
            InterviewConflictError: there is no answer.
        """

        def remove(history: History) -> Change:
            if not history.record.answers:
                raise InterviewConflictError("there is no answer to undo.")
            return Change(history.interview(history.record.minus_last()), "undone", {})

        return self._apply(key, remove, after=after, idempotency_key=idempotency_key)[0]

    def forget(self, key: str, *, by: str = "") -> None:
        """Erase all answers of an interview permanently; ``by`` says who did, if that is known."""
        facts = self._events(key)[0].facts
        if "opening" in facts:
            self.store.forget(facts["opening"], by=by)
        self.store.forget(_stream(key), by=by)
        self.metrics.interviews.labels("forgotten").inc()

    def check(self) -> None:
        """Check that interviews can be held.

        Raises:
            StoreError: the store cannot be written.
            BusyError: the model does not respond.
        """
        self.store.check_write()
        self.batcher.check()

    def close(self) -> None:
        """Serve all waiting requests, then close the store."""
        self.batcher.close()
        self.store.close()

    def _start(
        self,
        key: str,
        questionnaire: Questionnaire,
        target: tuple[str, ...],
        claim_stream: str | None = None,
    ) -> InterviewView:
        history = History(key, (), questionnaire, Record(target, (), key))
        facts = {
            "questionnaire": questionnaire.name,
            "version": questionnaire.version,
            "model": questionnaire.model_sha256,
            "target": list(target),
            "rules": stop_to_document(questionnaire.stop),
            "strategy": questionnaire.strategy_name,
            **({"opening": claim_stream} if claim_stream else {}),
        }
        view = self._save(history, Change(history.interview(), "opened", facts))
        self.metrics.interviews.labels("opened").inc()
        return view

    def _first_view(self, key: str) -> InterviewView:
        """Return the view that the start of an interview was answered with."""
        events = self._events(key)
        is_closed = len(events) > 1 and events[1].kind == "closed"
        history = self._build_history(key, events[: 1 + is_closed])
        return self._view(history, history.interview())

    def _apply(
        self, key: str, make_change: MakeChange, *, after: int | None, idempotency_key: str | None
    ) -> tuple[InterviewView, bool]:
        """Change an interview; return its view, and whether the request is new."""
        for _ in range(MAX_ATTEMPTS):
            history = self._history(key)
            if idempotency_key is not None:
                earlier = history.up_to_request(idempotency_key)
                if earlier is not None:
                    return self._repeat(history, earlier, make_change), False
            _check_version(history, after)
            change = make_change(history)
            if idempotency_key is not None:
                change.facts["request"] = idempotency_key
            try:
                return self._save(history, change), True
            except StoreConflict:
                continue  # another request was first; with ``after``, the next attempt reports it
        raise InterviewMovedError(
            "other requests are changing this interview at the same time. Load it again."
        )

    def _save(self, history: History, change: Change) -> InterviewView:
        """Compute the next step, then store the event: an answer that breaks the model is not stored."""
        view = self._view(history, change.interview)
        stream = _stream(history.key)
        version = self.store.append(stream, change.kind, change.facts, after=history.version).number
        if view.question is None:
            version = self._close(history.key, version, "enough" if view.rewards else "nothing left")
        else:
            self.metrics.observe_reward(history.key, view.rewards[view.question.name])
        return replace(view, version=version)

    def _close(self, key: str, version: int, reason: str) -> int:
        self.metrics.interviews.labels("closed").inc()
        try:
            return self.store.append(_stream(key), "closed", {"why": reason}, after=version).number
        except StoreConflict:  # another request has already continued the interview
            return version

    def _repeat(self, history: History, earlier: History, make_change: MakeChange) -> InterviewView:
        """Return the view that a repeated request was answered with the first time."""
        is_closed = earlier.events[-1].kind == "closed"
        event = earlier.events[-2] if is_closed else earlier.events[-1]
        before = self._build_history(history.key, history.events[: event.number - 1])
        change = make_change(before)
        stored_facts = {name: fact for name, fact in event.facts.items() if name != "request"}
        if (change.kind, change.facts) != (event.kind, stored_facts):
            raise InterviewConflictError(KEY_REUSED)
        return self._view(earlier, earlier.interview())

    def _count_answer(self, view: InterviewView) -> None:
        """Count the last answer, with its information if the step before it is still cached."""
        record = view.interview.record
        interview_before = view.questionnaire.interview(record=record.minus_last())
        self.metrics.observe_answer(
            view.questionnaire,
            record.answers[-1],
            before=self.batcher.cached_step(interview_before),
            after=view.predictions,
            interview=view.key,
        )

    def _view(self, history: History, interview: Interview) -> InterviewView:
        step = self.batcher.next_step(interview)
        return InterviewView(history.key, history.version, history.questionnaire, interview, step)

    def _history(self, key: str) -> History:
        return self._build_history(key, self._events(key))

    def _events(self, key: str) -> list[Event]:
        events = self.store.read(_stream(key)) if KEY_PATTERN.fullmatch(key) else []
        if not events or events[-1].kind == FORGOTTEN:
            raise InterviewNotFoundError(
                "there is no such interview: it was never started, or it was forgotten."
            )
        return events

    def _build_history(self, key: str, events: Sequence[Event]) -> History:
        start = events[0].facts
        questionnaire = self.catalogue.find(start["questionnaire"], start["version"], start["model"])
        if questionnaire is None:
            raise QuestionnaireMissingError(
                f"this interview started with version {start['version']} of "
                f"{start['questionnaire']!r}, whose model this server does not have. Serve that model "
                "file to continue."
            )
        if "rules" in start:
            questionnaire = questionnaire.with_stop(start["rules"])
        questionnaire = questionnaire.with_strategy(start.get("strategy", "information"))
        return History(key, tuple(events), questionnaire, replay(key, events))


def _check_version(history: History, after: int | None) -> None:
    if after is not None and after != history.version:
        raise InterviewMovedError(
            f"the interview is at version {history.version}, but this request is for version {after}. "
            "Load the interview again, then repeat the request if it still applies."
        )


def _stream(key: str) -> str:
    return f"interview/{key}"
