"""Opens interviews, goes on with them, and keeps what was answered. Knows nothing of HTTP.

An interview is its events: "opened", then "told", "changed" and "undone" in any order, and "closed" each
time it is enough. What is shown of it is worked out anew from these, so that any server on the same
store shows the same.
"""

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from eddi.errors import EddiError
from eddi.interview.documents import parse_answer
from eddi.interview.documents import resume as resume_step
from eddi.interview.interview import Interview
from eddi.interview.next_step import NextStep
from eddi.interview.record import Record
from eddi.model.prediction import Prediction
from eddi.service.interviews.batcher import Batcher
from eddi.service.interviews.history import Past, replaced, replayed
from eddi.service.interviews.idempotency import claimed
from eddi.service.interviews.metrics import Metrics
from eddi.service.interviews.questionnaire import Catalogue, Questionnaire, rules_of
from eddi.store.base import FORGOTTEN, Event, Store, StoreConflict
from eddi.table.question import Question

Deed = tuple[Interview, str, dict[str, Any]]  # the interview after it, and the event's kind and facts
Act = Callable[[Past], Deed]

KEY_SHAPE = re.compile(r"[0-9a-f]{32}")  # 128 random bits: nobody finds another's interview
USED_BEFORE = "this Idempotency-Key was used for another request already. Make up a new one for each."
ATTEMPTS = 8  # at an answer that others, who said nothing of what they saw, keep getting before


class InterviewNotFoundError(EddiError, LookupError):
    """There is no such interview, or it was forgotten."""


class InterviewMovedError(EddiError, RuntimeError):
    """Somebody else, or another tab, was first: the interview is not as it was shown."""


class InterviewConflictError(EddiError, ValueError):
    """What was asked cannot be done to the interview as it stands."""


class QuestionnaireMissingError(EddiError, LookupError):
    """The interview began with a model that this server does not have."""


@dataclass(frozen=True)
class Sitting:
    """All that is shown of one interview, worked out once.

    Args:
        key: the secret by which it is resumed.
        version: how many events it has; goes up with every change.
        interview: its answers and rules.
        step: its next question, predictions and rewards.
    """

    key: str
    version: int
    questionnaire: Questionnaire
    interview: Interview
    step: NextStep

    @property
    def question(self) -> Question | None:
        """The next question; None if the interview is over."""
        return self.step.question

    @property
    def predictions(self) -> Mapping[str, Prediction]:
        """The prediction of each target."""
        return self.step.predictions

    @property
    def rewards(self) -> Mapping[str, float]:
        """Expected information of each open question in nats, highest first."""
        return self.step.rewards

    @property
    def prediction(self) -> Prediction:
        """What is believed about the (first) target."""
        return self.predictions[self.interview.target[0]]


class Desk:
    """Where respondents come to: opens, resumes and saves interviews.

    Args:
        store: what remembers.
        catalogue: what is served; new interviews take what is current.
        batcher: who works out the next questions.
        metrics: what is counted.
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
        self.metrics = metrics or Metrics()
        self.batcher = batcher or Batcher(on_batch=self.metrics.batch_size.observe)

    @property
    def current(self) -> Questionnaire:
        """What new interviews are held by."""
        return self.catalogue.current()

    def open(
        self,
        *,
        target: str | Sequence[str] | None = None,
        questionnaire: str | None = None,
        request: str | None = None,
    ) -> Sitting:
        """Begin an interview, of the questionnaire of this name or of the first.

        Args:
            target: what it shall find out; what the questionnaire wants to know where None.
            questionnaire: a name; the first of the catalogue where None.
            request: names this request, by words nobody guesses: the same again begins no other
                interview, and is answered the same.

        Raises:
            TargetError: the model has no such variable.
            NothingPublishedError: there is no questionnaire.
            InterviewConflictError: ``request`` asked for something else before.
        """
        with self.metrics.next_question.time():
            ours = self.catalogue.current(questionnaire)
            names = ours.model.schema.target_names(target or ours.target)
            if request is None:
                return self._opened(secrets.token_hex(16), ours, names)
            wanted = {"target": target, "questionnaire": questionnaire}
            claim = claimed(self.store, request, wanted)
            if claim.wanted != wanted:
                raise InterviewConflictError(USED_BEFORE)
            if claim.interview and not self.store.read(_stream(claim.interview)):
                with suppress(StoreConflict):  # then the same request began it at this very moment
                    return self._opened(claim.interview, ours, names, claim.stream)
            return self._as_it_began(claim.interview)

    def _opened(
        self, key: str, ours: Questionnaire, names: tuple[str, ...], opening: str | None = None
    ) -> Sitting:
        past = Past(key, (), ours, Record(names, (), key))
        facts = {
            "questionnaire": ours.name,
            "version": ours.version,
            "model": ours.seal,
            "target": list(names),
            "rules": rules_of(ours.stop),
            **({"opening": opening} if opening else {}),
        }
        sitting = self._saved(past, past.interview(), "opened", facts)
        self.metrics.interviews.labels("opened").inc()
        return sitting

    def _as_it_began(self, key: str) -> Sitting:
        """What the opening of an interview was answered with."""
        events = self._events(key)
        closed = events[1:2] if events[1:2] and events[1].kind == "closed" else []
        past = self._past_of(key, [*events[:1], *closed])
        return self._sitting(past, past.interview())

    def resume(self, key: str) -> Sitting:
        """An interview as it stands.

        Raises:
            InterviewNotFoundError: there is none of this key.
            QuestionnaireMissingError: it began with another model.
        """
        past = self._past(key)
        return self._sitting(past, past.interview())

    def ask(self, document: Any) -> Sitting:
        """One step of an interview that is kept elsewhere, as `eddi ask` takes it; nothing is saved."""
        ours = self.current
        named = isinstance(document, Mapping) and document.get("target")
        interview = resume_step(
            ours.model, document, None if named else ours.target, strategy=ours.strategy, stop=ours.stop
        )
        return self._sitting(Past("", (), ours, interview.record), interview)

    def tell(
        self,
        key: str,
        question: str,
        values: Any,
        *,
        after: int | None = None,
        request: str | None = None,
    ) -> Sitting:
        """Record an answer, and say what comes next. When this returns, the answer is kept.

        Args:
            key: the interview.
            question: the question or variable that is answered.
            values: a value; null where nobody knows; ``{"without": "declined"}``; a list of these in
                the order the question reveals; or an object of them by variable.
            after: the version the answer was given at; any where None.
            request: names this request: the same again changes nothing, and is answered the same.

        Raises:
            AnswerError: the answer does not fit.
            InterviewMovedError: the interview is no longer at ``after``.
            InterviewConflictError: the question was answered already.
        """
        said = _said(values)

        def told(past: Past) -> Deed:
            interview = past.interview()
            if question in interview.record.answered_questions():
                raise InterviewConflictError(
                    f"{question!r} was answered already. Undo or change that answer instead."
                )
            interview.tell(question, *said)
            return interview, "told", interview.record.answers[-1].to_document()

        with self.metrics.next_question.time():
            sitting, new = self._changed(key, told, after=after, request=request)
            if new:
                self._note(sitting)
            return sitting

    def change(
        self,
        key: str,
        question: str,
        values: Any,
        *,
        after: int | None = None,
        request: str | None = None,
    ) -> Sitting:
        """Replace the answer to ``question`` by another; those before and after it stay.

        Raises:
            InterviewConflictError: the question was not answered yet.
        """
        said = _said(values)

        def changed(past: Past) -> Deed:
            if question not in past.record.answered_questions():
                raise InterviewConflictError(f"{question!r} was not answered yet. Answer it instead.")
            others = tuple(one for one in past.record.answers if one.question != question)
            probe = past.interview(replace(past.record, answers=others))
            probe.tell(question, *said)
            answer = probe.record.answers[-1]
            return past.interview(replaced(past.record, answer)), "changed", answer.to_document()

        return self._changed(key, changed, after=after, request=request)[0]

    def undo(self, key: str, *, after: int | None = None, request: str | None = None) -> Sitting:
        """Take the last answer back.

        Raises:
            InterviewConflictError: there is no answer.
        """

        def undone(past: Past) -> Deed:
            if not past.record.answers:
                raise InterviewConflictError("there is no answer to undo.")
            return past.interview(past.record.minus_last()), "undone", {}

        return self._changed(key, undone, after=after, request=request)[0]

    def forget(self, key: str) -> None:
        """Erase all answers of an interview for good."""
        opened = self._events(key)[0].facts
        if "opening" in opened:
            self.store.forget(opened["opening"])
        self.store.forget(_stream(key))
        self.metrics.interviews.labels("forgotten").inc()

    def check(self) -> None:
        """Whether interviews can be held just now.

        Raises:
            StoreError: the store does not answer.
            BusyError: the model does not answer.
        """
        self.store.read("ready/check")
        self.batcher.check()

    def close(self) -> None:
        """Serve those who wait, then let go of the store."""
        self.batcher.close()
        self.store.close()

    def _note(self, sitting: Sitting) -> None:
        """Count the last answer, and what it told, if the belief before it is still remembered."""
        record = sitting.interview.record
        before = self.batcher.cached_step(sitting.questionnaire.interview(record=record.minus_last()))
        after = sitting.predictions
        self.metrics.answered(sitting.questionnaire, record.answers[-1], before=before, after=after)

    def _changed(
        self,
        key: str,
        act: Act,
        *,
        after: int | None,
        request: str | None,
    ) -> tuple[Sitting, bool]:
        """Do ``act`` to the interview as it stands; and whether it was not done before."""
        for _ in range(ATTEMPTS):
            past = self._past(key)
            if request is not None and (earlier := past.until(request)) is not None:
                return self._repeated(earlier, past, act), False
            _check_version(past, after)
            interview, kind, facts = act(past)
            if request is not None:
                facts["request"] = request
            try:
                return self._saved(past, interview, kind, facts), True
            except StoreConflict:
                continue  # with ``after`` the next look says that it moved
        raise InterviewMovedError("others answer this interview at the same moment. Load it again.")

    def _saved(self, past: Past, interview: Interview, kind: str, facts: Mapping[str, Any]) -> Sitting:
        """Work out what comes next, then keep the event: what cannot be computed with is not kept."""
        sitting = self._sitting(past, interview)
        version = self.store.append(_stream(past.key), kind, facts, after=past.version).number
        if sitting.question is None:
            version = self._close(past.key, version, "enough" if sitting.rewards else "nothing left")
        else:
            self.metrics.reward.observe(sitting.rewards[sitting.question.name])
        return replace(sitting, version=version)

    def _close(self, key: str, version: int, why: str) -> int:
        self.metrics.interviews.labels("closed").inc()
        try:
            return self.store.append(_stream(key), "closed", {"why": why}, after=version).number
        except StoreConflict:  # somebody went on already, and it is not over
            return version

    def _repeated(
        self,
        earlier: Past,
        now: Past,
        act: Act,
    ) -> Sitting:
        """What the same request was answered with before."""
        done = earlier.events[-1] if earlier.events[-1].kind != "closed" else earlier.events[-2]
        before = self._past_of(now.key, now.events[: done.number - 1])
        _, kind, facts = act(before)
        if (kind, facts) != (done.kind, {k: v for k, v in done.facts.items() if k != "request"}):
            raise InterviewConflictError(USED_BEFORE)
        return self._sitting(earlier, earlier.interview())

    def _sitting(self, past: Past, interview: Interview) -> Sitting:
        step = self.batcher.next_step(interview)
        return Sitting(past.key, past.version, past.questionnaire, interview, step)

    def _past(self, key: str) -> Past:
        return self._past_of(key, self._events(key))

    def _events(self, key: str) -> list[Event]:
        events = self.store.read(_stream(key)) if KEY_SHAPE.fullmatch(key) else []
        if not events or events[-1].kind == FORGOTTEN:
            raise InterviewNotFoundError(
                "there is no such interview: it was never begun, or was forgotten."
            )
        return events

    def _past_of(self, key: str, events: Sequence[Event]) -> Past:
        opened = events[0].facts
        found = self.catalogue.find(opened["questionnaire"], opened["version"], opened["model"])
        if found is None:
            raise QuestionnaireMissingError(
                f"this interview began with version {opened['version']} of {opened['questionnaire']!r}, "
                "whose model this server does not have. Serve that model file to go on."
            )
        ruled = found.ruled(opened["rules"]) if "rules" in opened else found
        return Past(key, tuple(events), ruled, replayed(key, events))


def _said(values: Any) -> list[Any]:
    """What `Interview.tell` takes for an answer as JSON has it."""
    return [parse_answer(one) for one in values] if isinstance(values, list) else [parse_answer(values)]


def _check_version(past: Past, after: int | None) -> None:
    if after is not None and after != past.version:
        raise InterviewMovedError(
            f"the interview has moved on: it is at version {past.version}, and this was meant for "
            f"version {after}. Load it again, then decide."
        )


def _stream(key: str) -> str:
    return f"interview/{key}"
