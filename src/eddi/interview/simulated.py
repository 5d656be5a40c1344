"""Interviews with rows that answer for themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StopError
from eddi.interview.rules import Turns
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Turn:
    """One turn of all rows: what was known, what could not be asked, and what was; -1 for nothing."""

    seen: Evidence
    closed: NDArray[np.bool_]  # [rows, questions]
    chosen: NDArray[np.int64]  # [rows]


@dataclass(frozen=True)
class Rehearsal:
    """Interviews in which every row answers for itself."""

    turns: Turns
    truth: Evidence

    def n_steps(self, max_steps: int | None) -> int:
        """The most questions a row can be asked."""
        if max_steps is not None and max_steps < 0:
            raise StopError(f"max_steps must be 0 or more questions, got {max_steps}.")
        n_askable = int(self._reveals.any(1).sum())
        return n_askable if max_steps is None else min(max_steps, n_askable)

    def play(self, n_steps: int) -> Iterator[Turn]:
        """How things stand before each question, and what is asked; at last, that nothing is."""
        n_rows, n_questions = len(self.truth), len(self._reveals)
        seen = Evidence.empty(n_rows, self.truth.n_variables)
        asked = np.zeros((n_rows, n_questions), dtype=bool)
        going = np.ones(n_rows, dtype=bool)
        for _ in range(n_steps):
            closed = asked | ~self._answerable(seen)
            spent = asked @ self.turns.model.schema_.costs
            # Stopped rows are scored all the same: a strategy may know a row by its place.
            chosen = self.turns.next(seen, closed, asked.sum(1), spent=spent)
            chosen = np.where(going, chosen, -1)
            going = chosen >= 0
            if not going.any():
                break
            yield Turn(seen, closed, chosen)
            asked |= np.arange(n_questions) == chosen[:, None]
            shown = self._reveals[chosen] & going[:, None]  # [rows, variables]
            seen = seen.reveal(self.truth.hide(~shown))
        yield Turn(seen, asked | ~self._answerable(seen), np.full(n_rows, -1))

    def _answerable(self, seen: Evidence) -> NDArray[np.bool_]:
        """Questions to which the row has something new to say [rows, questions]."""
        news = (self.truth.observed & ~seen.observed).astype(np.float32)  # [rows, variables]
        return np.asarray(news @ self._reveals.T.astype(np.float32) > 0)

    @cached_property
    def _reveals(self) -> NDArray[np.bool_]:
        """Which question reveals which variable, nothing for those that touch the target."""
        schema = self.turns.model.schema_
        reveals = np.zeros((len(schema.questions), len(schema.variables)), dtype=bool)
        for place, question in enumerate(schema.questions):
            if not set(question.reveals) & set(self.turns.target):
                reveals[place, schema.positions(question.reveals)] = True
        return reveals
