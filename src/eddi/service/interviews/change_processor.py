"""Applies the changes of many interviews at once: one read, one call of the model, one transaction.

The next step is computed before an event is stored, so an answer that breaks the model is not stored. An
append that fails because another server was first is tried again with the interview's new history.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eddi.interview.interview import Interview
from eddi.interview.next_step import NextStep
from eddi.service import logs
from eddi.service.errors import InterviewConflictError, InterviewMovedError
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.change_queue import Change, PendingChange
from eddi.service.interviews.history import Histories, History, interview_stream
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.limits.exposure_counts import CountedAnswer, ExposureTracker
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.outcomes.outcome import without_outcomes
from eddi.service.interviews.recent_interviews import RecentInterview, RecentInterviews
from eddi.store.base import Event, PendingAppend, Store, StoreConflict, StoreError

_log = logging.getLogger(__name__)

KEY_REUSED = "this Idempotency-Key was already used for another request. Use a new key for each request."
MAX_ATTEMPTS = 8  # to append an event while other requests change the same interview


@dataclass(eq=False)
class _Attempt:
    """An attempt to apply a change to the history of its interview.

    Args:
        pending: the change that was requested.
        history: of the interview.
        before: the step before the change, if it is known.
        is_from_cache: whether the history may be out of date.
    """

    pending: PendingChange
    history: History
    before: NextStep | None = None
    is_from_cache: bool = False
    change: Change | None = None  # None if the request is a repeated one
    interview: Interview | None = None
    step: NextStep | None = None
    appends: list[PendingAppend] = field(default_factory=list)
    error: Exception | None = None


class ChangeProcessor:
    """Applies changes of interviews.

    Args:
        store: keeps the events.
        histories: reads them.
        batcher: computes the next steps.
        metrics: counts interviews and answers.
        exposure: counts how often questions are asked, where that is limited.
    """

    def __init__(
        self,
        store: Store,
        histories: Histories,
        *,
        batcher: Batcher,
        metrics: Metrics,
        exposure: ExposureTracker,
    ) -> None:
        self.store, self.histories, self.batcher, self.metrics = store, histories, batcher, metrics
        self.exposure = exposure
        self.recent = RecentInterviews()

    def apply(self, changes: Sequence[PendingChange]) -> None:
        """Apply changes, and set the result of each."""
        waiting = list(changes)
        while waiting:
            first, later = _split_by_interview(waiting)
            waiting = [*self._apply_once(first), *later]

    def _apply_once(self, changes: Sequence[PendingChange]) -> list[PendingChange]:
        """Apply one change per interview; return those that have to be tried again."""
        attempts = self._load(changes)
        for attempt in attempts:
            self._prepare(attempt)
        self._compute_steps([attempt for attempt in attempts if attempt.error is None])
        self._append([attempt for attempt in attempts if attempt.error is None])
        self._count_exposure([attempt for attempt in attempts if attempt.error is None])
        return [attempt.pending for attempt in attempts if not self._finish(attempt)]

    def _load(self, changes: Sequence[PendingChange]) -> list[_Attempt]:
        """Find the history of each interview: new, in memory, or in the store."""
        attempts: dict[str, _Attempt] = {}
        for change in changes:
            if change.start is not None:
                attempts[change.key] = _Attempt(change, change.start)
            elif change.may_use_cache and (entry := self.recent.get(change.key)) is not None:
                attempts[change.key] = _Attempt(change, entry.history, entry.step, is_from_cache=True)
        others = [change for change in changes if change.key not in attempts]
        histories = self.histories.read_all([change.key for change in others]) if others else {}
        for change in others:
            found = histories[change.key]
            if isinstance(found, History):
                attempts[change.key] = _Attempt(change, found)
            else:
                change.result.set_exception(found)
        return list(attempts.values())

    def _prepare(self, attempt: _Attempt) -> None:
        try:
            self._make_change(attempt)
        except Exception as error:  # an invalid answer, or an outdated version
            attempt.error = error

    def _make_change(self, attempt: _Attempt) -> None:
        pending, history = attempt.pending, attempt.history
        if pending.idempotency_key is not None:
            earlier = history.up_to_request(pending.idempotency_key)
            if earlier is not None:
                self._check_repeated(attempt, earlier)
                attempt.history, attempt.interview = earlier, earlier.interview()
                return
        _check_version(history, pending.after)
        change = pending.make_change(history)
        if change.kind == "told":
            self._record_propensity(attempt, change)
        if pending.idempotency_key is not None and pending.start is None:
            change.facts["request"] = pending.idempotency_key
        attempt.change, attempt.interview = change, change.interview

    def _record_propensity(self, attempt: _Attempt, change: Change) -> None:
        """Add the probability with which the answered question was chosen, if questions are random."""
        interview = attempt.history.interview()
        if interview.rules.exploration is None:
            return
        step = attempt.before or self.batcher.next_steps([interview])[0]
        if not isinstance(step, NextStep) or step.question is None:
            return
        if step.question.name == change.facts["question"]:
            change.facts["propensity"] = step.propensity

    def _check_repeated(self, attempt: _Attempt, earlier: History) -> None:
        """Check that a repeated request asks for the same as the first time."""
        is_closed = earlier.events[-1].kind == "closed"
        event = earlier.events[-2] if is_closed else earlier.events[-1]
        before = self.histories.build(earlier.key, attempt.history.events[: event.number - 1])
        change = attempt.pending.make_change(before)
        added = ("request", "propensity")  # by this processor
        stored_facts = {name: fact for name, fact in event.facts.items() if name not in added}
        if (change.kind, change.facts) != (event.kind, stored_facts):
            raise InterviewConflictError(KEY_REUSED)

    def _compute_steps(self, attempts: Sequence[_Attempt]) -> None:
        interviews = [attempt.interview for attempt in attempts if attempt.interview is not None]
        for attempt, step in zip(attempts, self.batcher.next_steps(interviews), strict=True):
            if isinstance(step, NextStep):
                attempt.step = step
            else:
                attempt.error = step

    def _append(self, attempts: Sequence[_Attempt]) -> None:
        """Store the events of all changes in one transaction."""
        for attempt in attempts:
            if attempt.change is not None and attempt.step is not None:
                attempt.appends = _list_appends(attempt.history, attempt.change, attempt.step)
        requests = [request for attempt in attempts for request in attempt.appends]
        try:
            self.store.append_all(requests)
        except Exception as error:  # nothing was written
            for attempt in attempts:
                attempt.error = error if attempt.appends else None
            return
        for attempt in attempts:
            if attempt.appends:
                attempt.error = attempt.appends[0].error

    def _count_exposure(self, attempts: Sequence[_Attempt]) -> None:
        """Count the questions that were answered. An answer that is stored stays valid if this fails."""
        answers = [
            CountedAnswer.find(
                attempt.history.questionnaire, attempt.history.events, attempt.change.facts["question"]
            )
            for attempt in attempts
            if attempt.change is not None and attempt.change.kind == "told"
        ]
        try:
            self.exposure.count(answer for answer in answers if answer is not None)
        except StoreError as error:
            _log.error("exposure", extra={logs.FIELDS: {"error": logs.describe_error(error)}})

    def _finish(self, attempt: _Attempt) -> bool:
        """Set the result of a change; return False if it has to be tried again."""
        pending = attempt.pending
        if attempt.error is not None:
            return self._finish_failed(attempt, attempt.error)
        assert attempt.interview is not None  # noqa: S101  # there is no error
        assert attempt.step is not None  # noqa: S101
        history = attempt.history
        if attempt.change is not None:
            history = self._remember(attempt, attempt.change, attempt.step)
            self._count(attempt, attempt.change, attempt.step)
        self._note_time(pending)
        view = InterviewView(
            history.key, history.version, history.questionnaire, attempt.interview, attempt.step
        )
        pending.result.set_result(view)
        return True

    def _finish_failed(self, attempt: _Attempt, error: Exception) -> bool:
        pending = attempt.pending
        if attempt.is_from_cache:
            self.recent.drop(pending.key)
            pending.may_use_cache = False
            return False
        if isinstance(error, StoreConflict) and pending.start is None:
            pending.n_attempts += 1
            if pending.n_attempts < MAX_ATTEMPTS:
                return False  # with ``after``, the next attempt reports the conflict
            error = InterviewMovedError(
                "other requests are changing this interview at the same time. Load it again."
            )
        self._note_time(pending)
        pending.result.set_exception(error)
        return True

    def _note_time(self, pending: PendingChange) -> None:
        if pending.is_timed:
            self.metrics.next_question.observe(time.perf_counter() - pending.started_at)

    def _remember(self, attempt: _Attempt, change: Change, step: NextStep) -> History:
        """Return the history after a change, and keep it for the next one."""
        events: list[Event] = [append.event for append in attempt.appends if append.event is not None]
        history = replace(
            attempt.history,
            events=(*attempt.history.events, *events),
            record=change.interview.record,
            last_interview=change.interview,
        )
        self.recent.put(RecentInterview(history, step))
        return history

    def _count(self, attempt: _Attempt, change: Change, step: NextStep) -> None:
        key, questionnaire = attempt.history.key, attempt.history.questionnaire
        if change.kind == "opened":
            self.metrics.count_interview(questionnaire.name, "opened")
        if step.question is None:
            self.metrics.count_interview(questionnaire.name, "closed")
        else:
            self.metrics.observe_reward(key, step.rewards[step.question.name])
        if change.kind == "told":
            self.metrics.observe_answer(
                questionnaire,
                change.interview.record.answers[-1],
                before=attempt.before,
                after=step.predictions,
                interview=key,
            )


def _split_by_interview(
    changes: Sequence[PendingChange],
) -> tuple[list[PendingChange], list[PendingChange]]:
    """Return the first change of each interview, and all others."""
    first: dict[str, PendingChange] = {}
    for change in changes:
        first.setdefault(change.key, change)
    return list(first.values()), [change for change in changes if first[change.key] is not change]


def _list_appends(history: History, change: Change, step: NextStep) -> list[PendingAppend]:
    """Return the event of a change, and "closed" if it ends the interview."""
    stream, version = interview_stream(history.key), history.version
    appends = [PendingAppend(stream, change.kind, change.facts, after=version)]
    if step.question is None:
        reason = "enough" if step.rewards else "nothing left"
        appends.append(PendingAppend(stream, "closed", {"why": reason}, after=version + 1))
    return appends


def _check_version(history: History, after: int | None) -> None:
    if after is None:
        return
    # An outcome, which analysts record, does not change the interview of the respondent.
    is_current = 0 <= after <= history.version and not without_outcomes(history.events[after:])
    if not is_current:
        raise InterviewMovedError(
            f"the interview is at version {history.version}, but this request is for version {after}. "
            "Load the interview again, then repeat the request if it still applies."
        )
