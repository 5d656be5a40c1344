"""Simulated interviews: every question is answered from a complete or partially observed row."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StopError
from eddi.interview.next_step import InterviewStates, NextSteps
from eddi.interview.rules import InterviewRules, Mask
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class SimulatedStep:
    """One step of all rows: evidence and closed questions before it, and the question asked."""

    evidence: Evidence
    closed: Mask  # [rows, questions]
    chosen: NDArray[np.int64]  # [rows] positions; -1 if the row's interview is over


@dataclass(frozen=True)
class SimulatedInterviews:
    """Interviews that are answered from the rows of ``truth``.

    Args:
        rules: of the interviews.
        truth: the answers.
        start: the states in which the interviews begin; by default, nothing was asked.
    """

    rules: InterviewRules
    truth: Evidence
    start: InterviewStates | None = None

    def n_steps(self, max_steps: int | None) -> int:
        """The maximum number of questions per row."""
        if max_steps is not None and max_steps < 0:
            raise StopError(f"max_steps must be 0 or more questions, got {max_steps}.")
        n_askable = int(self._reveals.any(1).sum())
        return n_askable if max_steps is None else min(max_steps, n_askable)

    def run(self, n_steps: int) -> Iterator[SimulatedStep]:
        """Every step of all rows, and at last the state after the last answer."""
        n_rows, n_questions = len(self.truth), len(self._reveals)
        start = self.start or InterviewStates.empty(self.rules, n_rows)
        evidence = start.evidence
        asked = np.zeros((n_rows, n_questions), dtype=bool)
        is_active = np.ones(n_rows, dtype=bool)
        for number in range(n_steps):
            closed = start.closed | asked | ~self._answerable(evidence)
            spent = start.spent + asked @ self.rules.model.schema.costs
            n_asked, uniform = start.n_asked + asked.sum(1), self._draw_uniform(number)
            # Rows that have stopped are scored, too: a strategy may identify a row by its position.
            states = InterviewStates(
                evidence, closed, n_asked, spent, uniform=uniform, withheld=start.withheld
            )
            chosen = np.where(is_active, NextSteps(self.rules, states).chosen, -1)
            is_active = chosen >= 0
            if not is_active.any():
                break
            yield SimulatedStep(evidence, closed, chosen)
            asked |= np.arange(n_questions) == chosen[:, None]
            revealed = self._reveals[chosen] & is_active[:, None]  # [rows, variables]
            evidence = evidence.reveal_from(self.truth, revealed)
        closed = start.closed | asked | ~self._answerable(evidence)
        yield SimulatedStep(evidence, closed, np.full(n_rows, -1))

    def _draw_uniform(self, step: int) -> NDArray[np.float64] | None:
        """The random numbers that decide about exploration [rows]; None without exploration."""
        explore = self.rules.exploration
        if explore is None:
            return None
        return np.random.default_rng([explore.seed, step]).random(len(self.truth))

    def _answerable(self, evidence: Evidence) -> Mask:
        """Questions to which the row has a new answer [rows, questions]."""
        is_new = self.truth.observed & ~evidence.observed
        return self.rules.reveals_any(is_new) & self._reveals_no_target

    @cached_property
    def _reveals(self) -> Mask:
        """The variables each question reveals [questions, variables]; none if it reveals a target."""
        return np.asarray(self.rules.model.schema.reveals_mask & self._reveals_no_target[:, None])

    @cached_property
    def _reveals_no_target(self) -> Mask:
        """The questions that do not reveal a target [questions]."""
        schema = self.rules.model.schema
        return np.asarray(~schema.reveals_mask[:, schema.positions(self.rules.target)].any(1))
