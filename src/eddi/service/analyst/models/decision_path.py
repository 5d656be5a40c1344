"""The decision path of one held-out row: its interview step by step, and what-if analyses."""

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
from eddi.strategy.names import default_strategy, name_strategy
from eddi.strategy.stopping import Stop
from eddi.table import columns
from eddi.table.evidence import Evidence
from eddi.table.mismatches import Mismatches
from eddi.table.question import Question
from eddi.table.survival.survival import Survival
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind, Variable

MAX_STEPS = 40  # decisions that are computed; later ones hardly change the prediction
N_POINTS = 101  # at which a density is evaluated
N_DIGITS = 7  # significant digits of a 32-bit number
MARGIN = 0.4  # around the first 90% interval of a quantity, as a share of its width
MAX_LOG_DENSITY = 700.0  # exp overflows beyond

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DecisionPath:
    """The interview with a row whose answers come from the row itself.

    Step n is the state after n answers; step 0 is before the first question.

    Args:
        model: the fitted model.
        target: the target of the interview.
        row: the row in the table's own units; NaN = not observed [variables].
        decisions: one for each question that was asked.
    """

    model: FittedModel
    target: str
    row: Numbers
    decisions: tuple[Decision, ...]

    @classmethod
    def from_row(cls, model: FittedModel, row: pa.Table, target: str) -> "DecisionPath":
        """The decision path of the only row of a table."""
        path, _ = trace_decisions(model, row, target, n_steps=MAX_STEPS)
        numbers = columns.table_to_numbers(
            row, model.schema, optional=(target,), mismatches=Mismatches()
        )[0]
        # A 32-bit column contains 106.5999985 for 106.6.
        rounded = np.array([float(f"{number:.{N_DIGITS}g}") for number in numbers])
        return cls(model, target, rounded, tuple(path))

    @property
    def n_steps(self) -> int:
        """The number of questions asked."""
        return len(self.decisions)

    @property
    def is_per_cost(self) -> bool:
        """Whether questions are chosen by information per unit of cost."""
        return name_strategy(default_strategy(self.model, (self.target,))) == "per-cost"

    @cached_property
    def truth(self) -> float | None:
        """The true value of the target; None if it is not observed."""
        number = float(self.row[self.model.schema.position(self.target)])
        survival = self.model.schema[self.target].survival
        if survival is not None:
            return _event_time(number, survival)
        return None if np.isnan(number) else number

    @cached_property
    def is_truncated(self) -> bool:
        """Whether the interview goes on after the last step."""
        if self.n_steps < MAX_STEPS:
            return False
        return bool(self.rewards_given(self.evidence[[self.n_steps]], self.n_steps))

    @cached_property
    def evidence(self) -> Evidence:
        """What is observed at each step [steps + 1, variables]."""
        schema = self.model.schema
        observed = np.zeros((self.n_steps + 1, len(schema.variables)), dtype=bool)
        for step in range(self.n_steps):
            observed[step] = self.decisions[step].observed
            observed[step + 1] = observed[step]
            observed[step + 1, schema.positions(self.question(step).reveals)] = True
        return self.model.coding.encode(np.where(observed, self.row, np.nan))

    @cached_property
    def predictions(self) -> list[Prediction]:
        """The prediction of the target at each step [steps + 1]."""
        predictions = self.model.predict_evidence(self.evidence, (self.target,))[self.target]
        return [predictions[step] for step in range(self.n_steps + 1)]

    def question(self, step: int) -> Question:
        """The question asked at a step."""
        return self.model.schema.questions[self.decisions[step].chosen]

    def rewards(self, step: int) -> dict[str, float]:
        """The expected information of each open question at a step, in nats, highest first."""
        return self._rank(self.decisions[step].rewards) if step < self.n_steps else {}

    def answer(self, step: int) -> Answer:
        """The row's answer to the question asked at a step."""
        schema, question = self.model.schema, self.question(step)
        before, after = self.evidence.observed[step], self.evidence.observed[step + 1]
        values, without = {}, {}
        for name in question.reveals:
            position = schema.position(name)
            if before[position]:
                continue
            if after[position]:
                values[name] = schema[name].answer(float(self.row[position]))
            else:
                without[name] = NoAnswer.UNKNOWN
        return Answer(question.name, values, without)

    def predict_variables(self, step: int) -> Predictions:
        """The prediction of every variable at a step."""
        return self.model.predict_evidence(self.evidence[[step]], self.model.schema.names)

    def what_if_evidence(self, step: int, values: Mapping[str, float]) -> Evidence:
        """The evidence at a step if some values had been different; NaN = not observed [1, variables]."""
        numbers = np.where(self.evidence.observed[step], self.row, np.nan)
        for name, number in values.items():
            numbers[self.model.schema.position(name)] = number
        return self.model.coding.encode(numbers[None])

    def rewards_given(self, evidence: Evidence, step: int) -> dict[str, float]:
        """The rewards at a step if the evidence had been different, highest first."""
        steps = self._next_steps_given(evidence, step)
        return self._rank(np.where(steps.open[0], steps.rewards[0], np.nan))

    def question_given(self, evidence: Evidence, step: int) -> str | None:
        """The question asked at a step if the evidence had been different; None if none is left."""
        chosen = int(self._next_steps_given(evidence, step).chosen[0])
        return None if chosen < 0 else self.model.schema.questions[chosen].name

    def _next_steps_given(self, evidence: Evidence, step: int) -> NextSteps:
        strategy = default_strategy(self.model, (self.target,))
        rules = InterviewRules(self.model, (self.target,), strategy, Stop())
        questions = self.model.schema.questions
        closed = np.zeros((1, len(questions)), dtype=bool)
        closed[0, [decision.chosen for decision in self.decisions[:step]]] = True
        closed[0] |= [not self._can_answer(question, evidence) for question in questions]
        costs = closed @ self.model.schema.costs
        states = InterviewStates(evidence, closed, np.array([step]), costs)
        return NextSteps(rules, states)

    def _can_answer(self, question: Question, evidence: Evidence) -> bool:
        """Whether the row has a value for the question that is not in the evidence yet."""
        positions = self.model.schema.positions(question.reveals)
        return bool((~np.isnan(self.row[positions]) & ~evidence.observed[0, positions]).any())

    def _rank(self, rewards: Numbers) -> dict[str, float]:
        questions = self.model.schema.questions
        order = sorted(np.flatnonzero(np.isfinite(rewards)), key=lambda n: -rewards[n])
        return {questions[n].name: float(rewards[n]) for n in order}

    @cached_property
    def grids(self) -> Numbers:
        """The values of each quantity at which its densities are evaluated [points, variables].

        A grid covers the prediction before any answer, and the truth. Variables with levels have none.
        """
        schema = self.model.schema
        empty = Evidence.empty(1, len(schema.variables))
        first = self.model.predict_evidence(empty, schema.names)
        grids = np.zeros((N_POINTS, len(schema.variables)))
        for position, variable in enumerate(schema.variables):
            if not variable.kind.has_levels:
                low, high = _plot_range(variable, first[variable.name].interval[0])
                is_time = variable.survival is not None
                truth = np.nan if is_time else self.row[position]
                grids[:, position] = np.linspace(
                    np.nanmin([low, truth]), np.nanmax([high, truth]), N_POINTS
                )
        is_count = [variable.kind is Kind.COUNT for variable in schema.variables]
        return np.where(is_count, np.rint(grids), grids)

    def densities(self, evidence: Evidence) -> Numbers:
        """The predictive densities at `grids`, given one row of evidence [points, variables]."""
        points = self.model.coding.encode(self.grids)
        log_prob = self.model.log_prob(evidence[np.zeros(N_POINTS, dtype=int)], points)
        densities = np.exp(np.minimum(log_prob, MAX_LOG_DENSITY))
        for position, variable in enumerate(self.model.schema.variables):
            if variable.survival is not None:
                prediction = self.model.predict_evidence(evidence, (variable.name,))[variable.name]
                densities[:, position] = _time_density(prediction[0], self.grids[:, position])
        return densities


def _event_time(number: float, survival: Survival) -> float | None:
    """The time of the event; None if it is not known, or has not happened."""
    known = SurvivalTimes.from_numbers(np.array([number]), survival.edges)
    return float(known.times[0]) if known.events[0] == 1 else None


def _time_density(prediction: Prediction, times: Numbers) -> Numbers:
    """The density of the time of an event at some times, from its survival curve."""
    inside = np.clip(times, 0.0, prediction.curve.horizon)
    return np.maximum(-np.gradient(prediction.curve.at(inside), times), 0.0)


def _plot_range(variable: Variable, interval: Numbers) -> tuple[float, float]:
    """The range in which a quantity is plotted: its 90% interval with a margin, within its bounds."""
    minimum = 0.0 if variable.kind in (Kind.COUNT, Kind.SURVIVAL) else -np.inf
    margin = MARGIN * max(float(interval[1] - interval[0]), 1e-9)
    low = max(float(interval[0]) - margin, minimum if variable.low is None else variable.low)
    high = min(float(interval[1]) + margin, np.inf if variable.high is None else variable.high)
    return low, max(high, low)
