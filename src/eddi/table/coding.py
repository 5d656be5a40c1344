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
"""Real variables to mean 0 and sd 1; or, as the paper does, every variable, whatever its kind, as one
number in [0, 1]."""


@dataclass(frozen=True)
class Coding:
    """For each variable, ``coded = (number - shift) / scale``; levels keep their positions."""

    shift: NDArray[np.float64]  # [variables]
    scale: NDArray[np.float64]  # [variables]

    @classmethod
    def fit(cls, schema: Schema, numbers: NDArray[np.float64], scaling: Scaling) -> "Coding":
        """Learn shift and scale from the numbers of a training table, NaN = not observed."""
        pairs = [
            _measure[scaling](variable, column[~np.isnan(column)])
            for variable, column in zip(schema.variables, numbers.T, strict=True)
        ]
        shift, scale = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return cls(shift, np.where(scale > 0, scale, 1.0))

    def encode(self, numbers: NDArray[np.float64]) -> Evidence:
        """Numbers of a table, NaN = not observed, as evidence."""
        return Evidence.of((numbers - self.shift) / self.scale)

    def decode(self, coded: NDArray[np.floating]) -> NDArray[np.float64]:
        """The table's own numbers behind coded values: the inverse of `encode`."""
        return np.asarray(coded, dtype=np.float64) * self.scale + self.shift


def _standard(variable: Variable, known: NDArray[np.float64]) -> tuple[float, float]:
    if variable.kind is not Kind.REAL or known.size == 0:
        return 0.0, 1.0
    return float(known.mean()), float(known.std())


def _unit(variable: Variable, known: NDArray[np.float64]) -> tuple[float, float]:
    if variable.kind.has_levels:
        return 0.0, float(variable.n_levels - 1)
    if known.size == 0:
        return 0.0, 1.0
    return float(known.min()), float(np.ptp(known))


_measure: dict[Scaling, Callable[[Variable, NDArray[np.float64]], tuple[float, float]]] = {
    "standard": _standard,
    "unit": _unit,
}
