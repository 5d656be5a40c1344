"""How often the questions of a questionnaire were asked, in the store, and what is withheld from whom.

Each process of a server adds its counts to a stream of its own, ``exposure/<questionnaire>/<process>``, so no
two writers wait for each other. All processes read all of these streams, and now and then write their sum to
``exposure/<questionnaire>/sum``, from which a new process goes on. An event has numbers of respondents
only: no answer, and nothing that leads to an interview. So the counts remain when an interview is erased.
"""

import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from eddi.service.interviews.questionnaire import Questionnaire
from eddi.store.base import Event, Store, StoreConflict
from eddi.strategy.exposure import Exposure, ExposureCounts
from eddi.table.question import Question

PREFIX = "exposure/"  # of the streams
EVENTS_PER_SUM = 1_000  # that are read between two sums


@dataclass
class QuestionCounts:
    """Counts of respondents by name of the question.

    Args:
        n_respondents: those who answered at least one question.
        n_withheld: those from whom a question was withheld.
        n_asked: those who answered it, with or without a value.
    """

    n_respondents: int = 0
    n_withheld: Counter[str] = field(default_factory=Counter)
    n_asked: Counter[str] = field(default_factory=Counter)

    def add(self, facts: Mapping[str, Any]) -> None:
        """Add the counts of an event."""
        self.n_respondents += facts.get("respondents", 0)
        self.n_withheld.update(facts.get("withheld", {}))
        self.n_asked.update(facts.get("asked", {}))

    def to_facts(self) -> dict[str, Any]:
        """The counts as plain JSON."""
        return {
            "respondents": self.n_respondents,
            "withheld": dict(self.n_withheld),
            "asked": dict(self.n_asked),
        }

    def rate(self, question: str) -> float:
        """The share of respondents who were asked a question."""
        return self.n_asked[question] / max(self.n_respondents, 1)

    def for_questions(self, questions: Iterable[Question]) -> ExposureCounts:
        """The counts in the order of these questions."""
        names = [question.name for question in questions]
        withheld = np.array([self.n_withheld[name] for name in names], dtype=np.int64)
        asked = np.array([self.n_asked[name] for name in names], dtype=np.int64)
        return ExposureCounts(self.n_respondents, self.n_respondents - withheld, asked)


class ExposureTracker:
    """Counts questions, and draws those that are withheld from a new respondent.

    Args:
        store: keeps the counts.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._process = secrets.token_hex(8)
        self._n_read: Counter[str] = Counter()  # events of each stream
        self._n_written: Counter[str] = Counter()
        self._n_after_sum: Counter[str] = Counter()  # by questionnaire
        self._counts: dict[str, QuestionCounts] = {}
        self._lock = threading.Lock()

    def read(self, key: str) -> QuestionCounts:
        """Return the counts of the questionnaire with this key, as of now."""
        with self._lock:
            if key not in self._counts:
                self._counts[key] = self._read_sum(key)
            counts = self._counts[key]
            streams = [s for s in self.store.streams(f"{PREFIX}{key}/") if s != _sum_stream(key)]
            for stream in streams:
                for event in self.store.read(stream, after=self._n_read[stream]):
                    counts.add(event.facts)
                    self._n_read[stream] = event.number
                    self._n_after_sum[key] += 1
            if self._n_after_sum[key] >= EVENTS_PER_SUM:
                self._write_sum(key, counts, streams)
            return counts

    def _read_sum(self, key: str) -> QuestionCounts:
        """Return the counts up to the last sum, so that a process that starts need not read all events."""
        counts = QuestionCounts()
        for _, last in self.store.read_ends(_sum_stream(key)):
            counts.add(last.facts)
            self._n_read.update(last.facts["read"])
        return counts

    def _write_sum(self, key: str, counts: QuestionCounts, streams: Sequence[str]) -> None:
        facts = counts.to_facts() | {"read": {stream: self._n_read[stream] for stream in streams}}
        self._n_after_sum[key] = 0
        ends = [last.number for _, last in self.store.read_ends(_sum_stream(key))]
        with suppress(StoreConflict):  # another process has just written one
            self.store.append(_sum_stream(key), "summed", facts, after=max(ends, default=0))

    def draw_withheld(self, questionnaire: Questionnaire, interview_key: str) -> tuple[str, ...]:
        """Return the questions that are withheld from a new interview; none without a limit."""
        limit = questionnaire.settings.max_exposure
        if not limit:
            return ()
        questions = questionnaire.model.schema.questions
        counts = self.read(questionnaire.stream_key).for_questions(questions)
        sections = np.array([question.section for question in questions])
        uniform = _draw_uniform(interview_key, 1 + 2 * len(questions))
        withheld = Exposure(limit).draw_withheld(counts, sections, uniform=uniform[None])[0]
        return tuple(
            question.name for question, is_out in zip(questions, withheld, strict=True) if is_out
        )

    def count(self, answers: Iterable["CountedAnswer"]) -> None:
        """Store the counts of some answers, as one event for each questionnaire.

        Only one thread may call this.
        """
        by_questionnaire: dict[str, QuestionCounts] = {}
        for answer in answers:
            answer.add_to(by_questionnaire.setdefault(answer.questionnaire, QuestionCounts()))
        for key, counts in by_questionnaire.items():
            stream = f"{PREFIX}{key}/{self._process}"
            event = self.store.append(
                stream, "counted", counts.to_facts(), after=self._n_written[stream]
            )
            self._n_written[stream] = event.number


@dataclass(frozen=True)
class CountedAnswer:
    """A question that a respondent has just answered.

    Args:
        questionnaire: its key.
        question: the name of the question.
        is_first: whether it is the first answer of this respondent.
        withheld: the questions that are withheld from this respondent.
    """

    questionnaire: str
    question: str
    is_first: bool
    withheld: tuple[str, ...]

    @classmethod
    def find(
        cls, questionnaire: Questionnaire, events: Iterable[Event], question: str
    ) -> "CountedAnswer | None":
        """The answer to a question after the events of its interview; None if it does not count.

        It counts if the interview began with a limit, and the question was not answered before, also if
        that answer was removed.
        """
        start, *others = events
        earlier = [event.facts["question"] for event in others if event.kind == "told"]
        if "withheld" not in start.facts or question in earlier:
            return None
        withheld = tuple(start.facts["withheld"])
        return cls(questionnaire.stream_key, question, not earlier, withheld)

    def add_to(self, counts: QuestionCounts) -> None:
        """Add this answer to counts."""
        counts.n_asked[self.question] += 1
        if self.is_first:
            counts.n_respondents += 1
            counts.n_withheld.update(self.withheld)


def _sum_stream(key: str) -> str:
    return f"{PREFIX}{key}/sum"


def _draw_uniform(key: str, n_numbers: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Random numbers in [0, 1) that belong to an interview."""
    seed = int.from_bytes(blake2b(f"{key}/withheld".encode(), digest_size=16).digest(), "big")
    return np.random.default_rng(seed).random(n_numbers)
