"""Simulate interviews over time with recorded series.

At each decision time, the usual simulation asks questions. A question gives what was recorded near that
time and nothing else, and what was not asked for cannot be asked for later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EvaluationError, TargetError
from eddi.evaluate.series.logged_series import LoggedSeries
from eddi.evaluate.series.series_curves import SeriesCurves
from eddi.evaluate.simulate import resolve_target
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.risk_control import resolve_rules
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model, ModelSource
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Positions = NDArray[np.int64]


def simulate_series(
    model: ModelSource,
    source: Any,
    target: str | None = None,
    *,
    strategy: Strategy | Sequence[Strategy] | None = None,
    stop: StoppingRule | None = None,
    max_questions: int | Sequence[int | None] | None = None,
    known: Sequence[str] = (),
) -> SeriesCurves:
    """Interview every person of a series at each decision time.

    Args:
        model: a fitted model whose schema has a section `[time]`.
        source: a `Series`, a table of measurements, or a `LoggedSeries`.
        target: the variable to predict; None means the model's own target.
        strategy: chooses the questions; None means that of `Interview`. Several: one for each decision.
        stop: ends the questions of a decision; None means once nothing is left that was recorded.
        max_questions: the highest number of questions at each decision; several: one for each decision.
        known: static variables that are known from the start.

    Raises:
        TargetError: the target is a category, or there is not exactly one.
    """
    fitted = model.fitted()
    name = resolve_target(fitted, target)
    simulation = _Simulation.start(fitted, source, name, known)
    n_decisions = simulation.logged.n_decisions
    strategies = _one_each(strategy, n_decisions, "strategies")
    limits = _one_each(max_questions, n_decisions, "limits of questions")
    for decision, (chooser, limit) in enumerate(zip(strategies, limits, strict=True)):
        rules = resolve_rules(fitted, (name,), strategy=chooser, stop=stop or Stop())
        simulation.decide(rules, decision, limit)
    return simulation.curves()


def predict_fully(model: ModelSource, source: Any, target: str | None = None) -> SeriesCurves:
    """Predictions of each decision from everything that was recorded until then."""
    fitted = model.fitted()
    name = resolve_target(fitted, target)
    simulation = _Simulation.start(fitted, source, name, fitted.schema.names)
    logged = simulation.logged
    simulation.taken[:] = True
    for decision in range(logged.n_decisions):
        persons = simulation.find_persons(decision)
        simulation.n_measured[:, decision] = logged.count_recorded(decision)
        simulation.predict(persons, decision, simulation.known_rows(persons, decision))
    return simulation.curves()


@dataclass(frozen=True)
class _Simulation:
    """All persons at once; the arrays are changed by each decision."""

    logged: LoggedSeries
    target: str
    known: Mask  # [persons, variables] static variables that are known
    taken: Mask  # [measurements]
    predicted: Numbers  # [persons, decisions]
    n_measured: NDArray[np.int64]  # [persons, decisions]
    spent: Numbers  # [persons, decisions]
    choices: NDArray[np.int64]  # [2]: all, and those that were not recorded
    bin_probabilities: Numbers | None  # [persons, decisions, bins] of a survival target

    @classmethod
    def start(cls, model: Model, source: Any, target: str, known: Sequence[str]) -> "_Simulation":
        """The state before the first decision."""
        if model.schema[target].kind is Kind.CATEGORY:
            raise TargetError(f"{target!r} is a category. Series need two levels, or a quantity.")
        logged = source if isinstance(source, LoggedSeries) else LoggedSeries.read(model, source)
        shape, schema = logged.times.shape, model.schema
        is_known = np.ones((shape[0], len(schema.variables)), dtype=bool)
        hidden = {variable.name for variable in logged.layout.static} - set(known)
        hidden |= {variable.name for variable in logged.layout.survival}
        is_known[:, schema.positions({*hidden, target})] = False
        taken = np.zeros(len(logged.measurements), dtype=bool)
        zeros = np.zeros(shape)
        predicted, n_measured = np.full(shape, np.nan), zeros.astype(np.int64)
        choices = np.zeros(2, dtype=np.int64)
        survival = schema[target].survival
        bins = None if survival is None else np.full((*shape, survival.n_bins), np.nan)
        return cls(logged, target, is_known, taken, predicted, n_measured, zeros, choices, bins)

    def find_persons(self, decision: int) -> Positions:
        """Persons who have this decision."""
        return np.flatnonzero(~np.isnan(self.logged.times[:, decision]))

    def known_rows(self, persons: Positions, decision: int) -> Evidence:
        """What is known of some persons at a decision."""
        return self.logged.rows(persons, decision, self.taken).hide(~self.known[persons])

    def decide(self, rules: InterviewRules, decision: int, limit: int | None) -> None:
        """Ask the questions of one decision, and predict."""
        persons = self.find_persons(decision)
        recorded = self.logged.find_recorded(decision)[persons]  # [persons, repeated variables]
        start = self._states(persons, decision)
        near = self.taken.copy()
        near[recorded[recorded >= 0]] = True
        truth = self._answers(persons, decision, near, start.evidence)
        interviews = SimulatedInterviews(rules, truth, start)
        self._carry_over(decision)
        if limit is None or limit > 0:
            self._count_choices(rules, start, truth)
        for step in interviews.run(interviews.n_steps(limit)):
            self._record(persons, decision, step.chosen)
            evidence = step.evidence
        is_new = evidence.observed & ~start.evidence.observed  # [persons, variables]
        self.known[persons] |= is_new
        present = is_new[:, self.logged.layout.windows[:, 0]]
        self.taken[recorded[present & (recorded >= 0)]] = True
        self.predict(persons, decision, evidence)

    def predict(self, persons: Positions, decision: int, evidence: Evidence) -> None:
        """Predict the target of some persons from the rows of a decision."""
        model = self.logged.model
        prediction = model.predict_evidence(evidence, (self.target,))[self.target]
        is_binary = prediction.variable.kind is Kind.BINARY and prediction.probabilities is not None
        values = np.asarray(prediction.probabilities)[:, 1] if is_binary else prediction.mean
        self.predicted[persons, decision] = values
        if self.bin_probabilities is not None and prediction.bin_probabilities is not None:
            self.bin_probabilities[persons, decision] = prediction.bin_probabilities

    def curves(self) -> SeriesCurves:
        """The results."""
        logged = self.logged
        variable = logged.model.schema[self.target]
        outcome = None if variable.survival is None else logged.outcome(self.target)
        return SeriesCurves(
            variable,
            logged.times,
            logged.truth(self.target) if outcome is None else outcome.times,
            self.predicted,
            self.n_measured,
            self.spent,
            n_choices=int(self.choices[0]),
            n_unrecorded=int(self.choices[1]),
            events=None if outcome is None else outcome.events,
            bin_probabilities=self.bin_probabilities,
        )

    def _states(self, persons: Positions, decision: int) -> InterviewStates:
        """The interviews of some persons before the questions of a decision."""
        evidence, n_questions = (
            self.known_rows(persons, decision),
            len(self.logged.model.schema.questions),
        )
        before = max(decision - 1, 0)
        return InterviewStates(
            evidence,
            np.zeros((len(persons), n_questions), dtype=bool),
            self.n_measured[persons, before],
            self.spent[persons, before],
        )

    def _answers(self, persons: Positions, decision: int, near: Mask, evidence: Evidence) -> Evidence:
        """What each question would give: the evidence, recorded values, and static variables."""
        rows, layout = self.logged.rows(persons, decision, near), self.logged.layout
        hidden = np.ones(rows.observed.shape, dtype=bool)
        hidden[:, [*layout.windows[:, 0], *layout.static_columns]] = False
        return evidence.reveal(rows.hide(hidden))

    def _carry_over(self, decision: int) -> None:
        if decision > 0:
            self.n_measured[:, decision] = self.n_measured[:, decision - 1]
            self.spent[:, decision] = self.spent[:, decision - 1]

    def _record(self, persons: Positions, decision: int, chosen: Positions) -> None:
        """Count one step."""
        costs = np.append(self.logged.model.schema.costs, 0.0)  # -1 selects the last entry
        self.n_measured[persons, decision] += chosen >= 0
        self.spent[persons, decision] += costs[chosen]

    def _count_choices(self, rules: InterviewRules, start: InterviewStates, truth: Evidence) -> None:
        """Count how often the first choice of a decision was not recorded."""
        chosen = NextSteps(rules, start).chosen
        reveals = rules.model.schema.reveals_mask[chosen]  # [persons, variables]
        is_recorded = (reveals & truth.observed & ~start.evidence.observed).any(1)
        self.choices[:] += [(chosen >= 0).sum(), ((chosen >= 0) & ~is_recorded).sum()]


def _one_each(item: Any, n: int, what: str) -> list[Any]:
    """The items of all decisions: one for each, or the same for all."""
    if not isinstance(item, list | tuple):
        return [item] * n
    if len(item) != n:
        raise EvaluationError(f"there are {n} decisions and {len(item)} {what}. Give one for each.")
    return list(item)
