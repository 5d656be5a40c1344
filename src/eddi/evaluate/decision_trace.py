"""The decisions of an interview with one row: rewards and predictions at every step."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.evaluate.curves import Numbers
from eddi.evaluate.simulate import resolve_target
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews, SimulatedStep
from eddi.model.base import Model, ModelSource, require_network
from eddi.strategy.base import Strategy
from eddi.strategy.names import default_strategy
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence

N_DRAWS = 512  # draws of every variable per decision
MIN_SD = 1e-9  # avoids division by zero for a variable that is certain from the start


@dataclass(frozen=True)
class Decision:
    """The choice of one question.

    Args:
        rewards: the strategy's score of each question, not adjusted to its cost; NaN if it could not be
            asked.
        chosen: position of the question asked.
        draws: draws of every variable from the prediction before the question, standardised by the mean
            and standard deviation of the prediction before the first question.
        observed: variables whose values were observed before the question.
    """

    rewards: Numbers  # [questions]
    chosen: int
    draws: Numbers  # [draws, variables]
    observed: NDArray[np.bool_]  # [variables]


@dataclass(frozen=True)
class _Standardisation:
    mean: Numbers  # [variables]
    sd: Numbers  # [variables]

    @classmethod
    def from_draws(cls, draws: Numbers) -> "_Standardisation":
        return cls(draws.mean(0), np.maximum(draws.std(0), MIN_SD))

    def apply(self, values: Numbers) -> Numbers:
        return np.asarray((values - self.mean) / self.sd)


def trace_decisions(
    model: ModelSource,
    row: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    n_steps: int = 4,
) -> tuple[list[Decision], Numbers]:
    """Trace the first decisions of an interview with one row.

    Args:
        model: a fitted model.
        row: a table with a single row, which answers the questions.
        target: the variable to predict; None means the model's own target.
        strategy: chooses the questions; None means that of `Interview`.
        n_steps: maximum number of decisions.

    Returns:
        The decisions, and the row's values, standardised like the draws; NaN = not observed [variables].
    """
    fitted = model.fitted()
    name = resolve_target(fitted, target)
    truth = fitted.evidence(row, optional=(name,))
    if len(truth) != 1:
        raise TableError(f"decisions are traced for one row, got {len(truth)}. Select a single row.")
    rules = InterviewRules(fitted, (name,), strategy or default_strategy(fitted, (name,)), Stop())
    interviews = SimulatedInterviews(rules, truth)
    steps = list(interviews.run(interviews.n_steps(n_steps)))
    prior_draws = _draw(fitted, Evidence.empty(1, truth.n_variables))
    scale = _Standardisation.from_draws(prior_draws)
    decisions = [_read_decision(rules, step, scale) for step in steps if step.chosen[0] >= 0]
    return decisions, scale.apply(truth.numbers()[0])


def _read_decision(rules: InterviewRules, step: SimulatedStep, scale: _Standardisation) -> Decision:
    states = InterviewStates(step.evidence, step.closed, np.zeros(1, dtype=np.int64), np.zeros(1))
    next_steps = NextSteps(rules, states)
    return Decision(
        rewards=np.where(next_steps.open[0], next_steps.base_scores[0], np.nan),
        chosen=int(step.chosen[0]),
        draws=scale.apply(_draw(rules.model, step.evidence)),
        observed=step.evidence.observed[0],
    )


def _draw(model: Model, evidence: Evidence) -> Numbers:
    """Joint draws of all variables of a single row [draws, variables]."""
    network_model = require_network(model, "a trace of decisions")
    posterior = network_model.posterior(network_model.code(evidence))
    draws = network_model.draw(posterior, N_DRAWS, seed=0)
    return np.asarray(draws[:, 0].double().cpu().numpy())
