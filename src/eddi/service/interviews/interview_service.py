"""The interview service: starts, resumes and changes interviews. It does not depend on HTTP.

An interview is stored as events: "opened", then "told", "changed" and "undone" in any order, and "closed"
whenever the stopping rule is met or no question is left. Analysts may add an "outcome" at any time. The
view of an interview is always computed from its events. Every server on the same store therefore shows
the same.
"""

import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from eddi.interview.documents import parse_answer
from eddi.interview.documents import resume as resume_from_document
from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.service.errors import InterviewConflictError
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.change_processor import KEY_REUSED, ChangeProcessor
from eddi.service.interviews.change_queue import Change, ChangeQueue, PendingChange
from eddi.service.interviews.history import Histories, History, interview_stream, replace_answer
from eddi.service.interviews.idempotency import Claim, claim_interview_key
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.limits.admission import Admission
from eddi.service.interviews.limits.exposure_counts import ExposureTracker
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.questionnaire import Catalogue, Questionnaire, stop_to_document
from eddi.store.base import Store, StoreConflict


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
        self.exposure = ExposureTracker(store)
        self.metrics = metrics or Metrics()
        self.batcher = batcher or Batcher(on_batch=self.metrics.batch_size.observe)
        self.histories = Histories(store, catalogue)
        self.processor = ChangeProcessor(
            store,
            self.histories,
            batcher=self.batcher,
            metrics=self.metrics,
            exposure=self.exposure,
        )
        self.changes = ChangeQueue(self.processor.apply)

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
        if idempotency_key is None:
            return self.queue_start(
                target=target, questionnaire=questionnaire, invitation=invitation
            ).wait()
        parameters = {"target": target, "questionnaire": questionnaire}
        self._resolve_start(target, questionnaire)  # an invalid request claims nothing
        claim = claim_interview_key(self.store, idempotency_key, parameters)
        if claim.parameters != parameters:
            raise InterviewConflictError(KEY_REUSED)
        if claim.interview_key and not self.store.read(interview_stream(claim.interview_key)):
            with suppress(StoreConflict):  # the same request is being served at the same time
                return self.queue_start(
                    target=target, questionnaire=questionnaire, invitation=invitation, claim=claim
                ).wait()
        return self._first_view(claim.interview_key)

    def queue_start(
        self,
        *,
        target: str | Sequence[str] | None = None,
        questionnaire: str | None = None,
        invitation: str = "",
        claim: Claim | None = None,
    ) -> PendingChange:
        """Start an interview without waiting for it. See `start`."""
        current, target_names = self._resolve_start(target, questionnaire)
        request = claim.stream if claim else secrets.token_hex(16)
        self.admission.admit(current, invitation=invitation, request=request)
        key = claim.interview_key if claim else secrets.token_hex(16)
        withheld = self.exposure.draw_withheld(current, key)
        history = History(key, (), current, Record(target_names, (), key, withheld))
        settings = current.settings
        facts = {
            "questionnaire": current.name,
            "version": current.version,
            "model": current.model_sha256,
            "target": list(target_names),
            "rules": stop_to_document(current.stop),
            "strategy": current.strategy_name,
            **({"key": current.key} if current.key not in ("", current.name) else {}),
            **({"opening": claim.stream} if claim else {}),
            **({"selection": settings.selection} if settings.selection else {}),
            **({"withheld": list(withheld)} if settings.max_exposure else {}),
        }
        change = PendingChange(
            key,
            lambda history: Change(history.interview(), "opened", facts),
            start=history,
            is_timed=True,
        )
        return self.changes.submit(change)

    def is_limited(self, questionnaire: str | None = None) -> bool:
        """Whether starting an interview reads the store: respondents, invitations or exposure."""
        settings = self.catalogue.current(questionnaire).settings
        return bool(settings.max_respondents or settings.needs_invitation or settings.max_exposure)

    def _resolve_start(
        self, target: str | Sequence[str] | None, questionnaire: str | None
    ) -> tuple[Questionnaire, tuple[str, ...]]:
        current = self.catalogue.current(questionnaire)
        return current, current.model.schema.target_names(target or current.target)

    def resume(self, key: str) -> InterviewView:
        """Return an interview in its present state.

        Raises:
            InterviewNotFoundError: there is no interview with this key.
            QuestionnaireMissingError: it started with a model that this server does not have.
        """
        history = self.histories.read(key)
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
            strategy=current.constrained_strategy,
            stop=current.stop,
        )
        return self.next_step(current, interview)

    def next_step(self, questionnaire: Questionnaire, interview: Interview) -> InterviewView:
        """Return an interview that the client keeps, with its next step. Nothing is stored."""
        return self._view(History("", (), questionnaire, interview.record), interview)

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
        return self.queue_answer(
            key,
            question,
            values,
            confirm=confirm,
            after=after,
            idempotency_key=idempotency_key,
        ).wait()

    def queue_answer(
        self,
        key: str,
        question: str,
        values: Any,
        *,
        confirm: bool = False,
        after: int | None = None,
        idempotency_key: str | None = None,
    ) -> PendingChange:
        """Add an answer without waiting for the next step. See `add_answer`."""
        parsed = parse_answer(values)

        def add(history: History) -> Change:
            interview = history.interview()
            if question in interview.record.answered_questions():
                raise InterviewConflictError(
                    f"{question!r} was already answered. Undo or change that answer instead."
                )
            interview.tell(question, parsed, confirm=confirm)
            return Change(interview, "told", interview.record.answers[-1].to_document())

        return self.changes.submit(
            PendingChange(key, add, after, idempotency_key=idempotency_key, is_timed=True)
        )

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

        return self.changes.submit(
            PendingChange(key, change, after, idempotency_key=idempotency_key)
        ).wait()

    def undo(
        self, key: str, *, after: int | None = None, idempotency_key: str | None = None
    ) -> InterviewView:
        """Remove the last answer.

        Raises:
            InterviewConflictError: there is no answer.
        """
        return self.queue_undo(key, after=after, idempotency_key=idempotency_key).wait()

    def queue_undo(
        self, key: str, *, after: int | None = None, idempotency_key: str | None = None
    ) -> PendingChange:
        """Remove the last answer without waiting for the next step. See `undo`."""

        def remove(history: History) -> Change:
            if not history.record.answers:
                raise InterviewConflictError("there is no answer to undo.")
            return Change(history.interview(history.record.minus_last()), "undone", {})

        return self.changes.submit(PendingChange(key, remove, after, idempotency_key=idempotency_key))

    def forget(self, key: str, *, by: str = "") -> None:
        """Erase all answers of an interview permanently; ``by`` says who did, if that is known."""
        facts = self.histories.read_events(key)[0].facts
        if "opening" in facts:
            self.store.forget(facts["opening"], by=by)
        self.store.forget(interview_stream(key), by=by)
        self.processor.recent.drop(key)
        self.metrics.interviews.labels("forgotten").inc()

    def check(self) -> None:
        """Check that interviews can be held.

        Raises:
            StoreError: the store cannot be written.
            BusyError: the model does not respond.
        """
        self.store.check_write()
        self.changes.check()
        self.batcher.check()

    def close(self) -> None:
        """Serve all waiting requests, then close the store."""
        self.changes.close()
        self.batcher.close()
        self.store.close()

    def _first_view(self, key: str) -> InterviewView:
        """Return the view that the start of an interview was answered with."""
        events = self.histories.read_events(key)
        is_closed = len(events) > 1 and events[1].kind == "closed"
        history = self.histories.build(key, events[: 1 + is_closed])
        return self._view(history, history.interview())

    def _view(self, history: History, interview: Interview) -> InterviewView:
        step = self.batcher.next_step(interview)
        return InterviewView(history.key, history.version, history.questionnaire, interview, step)
