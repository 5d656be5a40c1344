"""The events of an interview, and the record that they add up to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eddi.interview.interview import Interview
from eddi.interview.record import Answer, Record
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.store.base import Event


@dataclass(frozen=True)
class History:
    """The stored events of an interview.

    Args:
        key: the interview's secret key.
        events: all events so far, or the first few of them.
        questionnaire: the version that the interview started with.
        record: the answers after these events.
    """

    key: str
    events: tuple[Event, ...]
    questionnaire: Questionnaire
    record: Record

    @property
    def version(self) -> int:
        """The number of events."""
        return len(self.events)

    def interview(self, record: Record | None = None) -> Interview:
        """Return the interview with its record, or with another one."""
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
                return replace(self, events=events, record=replay(self.key, events))
        return None


def replay(key: str, events: Sequence[Event]) -> Record:
    """Return the record that results from the events of an interview."""
    record = Record(tuple(events[0].facts["target"]), (), key)
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
