"""One turn of many interviews at once: which question is asked next, if any.

`Interview` is a batch of one; `simulate` is a batch of all held-out rows. Both come through here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Farsighted, Strategy
from eddi.strategy.stopping import Situation, StoppingRule, most_asked, promises
from eddi.table.evidence import Evidence
from eddi.table.variable import level_position

ROUNDING = 1e-9  # of money: a budget of 0.3 buys three questions of 0.1


@dataclass(frozen=True)
class Turns:
    """The rules of some interviews: what is wanted, who chooses, and when it is enough."""

    model: PartialVAE
    target: tuple[str, ...]
    strategy: Strategy
    stop: StoppingRule

    def __post_init__(self) -> None:
        from eddi.interview.risk_control import settled  # which rehearses by turns

        stop = settled(self.stop, self.model, self.target, self.strategy)
        object.__setattr__(self, "stop", stop)

    def next(
        self,
        seen: Evidence,
        closed: NDArray[np.bool_],
        n_asked: NDArray[np.int64],
        *,
        spent: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """The question each row is asked next, as a position, or -1 where it is enough.

        Args:
            seen: what is known of each row.
            closed: questions that must not be asked (again) [rows, questions].
            n_asked: how many questions each row was asked [rows].
            spent: what they cost [rows]; the cost of what is closed where None.
        """
        scores = self.scores(seen)
        open_ = self.open(seen, closed, spent=spent) & (self._always | (scores > -np.inf))
        scores = scores + self.opened(seen, open_, n_asked)
        if self._promises:
            pinned = open_ & self._always
            open_ = np.where(pinned.any(1, keepdims=True), pinned, open_)
        best = np.where(open_, scores, -np.inf).max(1, initial=-np.inf)
        situation = Situation(n_asked, best, lambda: self.model.predict_evidence(seen, self.target))
        enough = self.stop.reached(situation)
        return np.where(enough, choose(scores, open_ & self._always), choose(scores, open_))

    def scores(self, seen: Evidence) -> NDArray[np.float64]:
        """What each question is worth to each row, open or not [rows, questions]; -inf is never."""
        scores = self.strategy.score(self.model, seen, self.target).cpu().numpy().astype(np.float64)
        # An answer far beyond all rows may be more than the network can add up; it tells nothing then.
        return np.where(np.isnan(scores), 0.0, scores)

    def opened(
        self, seen: Evidence, open_: NDArray[np.bool_], n_asked: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """What a first answer opens [rows, questions]: 0 but for those who begin with all open."""
        begins = (n_asked == 0) & ~seen.observed.any(1)
        if begins.any() and self._is_farsighted:
            begins &= (open_ == self._free).all(1)
            return np.where(begins[:, None], self._opening, 0.0)
        return np.zeros(open_.shape)

    def open(
        self,
        seen: Evidence,
        closed: NDArray[np.bool_],
        *,
        spent: NDArray[np.float64] | None = None,
    ) -> NDArray[np.bool_]:
        """Questions that may be asked: new, not about the target, affordable, prerequisites met."""
        news = (~seen.observed).astype(np.float32) @ self._reveals.T.astype(np.float32) > 0
        open_ = news & ~closed & self._askable & self._prerequisites(seen)
        left = self.stop.budget - (closed @ self._costs if spent is None else spent)  # [rows]
        return np.asarray(open_ & self._affordable(open_, left))

    def pinned(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where a question that is always asked was chosen [rows]."""
        return np.asarray((chosen >= 0) & self._always[chosen])

    def _affordable(self, open_: NDArray[np.bool_], left: NDArray[np.float64]) -> NDArray[np.bool_]:
        """What leaves enough for the questions that are always asked, which always are affordable."""
        reserved = (open_ & self._always) @ self._costs  # [rows]
        affordable = self._costs <= (left - reserved + ROUNDING)[:, None]
        return np.asarray(affordable | self._always)

    def _prerequisites(self, seen: Evidence) -> NDArray[np.bool_]:
        met = np.ones((len(seen), len(self._costs)), dtype=bool)
        numbers = self.model.coding_.decode(seen.values) if self._required else seen.values
        for place, variable, levels in self._required:
            known = seen.observed[:, variable]
            met[:, place] &= known & np.isin(numbers[:, variable].round(), levels)
        return met

    @cached_property
    def _reveals(self) -> NDArray[np.bool_]:
        """Which question reveals which variable [questions, variables]."""
        schema = self.model.schema_
        reveals = np.zeros((len(schema.questions), len(schema.variables)), dtype=bool)
        for place, question in enumerate(schema.questions):
            reveals[place, schema.positions(question.reveals)] = True
        return reveals

    @cached_property
    def _askable(self) -> NDArray[np.bool_]:
        never = np.array([question.never for question in self.model.schema_.questions], dtype=bool)
        return np.asarray(~self._reveals[:, self.model.schema_.positions(self.target)].any(1) & ~never)

    @cached_property
    def _always(self) -> NDArray[np.bool_]:
        return np.array([question.always for question in self.model.schema_.questions], dtype=bool)

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        """Questions that may be asked of anybody at once."""
        required = np.array([bool(question.requires) for question in self.model.schema_.questions])
        return np.asarray(self._askable & ~required)

    @cached_property
    def _is_farsighted(self) -> bool:
        """Whether the strategy looks ahead at the first question, and any may come second."""
        dearest = np.sort(self._costs[self._free])[-2:].sum()
        is_long = most_asked(self.stop) > 1 and dearest <= self.stop.budget + ROUNDING
        return isinstance(self.strategy, Farsighted) and is_long

    @cached_property
    def _opening(self) -> NDArray[np.float64]:
        assert isinstance(self.strategy, Farsighted)  # noqa: S101  # `_is_farsighted` was asked before
        return self.strategy.opening(self.model, self.target).double().numpy()

    @cached_property
    def _promises(self) -> bool:
        """Whether what is always asked comes first: a promise is of a course that no threshold bends."""
        return promises(self.stop)

    @cached_property
    def _costs(self) -> NDArray[np.float64]:
        return self.model.schema_.costs

    @cached_property
    def _required(self) -> list[tuple[int, int, list[int]]]:
        """Question, variable and allowed positions of its levels, for every prerequisite."""
        schema = self.model.schema_
        return [
            (place, schema.position(name), _positions(schema[name].levels, levels))
            for place, question in enumerate(schema.questions)
            for name, levels in question.requires.items()
        ]


def choose(scores: NDArray[np.floating], open_: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The best open question of each row, -1 where none is open."""
    best = np.where(open_, scores, -np.inf).argmax(1)
    return np.where(open_.any(1), best, -1)


def _positions(levels: tuple[object, ...], wanted: Sequence[object]) -> list[int]:
    found = (level_position(levels, level) for level in wanted)  # type: ignore[arg-type]
    return [position for position in found if position is not None]
