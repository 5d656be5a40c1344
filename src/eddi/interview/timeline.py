"""The answers of an interview in time: what is known now, and what may be asked again.

The present time is a variable like any other. ``advance(to=8)`` is an answer to it, so a record of answers
still determines everything. In a model without `[time]`, time stands still.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.interview.record import Answer
from eddi.model.base import Model
from eddi.table.missingness.indicators import mark_answers
from eddi.table.schema import Schema
from eddi.table.series.measurements import Measurements
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.window_values import ROUNDING, Decisions, fill_windows

COST_ROUNDING = 1e-9  # a budget of 0.3 buys three questions of 0.1


@dataclass(frozen=True)
class Timeline:
    """The answers of one interview.

    Args:
        schema: of the model.
        answers: in the order in which they were given.
    """

    schema: Schema
    answers: tuple[Answer, ...]

    @cached_property
    def now(self) -> float:
        """The present time: the latest time that was recorded."""
        return find_now(self.schema, self.answers)

    @cached_property
    def measurements(self) -> tuple[Answer, ...]:
        """The answers to questions, without the passing of time."""
        column = self._column
        return tuple(answer for answer in self.answers if answer.question != column)

    @property
    def n_answered(self) -> int:
        """The number of questions that were answered with a value."""
        return sum(bool(answer.values) for answer in self.measurements)

    def answered_questions(self, at: float | None = None) -> set[str]:
        """Questions that were answered at a time, with or without a value; by default, now.

        What does not repeat is answered for all times.
        """
        return {answer.question for answer in self._answers_at(self.now if at is None else at)}

    def answered_variables(self, at: float | None = None) -> set[str]:
        """Variables that have a value of a time; by default, of the present."""
        answers = self._answers_at(self.now if at is None else at)
        return {name for answer in answers for name in answer.values}

    def next_decision(self) -> float | None:
        """The next decision time that the schema names; None if there is none."""
        times = () if self.schema.time is None else self.schema.time.decisions
        if isinstance(times, str):
            return None
        return next((time for time in times if time > self.now + ROUNDING), None)

    def next_decisions(self) -> NDArray[np.float64] | None:
        """The next decision time as a batch of one, NaN if there is none; None without `[time]`."""
        time = self.next_decision()
        return None if self.schema.time is None else np.array([np.nan if time is None else time])

    def spent(self) -> float:
        """The total cost of the questions that were answered."""
        return sum(self._costs.get(answer.question, 0.0) for answer in self.measurements)

    def left_in_period(self) -> float:
        """What the questions of the present period may still cost."""
        time = self.schema.time
        if time is None or math.isinf(time.budget):
            return math.inf
        start = self.now - time.period + ROUNDING
        recent = (answer for answer in self.measurements if (answer.at or 0.0) > start)
        return time.budget - sum(self._costs.get(answer.question, 0.0) for answer in recent)

    def closed_questions(self) -> set[str]:
        """Questions that must not be asked now: they were answered, or cost more than the period allows."""
        left = self.left_in_period() + COST_ROUNDING
        if math.isinf(left):
            return self.answered_questions()
        return self.answered_questions() | {name for name, cost in self._costs.items() if cost > left}

    @cached_property
    def _costs(self) -> dict[str, float]:
        return {question.name: question.cost for question in self.schema.questions}

    @property
    def _column(self) -> str | None:
        return None if self.schema.time is None else self.schema.time.column

    def _answers_at(self, time: float) -> list[Answer]:
        repeated = {} if self.schema.time is None else self.schema.time.repeats
        return [
            answer
            for answer in self.measurements
            if abs((answer.at or 0.0) - time) <= ROUNDING
            or not any(name in repeated for name in (*answer.values, *answer.without))
        ]


def find_now(schema: Schema, answers: Sequence[Answer]) -> float:
    """The latest time that is recorded; 0 at the start."""
    if schema.time is None:
        return 0.0
    column = schema.time.column
    times = [float(answer.values[column]) for answer in answers if column in answer.values]
    times += [answer.at for answer in answers if answer.at is not None]
    return max(times, default=0.0)


def answers_to_numbers(model: Model, interviews: Sequence[Sequence[Answer]]) -> NDArray[np.float64]:
    """The row of each interview at its present time, NaN = not observed [interviews, variables]."""
    if model.schema.time is not None:
        return _present_rows(model, interviews)
    schema = model.schema
    numbers = np.full((len(interviews), len(schema.variables)), np.nan)
    for row, answers in enumerate(interviews):
        for answer in answers:
            for name, value in answer.values.items():
                numbers[row, schema.position(name)] = schema[name].number(value, confirm=True)
            mark_answers(numbers[row], schema, values=answer.values, without=answer.without)
    return numbers


def _present_rows(model: Model, interviews: Sequence[Sequence[Answer]]) -> NDArray[np.float64]:
    """The decision rows of interviews, by the same conversion as for a table."""
    schema = model.schema
    layout = model.cache.get("row_layout", lambda: RowLayout(schema))
    repeated = {variable.name: place for place, variable in enumerate(layout.repeated)}
    static = {variable.name: place for place, variable in enumerate(layout.static)}
    known = np.full((len(interviews), len(static)), np.nan)
    found: list[tuple[int, int, float, float]] = []
    for row, answers in enumerate(interviews):
        for answer in answers:
            for name, value in answer.values.items():
                if name in static:
                    known[row, static[name]] = schema[name].number(value, confirm=True)
                elif name in repeated:
                    number = schema[name].number(value, confirm=True)
                    found.append((row, repeated[name], answer.at or 0.0, number))
    found.sort(key=lambda measurement: (measurement[0], measurement[2]))
    columns = np.array(found, dtype=np.float64).reshape(-1, 4).T
    person, variable = columns[:2].astype(np.int64)
    names, visits = list(range(len(interviews))), np.zeros((2, 0))
    measurements = Measurements(names, person, variable, columns[2], columns[3], visits, known)
    now = np.array([find_now(schema, answers) for answers in interviews])
    return fill_windows(layout, measurements, Decisions(np.arange(len(interviews)), now))
