"""The record of an interview: its target and its answers. No torch here."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from eddi.errors import AnswerError
from eddi.table.variable import Level


class NoAnswer(StrEnum):
    """Why a question has no value: the respondent does not know it, or declines to answer."""

    UNKNOWN = "unknown"
    DECLINED = "declined"


UNKNOWN = NoAnswer.UNKNOWN
DECLINED = NoAnswer.DECLINED


@dataclass(frozen=True)
class Answer:
    """The answer to one question: a value for each variable it reveals, or why there is none.

    ``propensity`` is the probability with which the question was chosen; None if it is not known, as for
    an answer that was volunteered.
    """

    question: str
    values: Mapping[str, Level]
    without: Mapping[str, NoAnswer] = field(default_factory=dict)
    propensity: float | None = None

    def to_document(self) -> dict[str, Any]:
        """The answer as plain JSON: ``{"question": ..., "values": {...}, "without": {...}}``.

        If the probability of the question is known, it is there as ``"propensity"``.
        """
        without = {name: str(reason) for name, reason in self.without.items()}
        document = {"question": self.question, "values": dict(self.values), "without": without}
        return document if self.propensity is None else document | {"propensity": self.propensity}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Answer":
        """The answer that `to_document` described."""
        without = {name: NoAnswer(why) for name, why in document.get("without", {}).items()}
        given = document.get("propensity")
        propensity = None if given is None else _check_propensity(float(given))
        return cls(str(document["question"]), dict(document.get("values", {})), without, propensity)


def _check_propensity(value: float) -> float:
    if not 0 <= value <= 1:
        raise AnswerError(f"a propensity is a probability from 0 to 1, got {value:g}.")
    return value


@dataclass(frozen=True)
class Record:
    """One interview: its target, its answers in order, its key, and the questions withheld from it.

    A question that is withheld is asked only if no other one is left; see `eddi.strategy.Exposure`.
    """

    target: tuple[str, ...]
    answers: tuple[Answer, ...] = ()
    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    withheld: tuple[str, ...] = ()

    def plus(self, answer: Answer) -> "Record":
        """This record with one more answer."""
        return replace(self, answers=(*self.answers, answer))

    def minus_last(self) -> "Record":
        """This record without its last answer."""
        return replace(self, answers=self.answers[:-1])

    @property
    def n_answered(self) -> int:
        """The number of questions that were answered with a value."""
        return sum(bool(answer.values) for answer in self.answers)

    def answered_questions(self) -> set[str]:
        """Questions that were answered, with or without a value; they are not asked again."""
        return {answer.question for answer in self.answers}

    def answered_variables(self) -> set[str]:
        """Variables that have a value."""
        return {name for answer in self.answers for name in answer.values}

    def declined_variables(self) -> set[str]:
        """Variables that the respondent declined; no question asks for them again."""
        return {
            name
            for answer in self.answers
            for name, why in answer.without.items()
            if why is NoAnswer.DECLINED
        }

    def to_document(self) -> dict[str, Any]:
        """The record as plain JSON."""
        answers = [answer.to_document() for answer in self.answers]
        document = {"key": self.key, "target": list(self.target), "answers": answers}
        return document | {"withheld": list(self.withheld)} if self.withheld else document

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Record":
        """The record that `to_document` described.

        Raises:
            AnswerError: the document is not a record.
        """
        try:
            answers = tuple(map(Answer.from_document, document["answers"]))
            target = document["target"]
            names = (target,) if isinstance(target, str) else tuple(map(str, target))
            withheld = tuple(map(str, document.get("withheld", ())))
            return cls(names, answers, str(document["key"]), withheld)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise AnswerError(
                f"this is not the record of an interview ({type(error).__name__}: {error}). "
                "Give the output of Record.to_document()."
            ) from error
