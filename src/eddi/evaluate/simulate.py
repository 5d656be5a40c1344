"""Play the interview for all held-out rows at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import StopError, TargetError
from eddi.evaluate.curves import Curves
from eddi.evaluate.measure import Measured, actual, measure
from eddi.interview.turn import Turns
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.stopping import Stop, StoppingRule
from eddi.table.evidence import Evidence

OnStep = Callable[[int, int], None]


@dataclass(frozen=True)
class Turn:
    """One turn of all rows: what was known, what could not be asked, and what was; -1 for nothing."""

    seen: Evidence
    closed: NDArray[np.bool_]  # [rows, questions]
    chosen: NDArray[np.int64]  # [rows]


def simulate(
    model: PartialVAE,
    table: Any,
    target: str | None = None,
    *,
    strategy: Strategy | None = None,
    stop: StoppingRule | None = None,
    max_steps: int | None = None,
    on_progress: OnStep | None = None,
) -> Curves:
    """Interview every row of ``table``, answering from the row itself, and follow the prediction.

    The rules are those of `Interview`: prerequisites, pinned questions, budgets, stopping rules. A
    question to which the row holds no answer is impossible and never asked. A row that has stopped
    keeps its last prediction; the simulation ends when every row has stopped.

    Args:
        model: what was learned.
        table: held-out rows; rows whose target is missing are interviewed but not judged.
        target: what one wants to know; the model's own target where None.
        strategy: who chooses; EDDI where None.
        stop: when it is enough; where None, when nothing is left to ask.
        max_steps: the most questions a row is asked.
        on_progress: called with the steps done and the most there can be.

    Raises:
        TargetError: there is not one target, or no row of the table knows it.
    """
    name = the_target(model, target)
    truth = known_rows(model, table, name)
    turns = Turns(model, (name,), strategy or Information(), stop or Stop())
    rehearsal = Rehearsal(turns, truth)
    n_steps = rehearsal.n_steps(max_steps)
    measured, order = [], []
    for step, turn in enumerate(rehearsal.play(n_steps)):
        measured.append(measure(model, turn.seen, truth, name))
        order.append(turn.chosen)
        if on_progress:
            on_progress(step, n_steps)
    if on_progress and len(order) <= n_steps:
        on_progress(n_steps, n_steps)  # every row stopped before the most it could be asked
    asked = np.array(order[:-1], dtype=np.int64).reshape(-1, len(truth)).T  # [rows, steps]
    return _curves(model, truth, name, measured, asked)


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
        seen = Evidence.nothing(n_rows, self.truth.n_variables)
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


def the_target(model: PartialVAE, target: str | None) -> str:
    """The one target to follow: the one named, or the model's own."""
    names = model.schema_.target_names(model.target_ if target is None else target)
    if len(names) != 1:
        raise TargetError(
            f"a simulation follows one target, got {', '.join(map(repr, names)) or 'none'}. "
            "Name one with target=."
        )
    return names[0]


def known_rows(model: PartialVAE, table: Any, target: str) -> Evidence:
    """The table's rows, at least one of which knows the target."""
    truth = model.evidence(table, optional=(target,))
    if not truth.observed[:, model.schema_.position(target)].any():
        raise TargetError(
            f"no row of the table has a value of {target!r}, so no prediction could be judged. "
            "Give held-out rows whose target is known."
        )
    return truth


def _curves(
    model: PartialVAE,
    truth: Evidence,
    target: str,
    measured: list[Measured],
    order: NDArray[np.int64],
) -> Curves:
    schema, position = model.schema_, model.schema_.position(target)
    paid = np.append(schema.costs, 0.0)[order]  # the last, which -1 picks, costs nothing
    spent = np.concatenate([np.zeros((len(truth), 1)), paid.cumsum(1)], axis=1)
    return Curves(
        target=target,
        unit=schema[target].unit,
        levels=schema[target].levels,
        questions=tuple(question.name for question in schema.questions),
        truth=np.where(truth.observed[:, position], actual(model, truth, target), np.nan),
        order=order,
        spent=spent,
        **Measured.stack(measured, axis=1),
    )
