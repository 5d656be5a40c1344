"""Logged interviews: answers in their order, the probability of each question, and the true target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EvaluationError
from eddi.interview.next_step import InterviewStates
from eddi.interview.record import NoAnswer, Record
from eddi.interview.rules import InterviewRules, Mask
from eddi.model.base import Model
from eddi.table.evidence import Evidence
from eddi.table.missingness.indicators import mark_answers
from eddi.table.schema import Schema
from eddi.table.variable import Level

Numbers = NDArray[np.float64]
NO_QUESTION = -1


@dataclass(frozen=True, eq=False)
class LoggedInterviews:
    """Interviews that were led with known probabilities, one per row.

    What is asked does not change a person, so an answer is the same at whatever step it is given. Answers
    that were volunteered count as given before the first question.

    Args:
        schema: of the variables and questions.
        numbers: all answers and the true target, in the table's own numbers; NaN = not observed.
        order: position of each question that was asked, in order; -1 after the last.
        propensities: probability with which each of them was chosen.
        volunteered: values that were given without a question.
        declined: variables that were declined.
        policies: the rules that led the interviews, with exploration; empty if only the probabilities above
            are known.
        policy_of_row: position in ``policies`` for each interview; empty if there are none.
        withheld: questions that were withheld to limit their exposure; None if there were none. Other
            rules are evaluated with the same questions withheld.
    """

    schema: Schema
    numbers: Numbers  # [rows, variables]
    order: NDArray[np.int64]  # [rows, steps]
    propensities: Numbers  # [rows, steps]
    volunteered: Mask  # [rows, variables]
    declined: Mask  # [rows, variables]
    policies: tuple[InterviewRules, ...] = ()
    policy_of_row: NDArray[np.int64] | None = None  # [rows]
    withheld: Mask | None = None  # [rows, questions]

    def __post_init__(self) -> None:
        known = self.propensities[self.order != NO_QUESTION]
        if not ((known > 0) & (known <= 1)).all():
            raise EvaluationError(
                f"the probability of a question must be above 0 and at most 1, got {known.min():g} to "
                f"{known.max():g}. Give the probability with which it was chosen, or none if the answer "
                "was volunteered."
            )

    @classmethod
    def from_records(
        cls,
        schema: Schema,
        records: Sequence[Record],
        outcomes: Sequence[Mapping[str, Level]],
        propensities: Sequence[Sequence[float | None]],
    ) -> "LoggedInterviews":
        """Build logged interviews from records.

        Args:
            schema: of the variables and questions.
            records: the interviews.
            outcomes: the true values of the targets of each interview, as far as they are known.
            propensities: the probability of the question of each answer; None if it was volunteered.
        """
        n_steps = max((len(record.answers) for record in records), default=0)
        shape, cells = (len(records), n_steps), (len(records), len(schema.variables))
        logged = cls(
            schema,
            np.full(cells, np.nan),
            np.full(shape, NO_QUESTION, dtype=np.int64),
            np.full(shape, np.nan),
            np.zeros(cells, dtype=bool),
            np.zeros(cells, dtype=bool),
            withheld=_find_withheld(schema, records),
        )
        for row, record in enumerate(records):
            logged._fill_row(row, record, propensities[row])
            for name, value in outcomes[row].items():
                logged.numbers[row, schema.position(name)] = schema[name].number(value, confirm=True)
        return replace(logged)  # checks the probabilities

    def _fill_row(self, row: int, record: Record, chances: Sequence[float | None]) -> None:
        positions = {question.name: place for place, question in enumerate(self.schema.questions)}
        n_asked = 0
        for answer, chance in zip(record.answers, chances, strict=True):
            place = positions.get(answer.question, NO_QUESTION)
            is_asked = chance is not None and place != NO_QUESTION
            if is_asked:
                self.order[row, n_asked], self.propensities[row, n_asked] = place, chance
                n_asked += 1
            for name, value in answer.values.items():
                column = self.schema.position(name)
                self.numbers[row, column] = self.schema[name].number(value, confirm=True)
                self.volunteered[row, column] = not is_asked
                if name in self.schema.indicators:
                    self.volunteered[
                        row, self.schema.position(self.schema.indicators[name])
                    ] = not is_asked
            mark_answers(self.numbers[row], self.schema, values=answer.values, without=answer.without)
            for name, why in answer.without.items():
                self.declined[row, self.schema.position(name)] = why is NoAnswer.DECLINED

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: NDArray[np.generic]) -> "LoggedInterviews":
        return replace(
            self,
            numbers=self.numbers[rows],
            order=self.order[rows],
            propensities=self.propensities[rows],
            volunteered=self.volunteered[rows],
            declined=self.declined[rows],
            policy_of_row=None if self.policy_of_row is None else self.policy_of_row[rows],
            withheld=None if self.withheld is None else self.withheld[rows],
        )

    @cached_property
    def asked(self) -> Mask:
        """Whether a question was asked of a person [rows, questions]."""
        places = np.arange(len(self.schema.questions))
        return np.asarray((self.order[..., None] == places).any(1))

    @cached_property
    def n_asked(self) -> NDArray[np.int64]:
        """The number of questions that each person was asked [rows]."""
        return np.asarray((self.order != NO_QUESTION).sum(1))

    def with_target(self, target: str) -> "LoggedInterviews":
        """The interviews whose true target is known.

        Raises:
            EvaluationError: there is none.
        """
        known = np.flatnonzero(~np.isnan(self.numbers[:, self.schema.position(target)]))
        if not len(known):
            raise EvaluationError(
                f"no interview has a true value of {target!r}, so predictions cannot be evaluated. "
                "Record outcomes first."
            )
        return self[known]

    def truth(self, model: Model) -> Evidence:
        """All answers and the true target, as the model codes them."""
        return model.coding.encode(self.numbers)

    def reveal(self, asked: Mask) -> Numbers:
        """The answers to some of the questions, and volunteered ones [rows, variables]."""
        reveals = asked.astype(np.float32) @ self.schema.reveals_mask.astype(np.float32) > 0
        return np.where(reveals | self.volunteered, self.numbers, np.nan)

    def states(self, model: Model, asked: Mask) -> InterviewStates:
        """The states of the interviews after some of the questions [rows, questions], in any order."""
        numbers = self.reveal(asked)
        reveals = self.schema.reveals_mask.astype(np.float32)  # [questions, variables]
        has_value = (~np.isnan(numbers)).astype(np.float32) @ reveals.T > 0
        given = asked | (self.volunteered.astype(np.float32) @ reveals.T >= reveals.sum(1))
        is_revealed = asked.astype(np.float32) @ reveals > 0
        declined = (self.declined & is_revealed).astype(np.float32)
        # A question that could only reveal declined variables is closed, too.
        closed = given | (declined @ reveals.T >= reveals.sum(1))
        return InterviewStates(
            evidence=model.coding.encode(numbers),
            closed=closed,
            n_asked=(given & has_value).sum(1),
            spent=given @ self.schema.costs,
            withheld=self.withheld,
        )


def _find_withheld(schema: Schema, records: Sequence[Record]) -> Mask | None:
    names = [question.name for question in schema.questions]
    withheld = [[name in record.withheld for name in names] for record in records]
    return np.array(withheld, dtype=bool) if np.any(withheld) else None
