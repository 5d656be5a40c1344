"""One conversation with one respondent: ask and tell."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eddi.errors import AnswerError, TargetError
from eddi.interview.explanation import Explanation, explain
from eddi.interview.record import Answer, NoAnswer, Record
from eddi.interview.rules import Turns
from eddi.model.partial_vae import PartialVAE
from eddi.model.prediction import Prediction
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.variable import Level


class Interview:
    """Asks one respondent what is worth asking, and says what is believed so far.

    The record of answers is the only state: belief, next question and rewards follow from it.

    Args:
        model: what was learned.
        target: what one wants to know; the model's own target where None.
        strategy: who chooses; EDDI where None.
        stop: when it is enough; never where None.
        record: an interview to go on with.
    """

    def __init__(
        self,
        model: PartialVAE,
        target: str | Sequence[str] | None = None,
        *,
        strategy: Strategy | None = None,
        stop: StoppingRule | None = None,
        record: Record | None = None,
    ) -> None:
        if target is None and record is not None:
            target = record.target
        names = model.schema_.target_names(model.target_ if target is None else target)
        if not names:
            raise TargetError("an interview needs a target: name what you want to know.")
        if record is not None and record.target != names:
            raise TargetError(
                f"this record is of an interview about {', '.join(record.target)}, "
                f"not about {', '.join(names)}."
            )
        self.model = model
        self.record = Record(names) if record is None else replace(record, answers=())
        self.turns = Turns(model, names, strategy or Information(), stop or Stop())
        for answer in record.answers if record is not None else ():
            self.tell(answer.question, {**answer.values, **answer.without})

    @property
    def target(self) -> tuple[str, ...]:
        """What this interview wants to know."""
        return self.record.target

    def ask(self) -> Question | None:
        """The next most valuable question, or None when it is enough. Changes nothing."""
        n_asked = np.array([len(self.record.answers)])
        chosen = int(self.turns.next(self.evidence(), self.closed(), n_asked, spent=self.spent())[0])
        return None if chosen < 0 else self.model.schema_.questions[chosen]

    def tell(self, question: Question | str, *raw: object) -> None:
        """Record the answer to ``question``, asked or volunteered; a variable's name will do too.

        Give one value for each variable the question reveals, in order, or a mapping of those that
        are known. UNKNOWN or DECLINED stands for any of them, or for all.

        Raises:
            AnswerError: the answer does not fit; nothing is recorded.
        """
        name = question.name if isinstance(question, Question) else question
        reveals = self._reveals(name)
        if name in self.record.closed() or set(reveals) <= self.record.known():
            raise AnswerError(f"{name!r} was answered already. Undo that answer to change it.")
        given = _by_variable(name, reveals, raw, known=self.record.known())
        schema = self.model.schema_
        values: dict[str, Level] = {
            variable: schema[variable].answer(schema[variable].number(value))
            for variable, value in given.items()
            if not isinstance(value, NoAnswer)
        }
        without = {key: value for key, value in given.items() if isinstance(value, NoAnswer)}
        self.record = self.record.plus(Answer(name, values, without))

    def undo(self) -> None:
        """Forget the last answer."""
        if not self.record.answers:
            raise AnswerError("there is no answer to undo.")
        self.record = self.record.minus_last()

    def predict(self, target: str | None = None) -> Prediction:
        """What is believed about the target now (the first, where there are several)."""
        name = self.target[0] if target is None else target
        self.model.schema_.target_names(name)
        return self.model.predict_evidence(self.evidence(), (name,))[name][0]

    def rewards(self) -> dict[str, float]:
        """What each open question is worth now, in nats about the target, best first."""
        ours = self.turns.strategy
        judge = ours if isinstance(ours, Information) else Information()  # others score otherwise
        return self._ranked(replace(self.turns, strategy=judge))

    def explain(self) -> Explanation | None:
        """Why the next question is the next one, in words and figures; None when it is enough."""
        question = self.ask()
        if question is None:
            return None
        rivals = [name for name in self._ranked(self.turns) if name != question.name]
        why = explain(
            self.model, self.evidence(), self.target, question, rivals[:1], rewards=self.rewards()
        )
        return replace(why, opens=self._opens(question))

    def _opens(self, question: Question) -> float:
        """What counts of a question besides its reward."""
        seen, n_asked = self.evidence(), np.array([len(self.record.answers)])
        open_ = self.turns.open(seen, self.closed(), spent=self.spent())
        place = self.model.schema_.questions.index(question)
        return float(self.turns.opened(seen, open_, n_asked)[0, place])

    def evidence(self) -> Evidence:
        """All answers so far as one row of evidence."""
        schema = self.model.schema_
        numbers = np.full((1, len(schema.variables)), np.nan)
        for answer in self.record.answers:
            for name, value in answer.values.items():
                numbers[0, schema.position(name)] = schema[name].number(value)
        return self.model.coding_.encode(numbers)

    def _ranked(self, turns: Turns) -> dict[str, float]:
        """The open questions and what ``turns`` scores them, best first."""
        seen = self.evidence()
        open_ = turns.open(seen, self.closed(), spent=self.spent())[0]
        scores = turns.scores(seen)[0]
        ranked = sorted(np.flatnonzero(open_), key=lambda place: -scores[place])
        questions = self.model.schema_.questions
        return {questions[place].name: float(scores[place]) for place in ranked}

    def closed(self) -> NDArray[np.bool_]:
        """Questions that were told, and those that could only bring what was declined [1, questions]."""
        told, declined = self.record.closed(), self.record.declined()
        closed = [q.name in told or declined >= set(q.reveals) for q in self.model.schema_.questions]
        return np.array([closed], dtype=bool)

    def spent(self) -> NDArray[np.float64]:
        """What the questions told so far cost [1]."""
        told = self.record.closed()
        return np.array([sum(q.cost for q in self.model.schema_.questions if q.name in told)])

    def _reveals(self, name: str) -> tuple[str, ...]:
        """The variables behind a question, or behind a variable told by its own name."""
        schema = self.model.schema_
        by_name = {question.name: question.reveals for question in schema.questions}
        if name not in by_name and name not in schema.names:
            known = ", ".join(map(repr, list(by_name)[:12]))
            raise AnswerError(f"there is no question {name!r}. Questions are: {known}.")
        reveals = by_name.get(name, (name,))
        if set(reveals) & set(self.target):
            raise AnswerError(
                f"{name!r} tells what this interview wants to know, and cannot be told. "
                "Tell other variables, or choose another target."
            )
        return reveals


def _by_variable(
    name: str, reveals: tuple[str, ...], raw: tuple[object, ...], *, known: set[str]
) -> Mapping[str, object]:
    """Each revealed variable with what was said of it; silence about a known one changes nothing."""
    if len(raw) == 1 and isinstance(raw[0], NoAnswer):
        return dict.fromkeys(reveals, raw[0])
    if len(raw) == 1 and isinstance(raw[0], Mapping):
        given = dict(raw[0])
        if strange := [key for key in given if key not in reveals]:
            raise AnswerError(f"{name!r} reveals {', '.join(reveals)}, not {strange[0]!r}.")
        silent = (key for key in reveals if key not in given and key not in known)
        return {**given, **dict.fromkeys(silent, NoAnswer.UNKNOWN)}
    if len(raw) != len(reveals):
        raise AnswerError(
            f"{name!r} takes {len(reveals)} value(s) ({', '.join(reveals)}), got {len(raw)}. "
            "Give UNKNOWN for those nobody knows."
        )
    return dict(zip(reveals, raw, strict=True))
