"""The interview with one held-out row, decision by decision, and what another answer would change."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.evaluate.decision_trace import Decision, trace_decisions
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.record import Answer, NoAnswer
from eddi.interview.rules import InterviewRules
from eddi.model.fitted import FittedModel
from eddi.model.prediction import Prediction, Predictions
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop
from eddi.table import columns
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.variable import Kind, Variable

MAX_STEPS = 40  # decisions that are looked at; what comes later hardly matters
N_POINTS = 101  # at which a density is drawn
N_DIGITS = 7  # of a number that are read: as many as 32 bits hold
MARGIN = 0.4  # of scale on both sides of the 90% interval that a belief begins with

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trail:
    """What was asked of a row that answers for itself, and why.

    A step is how things stand after so many answers: step 0 is before the first question.

    Args:
        model: what was learned.
        target: what one wants to know.
        row: what is true, in the table's numbers; NaN = not known [variables].
        taken: the decisions, one for each question that was asked.
    """

    model: FittedModel
    target: str
    row: Numbers
    taken: tuple[Decision, ...]

    @classmethod
    def of(cls, model: FittedModel, row: pa.Table, target: str) -> "Trail":
        """The interview with the only row of a table."""
        taken, _ = trace_decisions(model, row, target, n_steps=MAX_STEPS)
        numbers = columns.table_to_numbers(row, model.schema, optional=(target,))[0]
        # A column of 32 bits says 106.5999985 where 106.6 was written.
        written = np.array([float(f"{number:.{N_DIGITS}g}") for number in numbers])
        return cls(model, target, written, tuple(taken))

    @property
    def n_steps(self) -> int:
        """How many questions were asked."""
        return len(self.taken)

    @cached_property
    def truth(self) -> float | None:
        """What is true of the target; None where nobody knows."""
        number = float(self.row[self.model.schema.position(self.target)])
        return None if np.isnan(number) else number

    @cached_property
    def goes_on(self) -> bool:
        """Whether more could be asked than is shown."""
        full = self.n_steps == MAX_STEPS
        return full and bool(self.worths_of(self.seen[[self.n_steps]], self.n_steps))

    def question(self, step: int) -> Question:
        """What was asked after so many answers."""
        return self.model.schema.questions[self.taken[step].chosen]

    def worths(self, step: int) -> dict[str, float]:
        """What each question that could be asked was worth then, in nats, best first."""
        return self._ranked(self.taken[step].rewards) if step < self.n_steps else {}

    def answer(self, step: int) -> Answer:
        """What the row said to the question asked after so many answers."""
        schema = self.model.schema
        news = self.seen.observed[step + 1] & ~self.seen.observed[step]
        said = {name: self.row[schema.position(name)] for name in self.question(step).reveals}
        values = {
            name: schema[name].answer(float(number))
            for name, number in said.items()
            if news[schema.position(name)]
        }
        before = self.seen.observed[step]
        silent = [n for n in said if n not in values and not before[schema.position(n)]]
        return Answer(self.question(step).name, values, dict.fromkeys(silent, NoAnswer.UNKNOWN))

    @cached_property
    def seen(self) -> Evidence:
        """What was known before each question, and in the end [steps + 1, variables]."""
        schema = self.model.schema
        known = np.zeros((self.n_steps + 1, len(schema.variables)), dtype=bool)
        for step in range(self.n_steps):
            known[step] = self.taken[step].observed
            known[step + 1] = known[step]
            known[step + 1, schema.positions(self.question(step).reveals)] = True
        return self.model.coding.encode(np.where(known, self.row, np.nan))

    @cached_property
    def beliefs(self) -> list[Prediction]:
        """What was believed about the target before each question, and in the end."""
        found = self.model.predict_evidence(self.seen, (self.target,))[self.target]
        return [found[step] for step in range(self.n_steps + 1)]

    def expected(self, step: int) -> Predictions:
        """What was believed about every variable then."""
        return self.model.predict_evidence(self.seen[[step]], self.model.schema.names)

    def otherwise(self, step: int, said: Mapping[str, float]) -> Evidence:
        """What would be known then, had the row said this of some variables; NaN = not known [1]."""
        numbers = np.where(self.seen.observed[step], self.row, np.nan)
        for name, number in said.items():
            numbers[self.model.schema.position(name)] = number
        return self.model.coding.encode(numbers[None])

    def worths_of(self, seen: Evidence, step: int) -> dict[str, float]:
        """What could be asked next were ``seen`` known after so many answers, best first."""
        rules = InterviewRules(self.model, (self.target,), Information(), Stop())
        questions = self.model.schema.questions
        closed = np.zeros((1, len(questions)), dtype=bool)
        closed[0, [taken.chosen for taken in self.taken[:step]]] = True
        closed[0] |= [not self._has_news(question, seen) for question in questions]
        states = InterviewStates(seen, closed, np.array([step]), closed @ self.model.schema.costs)
        steps = NextSteps(rules, states)
        return self._ranked(np.where(steps.open[0], steps.scores[0], np.nan))

    def _has_news(self, question: Question, seen: Evidence) -> bool:
        """Whether the row could say something to a question that is not known yet."""
        places = self.model.schema.positions(question.reveals)
        return bool((~np.isnan(self.row[places]) & ~seen.observed[0, places]).any())

    def _ranked(self, rewards: Numbers) -> dict[str, float]:
        questions = self.model.schema.questions
        places = sorted(np.flatnonzero(np.isfinite(rewards)), key=lambda place: -rewards[place])
        return {questions[place].name: float(rewards[place]) for place in places}

    @cached_property
    def grids(self) -> Numbers:
        """Values of every quantity over which its beliefs are drawn [points, variables].

        They hold the belief before any answer, and the truth. Levels have none.
        """
        schema = self.model.schema
        nothing = Evidence.empty(1, len(schema.variables))
        first = self.model.predict_evidence(nothing, schema.names)
        grids = np.zeros((N_POINTS, len(schema.variables)))
        for place, variable in enumerate(schema.variables):
            if not variable.kind.has_levels:
                low, high = _span(variable, first[variable.name].interval[0])
                ends = np.nanmin([low, self.row[place]]), np.nanmax([high, self.row[place]])
                grids[:, place] = np.linspace(*ends, N_POINTS)
        counts = [variable.kind is Kind.COUNT for variable in schema.variables]
        return np.where(counts, np.rint(grids), grids)

    def densities(self, seen: Evidence) -> Numbers:
        """How likely each value of `grids` is, given one row of evidence [points, variables]."""
        truth = self.model.coding.encode(self.grids)
        log_prob = self.model.log_prob(seen[np.zeros(N_POINTS, dtype=int)], truth)
        return np.exp(np.minimum(log_prob, 700.0))


def _span(variable: Variable, interval: Numbers) -> tuple[float, float]:
    """From where to where a quantity is drawn: around its 90% interval, within its bounds."""
    least = 0.0 if variable.kind is Kind.COUNT else -np.inf
    margin = MARGIN * max(float(interval[1] - interval[0]), 1e-9)
    low = max(float(interval[0]) - margin, least if variable.low is None else variable.low)
    high = min(float(interval[1]) + margin, np.inf if variable.high is None else variable.high)
    return low, max(high, low)
