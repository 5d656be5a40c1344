"""The reversible map between a table's own numbers and the numbers a network likes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

Scaling = Literal["standard", "unit"]
"""Quantities to mean 0 and sd 1, counts after a logarithm; or, as the paper does, every variable,
whatever its kind, as one number in [0, 1]."""

Column = NDArray[np.float64]
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
        logarithmic = np.array(
            [scaling == "standard" and v.kind is Kind.COUNT for v in schema.variables], dtype=bool
        )
        warped = _warp(numbers, logarithmic)
        measured = [
            _measure[scaling](variable, column[~np.isnan(column)])
            for variable, column in zip(schema.variables, warped.T, strict=True)
        ]
        shift, scale = np.array(measured, dtype=np.float64).reshape(-1, 2).T
        scale = np.where(scale > ROUNDING * np.abs(shift), scale, 1.0)
        return cls(shift, scale, logarithmic)

    def encode(self, numbers: NDArray[np.float64]) -> Evidence:
        """Numbers of a table, NaN = not observed, as evidence."""
        return Evidence.of((_warp(numbers, self.logarithmic) - self.shift) / self.scale)

    def decode(self, coded: NDArray[np.floating]) -> NDArray[np.float64]:
        """The table's own numbers behind coded values: the inverse of `encode`."""
        warped = np.asarray(coded, dtype=np.float64) * self.scale + self.shift
        return np.where(self.logarithmic, np.expm1(np.where(self.logarithmic, warped, 0)), warped)


def _warp(numbers: NDArray[np.float64], logarithmic: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(logarithmic, np.log1p(np.where(logarithmic, numbers, 0)), numbers)


def _standard(variable: Variable, known: Column) -> tuple[float, float]:
    if variable.kind.has_levels or known.size == 0:
        return 0.0, 1.0
    return float(known.mean()), float(known.std())


def _unit(variable: Variable, known: Column) -> tuple[float, float]:
    if variable.kind.has_levels:
        return 0.0, float(variable.n_levels - 1)
    if known.size == 0:
        return 0.0, 1.0
    return float(known.min()), float(np.ptp(known))


_measure: dict[Scaling, Callable[[Variable, Column], tuple[float, float]]] = {
    "standard": _standard,
    "unit": _unit,
}
