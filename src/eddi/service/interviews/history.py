"""The events of an interview, and the record that they add up to."""

import copy
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from eddi.interview.interview import Interview
from eddi.interview.record import Answer, Record
from eddi.service.errors import InterviewNotFoundError, QuestionnaireMissingError
from eddi.service.interviews.questionnaire import Catalogue, Questionnaire
from eddi.store.base import FORGOTTEN, Event, Store

PREFIX = "interview/"  # of the streams of interviews
PERSON_DIGITS = 16  # hexadecimal digits of the name of a person
KEY_PATTERN = re.compile(r"[0-9a-f]{32}")  # 128 random bits, so that keys cannot be guessed


@dataclass(frozen=True)
class History:
    """The stored events of an interview.

    Args:
        key: the interview's secret key.
        events: all events so far, or the first few of them.
        questionnaire: the version that the interview started with.
        record: the answers after these events.
        last_interview: the interview with this record, if it was built before.
    """

    key: str
    events: tuple[Event, ...]
    questionnaire: Questionnaire
    record: Record
    last_interview: Interview | None = field(default=None, compare=False, repr=False)

    @property
    def version(self) -> int:
        """The number of events."""
        return len(self.events)

    def interview(self, record: Record | None = None) -> Interview:
        """Return the interview with its record, or with another one."""
        if record is None and self.last_interview is not None:
            return copy.copy(self.last_interview)
        return self.questionnaire.interview(record=record or self.record)

    def up_to_request(self, idempotency_key: str) -> "History | None":
        """Return the history just after the request with this key; None if there was no such request.

        A "closed" event that directly follows belongs to the same request.
        """
        for number, event in enumerate(self.events, start=1):
            if event.facts.get("request") == idempotency_key:
                next_events = self.events[number : number + 1]
                is_closed = bool(next_events) and next_events[0].kind == "closed"
                events = self.events[: number + is_closed]
                record = replay(self.key, events)
                return replace(self, events=events, record=record, last_interview=None)
        return None


class Histories:
    """Reads the histories of interviews.

    Args:
        store: keeps the events.
        catalogue: the questionnaires.
    """

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self.store, self.catalogue = store, catalogue

    def read(self, key: str) -> History:
        """Return the history of an interview.

        Raises:
            InterviewNotFoundError: there is no interview with this key.
            QuestionnaireMissingError: it started with a model that this server does not have.
        """
        return self.build(key, self.read_events(key))

    def read_events(self, key: str) -> list[Event]:
        """Return the events of an interview.

        Raises:
            InterviewNotFoundError: there is no interview with this key.
        """
        events = self.store.read(interview_stream(key)) if KEY_PATTERN.fullmatch(key) else []
        return _check_events(events)

    def read_all(self, keys: Sequence[str]) -> dict[str, History | Exception]:
        """Return the history of each interview, or the error of reading it."""
        streams = [interview_stream(key) for key in keys if KEY_PATTERN.fullmatch(key)]
        stored = self.store.read_all(streams)
        found: dict[str, History | Exception] = {}
        for key in keys:
            try:
                found[key] = self.build(key, _check_events(stored.get(interview_stream(key), [])))
            except Exception as error:  # each request receives its own error
                found[key] = error
        return found

    def build(self, key: str, events: Sequence[Event]) -> History:
        """Return the history that consists of these events."""
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
        questionnaire = questionnaire.with_selection(start.get("selection", {}))
        return History(key, tuple(events), questionnaire, replay(key, events))


def interview_stream(key: str) -> str:
    """Return the name of the stream of an interview."""
    return f"{PREFIX}{key}"


def name_person(key: str) -> str:
    """Return the name under which analysts know an interview; its key cannot be found from it."""
    return hashlib.sha256(f"person/{key}".encode()).hexdigest()[:PERSON_DIGITS]


def belongs_to(events: Sequence[Event], questionnaire: str) -> bool:
    """Whether an interview was held with the questionnaire that has this key."""
    facts = events[0].facts
    return bool(facts.get("key", facts.get("questionnaire")) == questionnaire)


def _check_events(events: list[Event]) -> list[Event]:
    if not events or events[-1].kind == FORGOTTEN:
        raise InterviewNotFoundError(
            "there is no such interview: it was never started, or it was forgotten."
        )
    return events


def replay(key: str, events: Sequence[Event]) -> Record:
    """Return the record that results from the events of an interview."""
    start = events[0].facts
    record = Record(tuple(start["target"]), (), key, tuple(start.get("withheld", ())))
    for event in events[1:]:
        if event.kind == "told":
            record = record.plus(Answer.from_document(event.facts))
        elif event.kind == "changed":
            record = replace_answer(record, Answer.from_document(event.facts))
        elif event.kind == "undone":
            record = record.minus_last()
    return record


def replace_answer(record: Record, new: Answer) -> Record:
    """Return the record with ``new`` in place of the earlier answer to the same question."""
    answers = (new if answer.question == new.question else answer for answer in record.answers)
    return replace(record, answers=tuple(answers))
