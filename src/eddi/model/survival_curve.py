"""Survival curves: the probability of no event up to any time, from the probabilities of time bins."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eddi.errors import TargetError

Numbers = NDArray[np.float64]
NORMAL_QUANTILE = 1.6448536269514722  # of a central 90% interval
MIN_PROBABILITY = 1e-12  # of no event, so that logarithms are finite


@dataclass(frozen=True)
class SurvivalCurve:
    """Survival curves of some rows, or of one row, up to the latest event of the training table.

    The hazard is constant within a bin, so curves are exponential between the ends of bins.

    Args:
        edges: ends of the bins, in ascending order [edges].
        probabilities: of an event in each bin, and of none up to the last edge [..., edges + 1].
        log_hazard_sd: standard deviation of the log hazard [...]; None if it is not known.
    """

    edges: Numbers
    probabilities: Numbers
    log_hazard_sd: Numbers | None = None

    @cached_property
    def times(self) -> Numbers:
        """0 and the ends of the bins [edges + 1]."""
        return np.concatenate([[0.0], self.edges])

    @cached_property
    def survival(self) -> Numbers:
        """The probability of no event up to each of `times` [..., edges + 1]."""
        passed = 1 - np.cumsum(self.probabilities[..., :-1], axis=-1)
        start = np.ones((*passed.shape[:-1], 1))
        return np.asarray(np.clip(np.concatenate([start, passed], axis=-1), 0.0, 1.0))

    @cached_property
    def band(self) -> tuple[Numbers, Numbers] | None:
        """Ends of a 90% band around `survival`, each [..., edges + 1]; None if it is not known.

        It contains what other answers would still change, and the uncertainty of effects. The hazard is
        higher or lower by the same factor at all times.
        """
        if self.log_hazard_sd is None:
            return None
        factor = np.exp(NORMAL_QUANTILE * np.asarray(self.log_hazard_sd))[..., None]
        return self.survival**factor, self.survival ** (1 / factor)

    @property
    def horizon(self) -> float:
        """The last edge; nothing is known about later times."""
        return float(self.edges[-1])

    def at(self, times: ArrayLike) -> Numbers:
        """The probability of no event up to some times [..., times], or one time [...].

        Raises:
            TargetError: a time is negative, or after the last event of the training table.
        """
        wanted = np.asarray(times, dtype=np.float64)
        if not ((wanted >= 0) & (wanted <= self.horizon)).all():
            raise TargetError(
                f"the time {_first_outside(wanted, self.horizon):g} is not between 0 and {self.horizon:g}, "
                "the latest event of the training table. Choose an earlier time."
            )
        return self._interpolate(wanted)

    def risk(self, horizon: float) -> Numbers:
        """The probability of an event up to a time [...]."""
        return np.asarray(1 - self.at(horizon))

    @property
    def median(self) -> Numbers:
        """The time at which half of such rows have had the event; infinite if that is never reached."""
        return self.quantile(0.5)

    def quantile(self, level: float) -> Numbers:
        """The time up to which the event happens with probability ``level``; infinite if never reached."""
        cumulative = -np.log(np.maximum(self.survival, MIN_PROBABILITY))  # [..., times]
        wanted = -np.log1p(-level)
        after = (cumulative < wanted).sum(-1)  # the first of `times` at or after the quantile
        place = np.clip(after, 1, len(self.edges))
        low, high = (_take(cumulative, place - 1), _take(cumulative, place))
        share = np.clip((wanted - low) / np.maximum(high - low, MIN_PROBABILITY), 0.0, 1.0)
        time = self.times[place - 1] + share * np.diff(self.times)[place - 1]
        return np.where(after < len(self.times), time, np.inf)

    def restricted_mean(self, horizon: float | None = None) -> Numbers:
        """The mean time without an event up to a horizon, the last edge if None: the area under the curve."""
        return self._moment(1, horizon)

    def restricted_sd(self, horizon: float | None = None) -> Numbers:
        """The standard deviation of the time without an event up to a horizon."""
        variance = self._moment(2, horizon) - self._moment(1, horizon) ** 2
        return np.sqrt(np.maximum(variance, 0.0))

    def _moment(self, power: int, horizon: float | None) -> Numbers:
        """E[min(T, horizon)^power], the integral of power t^(power - 1) S(t)."""
        end = self.horizon if horizon is None else float(horizon)
        times = np.unique(np.concatenate([self.times, np.linspace(0, end, 200)]))
        times = times[times <= end]
        heights = power * times ** (power - 1) * self.at(times)
        return np.asarray(np.trapezoid(heights, times, axis=-1))

    def _interpolate(self, times: Numbers) -> Numbers:
        cumulative = -np.log(np.maximum(self.survival, MIN_PROBABILITY))
        place = np.clip(np.searchsorted(self.times, times, side="left"), 1, len(self.edges))
        share = (times - self.times[place - 1]) / np.diff(self.times)[place - 1]
        low, high = cumulative[..., place - 1], cumulative[..., place]
        return np.asarray(np.exp(-(low + share * (high - low))))

    def __getitem__(self, rows: Any) -> "SurvivalCurve":
        sd = None if self.log_hazard_sd is None else self.log_hazard_sd[rows]
        return SurvivalCurve(self.edges, self.probabilities[rows], sd)


def _take(by_time: Numbers, place: NDArray[np.int64]) -> Numbers:
    return np.take_along_axis(by_time, np.asarray(place)[..., None], axis=-1)[..., 0]


def _first_outside(times: Numbers, horizon: float) -> float:
    flat = np.atleast_1d(times).ravel()
    return float(flat[~((flat >= 0) & (flat <= horizon))][0])
