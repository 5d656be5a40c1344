"""The reversible map between a table's own numbers and the numbers a network likes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.variable import Kind

Scaling = Literal["standard", "unit"]
"""Quantities to mean 0 and sd 1, counts after a logarithm; or, as the paper does, every variable,
whatever its kind, as one number in [0, 1]."""

ROUNDING = 1e-12  # a spread below this share of the mean is the rounding of a constant column


@dataclass(frozen=True)
class Coding:
    """For each variable, ``coded = (warp(number) - shift) / scale``.

    The warp is the logarithm of one plus the number where ``logarithmic``, else nothing.
    """

    shift: NDArray[np.float64]  # [variables]
    scale: NDArray[np.float64]  # [variables]
    logarithmic: NDArray[np.bool_]  # [variables]

    @classmethod
    def fit(cls, schema: Schema, numbers: NDArray[np.float64], scaling: Scaling) -> "Coding":
        """Learn the map from the numbers of a training table, NaN = not observed."""
        return cls.of(schema, Spread.of(numbers, logarithmic(schema, scaling)), scaling)

    @classmethod
    def of(cls, schema: Schema, spread: "Spread", scaling: Scaling) -> "Coding":
        """The map for numbers that are spread so, after `logarithmic` ones were taken as such."""
        levels = np.array([v.n_levels if v.kind.has_levels else 0 for v in schema.variables])
        if scaling == "standard":
            shift, scale = np.where(levels, 0.0, spread.mean), np.where(levels, 1.0, spread.sd)
        else:
            width = spread.high - spread.low
            shift, scale = np.where(levels, 0.0, spread.low), np.where(levels, levels - 1.0, width)
        shift, scale = (np.where(spread.n | levels, each, 0.0) for each in (shift, scale))
        scale = np.where(scale > ROUNDING * np.abs(shift), scale, 1.0)
        return cls(shift, scale, logarithmic(schema, scaling))

    def encode(self, numbers: NDArray[np.float64]) -> Evidence:
        """Numbers of a table, NaN = not observed, as evidence."""
        return Evidence.of((_warp(numbers, self.logarithmic) - self.shift) / self.scale)

    def decode(self, coded: NDArray[np.floating]) -> NDArray[np.float64]:
        """The table's own numbers behind coded values: the inverse of `encode`."""
        warped = np.asarray(coded, dtype=np.float64) * self.scale + self.shift
        return np.where(self.logarithmic, np.expm1(np.where(self.logarithmic, warped, 0)), warped)


@dataclass(frozen=True)
class Spread:
    """How the known numbers of each variable are spread; those of two batches can be added."""

    n: NDArray[np.int64]  # [variables] known
    mean: NDArray[np.float64]  # [variables] 0 where nothing is known
    sd: NDArray[np.float64]  # [variables]
    low: NDArray[np.float64]  # [variables]
    high: NDArray[np.float64]  # [variables]

    @classmethod
    def of(cls, numbers: NDArray[np.float64], logarithmic: NDArray[np.bool_]) -> "Spread":
        """The spread of numbers [rows, variables], NaN = not observed, some after a logarithm."""
        known = [column[~np.isnan(column)] for column in _warp(numbers, logarithmic).T]
        facts = [
            (len(one), one.mean(), one.std(), one.min(), one.max()) if len(one) else (0, 0, 0, 0, 0)
            for one in known
        ]
        n, *rest = np.array(facts, dtype=np.float64).reshape(-1, 5).T
        return cls(n.astype(np.int64), *rest)

    @classmethod
    def of_batches(
        cls, batches: Iterable[NDArray[np.float64]], logarithmic: NDArray[np.bool_]
    ) -> "Spread":
        """The spread of all numbers of a stream, in one pass: exact but for rounding."""
        return reduce(cls.plus, (cls.of(numbers, logarithmic) for numbers in batches))

    def plus(self, other: "Spread") -> "Spread":
        """The spread of both together (Chan, Golub and LeVeque 1979)."""
        n = self.n + other.n
        share = np.divide(other.n, n, out=np.zeros(len(n)), where=n > 0)
        apart = other.mean - self.mean
        squares = self.sd**2 * (1 - share) + other.sd**2 * share + apart**2 * share * (1 - share)
        low = np.where(share == 0, self.low, np.minimum(self.low, other.low))
        high = np.where(share == 0, self.high, np.maximum(self.high, other.high))
        return Spread(
            n,
            self.mean + apart * share,
            np.sqrt(squares),
            np.where(share == 1, other.low, low),
            np.where(share == 1, other.high, high),
        )


def logarithmic(schema: Schema, scaling: Scaling) -> NDArray[np.bool_]:
    """Which variables are scaled after a logarithm [variables]."""
    counts = [scaling == "standard" and v.kind is Kind.COUNT for v in schema.variables]
    return np.array(counts, dtype=bool)


def _warp(numbers: NDArray[np.float64], logarithmic: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(logarithmic, np.log1p(np.where(logarithmic, numbers, 0)), numbers)
