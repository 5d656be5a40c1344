"""What happened in an interview, and what that amounts to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eddi.interview.interview import Interview
from eddi.interview.record import Answer, Record
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.store.base import Event


@dataclass(frozen=True)
class Past:
    """What happened in an interview so far."""

    key: str
    events: tuple[Event, ...]
    questionnaire: Questionnaire
    record: Record

    @property
    def version(self) -> int:
        return len(self.events)

    def interview(self, record: Record | None = None) -> Interview:
        return self.questionnaire.interview(record=record or self.record)

    def until(self, request: str) -> "Past | None":
        """The past up to the event of this request, and what followed from it at once; None if new."""
        for place, event in enumerate(self.events, start=1):
            if event.facts.get("request") == request:
                closed = self.events[place : place + 1]
                end = place + (1 if closed and closed[0].kind == "closed" else 0)
                events = self.events[:end]
                return replace(self, events=events, record=replayed(self.key, events))
        return None


def replayed(key: str, events: Sequence[Event]) -> Record:
    """The record that the events of an interview amount to."""
    record = Record(tuple(events[0].facts["target"]), (), key)
    for event in events[1:]:
        if event.kind == "told":
            record = record.plus(Answer.from_document(event.facts))
        elif event.kind == "changed":
            record = replaced(record, Answer.from_document(event.facts))
        elif event.kind == "undone":
            record = record.minus_last()
    return record


def replaced(record: Record, answer: Answer) -> Record:
    """The record with another answer in the place of that to the same question."""
    answers = (answer if one.question == answer.question else one for one in record.answers)
    return replace(record, answers=tuple(answers))
