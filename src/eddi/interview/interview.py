"""One conversation with one respondent: ask and tell."""

from collections.abc import Sequence

import numpy as np

from eddi.errors import AnswerError, TargetError
from eddi.interview.record import Answer, NoAnswer, Record
from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.variable import Level


class Interview:
    """Asks one respondent what is worth asking, and says what is believed so far.

    The record of answers is the only state: belief, next question and rewards follow from it.
    """

    def __init__(
        self,
        model: PartialVAE,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
        stop: Stop | None = None,
        record: Record | None = None,
    ) -> None:
        names = model.schema_.target_names(target if target is not None else model.target_)
        if not names:
            raise TargetError("an interview needs a target: name what you want to know.")
        self.model = model
        self.strategy = strategy or Information()
        self.stop = stop or Stop()
        self.record = record or Record(names)

    @property
    def target(self) -> tuple[str, ...]:
        return self.record.target

    def open_questions(self) -> list[Question]:
        """Questions that may still be asked: not closed, and not about the target."""
        closed = self.record.closed()
        return [
            question
            for question in self.model.schema_.questions
            if question.name not in closed and not set(question.reveals) & set(self.target)
        ]

    def ask(self) -> Question | None:
        """The next most valuable question, or None when it is enough. Changes nothing."""
        if self.stop.reached(self.predict(), len(self.record.answers)):
            return None
        rewards = self.rewards()
        if not rewards:
            return None
        return self.model.schema_.question(max(rewards, key=rewards.__getitem__))

    def tell(self, question: Question | str, *raw: object) -> None:
        """Record the answer to ``question``, asked or volunteered.

        Give one value for each variable the question reveals, or UNKNOWN or DECLINED.
        """
        asked = self._question(question)
        if len(raw) == 1 and isinstance(raw[0], NoAnswer):
            answer = Answer(asked.name, {}, raw[0])
        else:
            answer = Answer(asked.name, self._values(asked, raw))
        self.record = self.record.plus(answer)

    def undo(self) -> None:
        """Forget the last answer."""
        self.record = self.record.minus_last()

    def predict(self) -> Prediction:
        """What is believed about the (first) target now."""
        beliefs = self.model.predict_evidence(self.evidence(), self.target)
        return beliefs[self.target[0]][0]

    def rewards(self) -> dict[str, float]:
        """What each open question is worth now, in nats about the target, best first."""
        scores = self.strategy.score(self.model, self.evidence(), self.target)[0]
        by_name = {
            question.name: float(score)
            for question, score in zip(self.model.schema_.questions, scores, strict=True)
        }
        open_names = {question.name for question in self.open_questions()}
        ranked = sorted(by_name.items(), key=lambda pair: -pair[1])
        return {name: score for name, score in ranked if name in open_names}

    def evidence(self) -> Evidence:
        """All answers so far as one row of evidence."""
        schema = self.model.schema_
        numbers = np.full((1, len(schema.variables)), np.nan)
        for answer in self.record.answers:
            for name, value in answer.values.items():
                numbers[0, schema.position(name)] = schema[name].number(value)
        return self.model.coding_.encode(numbers)

    def _question(self, question: Question | str) -> Question:
        name = question.name if isinstance(question, Question) else question
        asked = self.model.schema_.question(name)
        if set(asked.reveals) & set(self.target):
            raise AnswerError(f"{name!r} is what this interview wants to know; it cannot be told.")
        if name in self.record.closed():
            raise AnswerError(f"{name!r} was answered already. Undo that answer to change it.")
        return asked

    def _values(self, asked: Question, raw: Sequence[object]) -> dict[str, Level]:
        if len(raw) != len(asked.reveals):
            raise AnswerError(
                f"{asked.name!r} takes {len(asked.reveals)} value(s) "
                f"({', '.join(asked.reveals)}), got {len(raw)}."
            )
        schema = self.model.schema_
        return {
            name: schema[name].answer(schema[name].number(value))
            for name, value in zip(asked.reveals, raw, strict=True)
        }
