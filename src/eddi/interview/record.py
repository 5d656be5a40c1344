"""The plain facts of an interview; everything else is recomputed from them. No torch here."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from eddi.table.variable import Level


class NoAnswer(StrEnum):
    """Why a question has no value: nobody knows, or the respondent would rather not say."""

    UNKNOWN = "unknown"
    DECLINED = "declined"


UNKNOWN = NoAnswer.UNKNOWN
DECLINED = NoAnswer.DECLINED


@dataclass(frozen=True)
class Answer:
    """What was said to one question: a value for each variable it revealed, or none and why."""

    question: str
    values: Mapping[str, Level]
    without: NoAnswer | None = None


@dataclass(frozen=True)
class Record:
    """One interview: its target and its answers, in the order they came."""

    target: tuple[str, ...]
    answers: tuple[Answer, ...] = ()

    def plus(self, answer: Answer) -> "Record":
        return replace(self, answers=(*self.answers, answer))

    def minus_last(self) -> "Record":
        return replace(self, answers=self.answers[:-1])

    def closed(self) -> set[str]:
        """Questions that need not be asked again, answered or not."""
        return {answer.question for answer in self.answers}
