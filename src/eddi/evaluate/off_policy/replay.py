"""Replays of logged interviews under other rules: how far the log has their answers, and what would follow.

A replay asks what the rules ask and takes the answers from the log. It stops where the log does not have the
answer. From there, `expected_values` imputes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.curves import Metric
from eddi.evaluate.off_policy.logged_interviews import NO_QUESTION, LoggedInterviews, Numbers
from eddi.evaluate.off_policy.weights import compute_weights
from eddi.evaluate.simulate import build_curves
from eddi.evaluate.step_metrics import compute_step_metrics
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules, Mask
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model
from eddi.table.evidence import Evidence

CHUNK_ROWS = 8_192  # simulated interviews at a time


@dataclass(frozen=True, eq=False)
class Replay:
    """Logged interviews under other rules.

    Args:
        asked: the questions that the rules ask, in order, up to the first that the log does not have
            [rows, steps]; -1 after the last.
        is_complete: whether the log has all answers that the rules ask for [rows].
        weights: inverse propensity weight up to each of these questions [rows, steps + 1]; 0 from the
            first that the log does not have.
    """

    asked: NDArray[np.int64]
    is_complete: Mask
    weights: Numbers

    @property
    def final_weights(self) -> Numbers:
        """The weights of whole interviews [rows]; 0 for those that are not complete."""
        return np.where(self.is_complete, self.weights[:, -1], 0.0)

    @property
    def n_effective(self) -> float:
        """The number of equally weighted interviews with the same precision (Kish 1965)."""
        last = self.final_weights
        return float(last.sum() ** 2 / np.square(last).sum()) if last.any() else 0.0

    def asked_before(self, step: int, n_questions: int) -> Mask:
        """The questions asked before a step [rows, questions]."""
        return np.asarray((self.asked[:, :step, None] == np.arange(n_questions)).any(1))


def replay(rules: InterviewRules, logged: LoggedInterviews) -> Replay:
    """Follow logged interviews under ``rules``."""
    n_rows, n_questions = len(logged), len(logged.schema.questions)
    rows = np.arange(n_rows)
    done = np.zeros((n_rows, n_questions), dtype=bool)
    is_active, is_complete = np.ones(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
    steps: list[NDArray[np.int64]] = []
    while is_active.any():
        chosen = np.full(n_rows, NO_QUESTION)
        states = logged.states(rules.model, done)[np.flatnonzero(is_active)]
        chosen[is_active] = NextSteps(rules, states).chosen
        is_complete |= is_active & (chosen == NO_QUESTION)
        is_active &= chosen != NO_QUESTION
        if not is_active.any():
            break
        steps.append(np.where(is_active, chosen, NO_QUESTION))
        is_active &= logged.asked[rows, chosen]
        done[rows[is_active], chosen[is_active]] = True
    asked = np.array(steps, dtype=np.int64).reshape(-1, n_rows).T
    return Replay(asked, is_complete, compute_weights(logged, asked))


def final_values(
    rules: InterviewRules, logged: LoggedInterviews, replayed: Replay, metric: Metric
) -> Numbers:
    """Error and cost at the end of each complete interview [rows, 2]; 0 for others."""
    values = np.zeros((len(logged), 2))
    rows = np.flatnonzero(replayed.is_complete)
    if len(rows):
        asked = replayed.asked_before(replayed.asked.shape[1], len(logged.schema.questions))
        states = logged[rows].states(rules.model, asked[rows])
        values[rows, 0] = _errors(rules, states.evidence, logged[rows].truth(rules.model), metric)
        values[rows, 1] = states.spent
    return values


def expected_values(
    rules: InterviewRules,
    states: InterviewStates,
    imputer: Model,
    numbers: Numbers,
    *,
    metric: Metric,
    n_draws: int,
    seed: int,
) -> Numbers:
    """Error and cost that the imputer expects at the end of interviews [rows, 2].

    It draws the missing answers and the target ``n_draws`` times. The rules lead each interview to its end.

    Args:
        rules: of the interviews.
        states: in which they continue.
        imputer: draws what is missing.
        numbers: the answers so far, in the table's own numbers; NaN = not observed.
        metric: of the error.
        n_draws: of each row.
        seed: of the draws.
    """
    drawn = imputer.draw_tables(imputer.coding.encode(numbers), n_draws, seed=seed)
    drawn = np.where(np.isnan(numbers), drawn, numbers)
    truth = rules.model.coding.encode(drawn.reshape(-1, drawn.shape[-1]))  # draws of all rows
    repeated = states[np.tile(np.arange(len(numbers)), n_draws)]
    values = [
        _simulate(rules, repeated[chunk], truth[chunk], metric)
        for chunk in np.array_split(np.arange(len(truth)), -(-len(truth) // CHUNK_ROWS))
    ]
    return np.asarray(np.concatenate(values).reshape(n_draws, len(numbers), 2).mean(0))


def _simulate(
    rules: InterviewRules, states: InterviewStates, truth: Evidence, metric: Metric
) -> Numbers:
    interviews = SimulatedInterviews(rules, truth, states)
    costs = np.append(rules.model.schema.costs, 0.0)  # -1 selects the last entry: no question, no cost
    spent, evidence = states.spent.copy(), states.evidence
    for step in interviews.run(interviews.n_steps(None)):
        spent += costs[step.chosen]
        evidence = step.evidence
    return np.stack([_errors(rules, evidence, truth, metric), spent], axis=1)


def _errors(rules: InterviewRules, evidence: Evidence, truth: Evidence, metric: Metric) -> Numbers:
    """The terms of a metric [rows]."""
    target = rules.target[0]
    step = compute_step_metrics(rules.model, evidence, truth, target)
    order = np.zeros((len(truth), 0), dtype=np.int64)
    return build_curves(rules.model, truth, target, [step], order).per_row(metric)[:, 0]
