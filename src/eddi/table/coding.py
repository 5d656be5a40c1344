"""The reversible map between the numbers of a table and the inputs of a network."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.variable import Kind

Scaling = Literal["standard", "unit"]
"""How numbers are scaled.

"standard" gives quantities mean 0 and standard deviation 1 (counts after a logarithm) and leaves level
positions unchanged. "unit" maps every variable of any kind to one number in [0, 1], as in the paper.
"""

# Distances from the training range as multiples of its width: from the first one on, a value must not
# make a prediction more certain; from the second one on, it is not used.
EXTREME_DISTANCE, MAX_DISTANCE = 0.1, 1.0
LARGEST = float(np.finfo(np.float32).max)
ROUNDING = 1e-12  # a scale below this fraction of the mean is the rounding error of a constant column


@dataclass(frozen=True)
class Coding:
    """For each variable, ``coded = (x - shift) / scale``.

    Where ``logarithmic``, x is the logarithm of one plus the number. Otherwise x is the number itself.
    ``low`` and ``high`` are the range of the coded training values; None if it is not known.
    """

    shift: NDArray[np.float64]  # [variables]
    scale: NDArray[np.float64]  # [variables]
    logarithmic: NDArray[np.bool_]  # [variables]
    low: NDArray[np.float32] | None = None  # [variables]
    high: NDArray[np.float32] | None = None  # [variables]

    @classmethod
    def fit(cls, schema: Schema, numbers: NDArray[np.float64], scaling: Scaling) -> "Coding":
        """Learn the coding from the numbers of a training table, NaN = not observed."""
        stats = RunningStats.from_numbers(numbers, find_logarithmic(schema, scaling))
        return cls.from_stats(schema, stats, scaling)

    @classmethod
    def from_stats(cls, schema: Schema, stats: "RunningStats", scaling: Scaling) -> "Coding":
        """Return the coding for numbers with these statistics.

        The statistics must be those after the logarithm of the variables in `find_logarithmic`.
        """
        n_levels = np.array([v.n_levels if v.kind.is_discrete else 0 for v in schema.variables])
        has_levels = n_levels > 0
        is_survival = np.array([v.survival is not None for v in schema.variables], dtype=bool)
        if scaling == "standard":
            shift, scale = np.where(has_levels, 0.0, stats.mean), np.where(has_levels, 1.0, stats.sd)
        else:
            width = stats.maximum - stats.minimum
            shift = np.where(has_levels, 0.0, stats.minimum)
            scale = np.where(has_levels, np.where(is_survival, 1.0, n_levels - 1.0), width)
        is_known = has_levels | (stats.n_observed > 0)
        shift, scale = np.where(is_known, shift, 0.0), np.where(is_known, scale, 0.0)
        scale = np.where(scale > ROUNDING * np.abs(shift), scale, 1.0)
        low = np.where(has_levels, 0.0, np.where(is_known, stats.minimum, -np.inf))
        high = np.where(has_levels, n_levels - 1.0, np.where(is_known, stats.maximum, np.inf))
        return cls(
            shift,
            scale,
            find_logarithmic(schema, scaling),
            ((low - shift) / scale).astype(np.float32),
            ((high - shift) / scale).astype(np.float32),
        )

    def to_document(self) -> dict[str, Any]:
        """Return the coding as plain JSON. A range that is not finite is left out."""
        document = {
            "shift": self.shift.tolist(),
            "scale": self.scale.tolist(),
            "logarithmic": self.logarithmic.tolist(),
        }
        if self.low is not None and self.high is not None and np.isfinite(self.high - self.low).all():
            document |= {"low": self.low.tolist(), "high": self.high.tolist()}
        return document

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> "Coding":
        """Return the coding that `to_document` describes. The schema gives a range that it does not."""
        coding = cls(
            np.array(document["shift"], dtype=np.float64),
            np.array(document["scale"], dtype=np.float64),
            np.array(document["logarithmic"], dtype=np.bool_),
        )
        if "low" not in document:
            return coding.with_schema_range(schema)
        low, high = (np.array(document[end], dtype=np.float32) for end in ("low", "high"))
        return replace(coding, low=low, high=high)

    def with_schema_range(self, schema: Schema) -> "Coding":
        """Return a copy whose training range is the range that the schema gives."""
        bounds = [
            (0, v.n_levels - 1) if v.kind.is_discrete else (v.low, v.high) for v in schema.variables
        ]
        low, high = np.array(bounds, dtype=np.float64).T  # None becomes NaN
        low, high = (self.encode(end).numbers()[0] for end in (low, high))
        return replace(
            self,
            low=np.where(np.isnan(low), -np.inf, low).astype(np.float32),
            high=np.where(np.isnan(high), np.inf, high).astype(np.float32),
        )

    def widen(self, numbers: NDArray[np.float64]) -> "Coding":
        """Return a copy whose training range also contains these numbers, NaN = not observed."""
        if self.low is None or self.high is None:
            return self
        coded = self.encode(numbers)
        low = np.where(coded.observed, coded.values, np.inf).min(0, initial=np.inf)
        high = np.where(coded.observed, coded.values, -np.inf).max(0, initial=-np.inf)
        return replace(self, low=np.minimum(self.low, low), high=np.maximum(self.high, high))

    def encode(self, numbers: NDArray[np.float64]) -> Evidence:
        """Return the numbers of a table, NaN = not observed, as evidence."""
        coded = (_apply_logarithm(numbers, self.logarithmic) - self.shift) / self.scale
        return Evidence.of(np.clip(coded, -LARGEST, LARGEST))

    def limit(self, evidence: Evidence) -> Evidence:
        """Return the evidence that a network may use: nothing outside the range it was trained on.

        A network extrapolates with false certainty. A value outside the training range is therefore
        replaced by the nearest end of the range. A value further away than the range is wide is treated
        as not observed: it is most likely a typing error or a code for a missing value.
        """
        if self.low is None or self.high is None:
            return evidence
        values = np.minimum(np.maximum(evidence.values, self.low), self.high)  # faster than np.clip
        if not (evidence.observed & (values != evidence.values)).any():
            return evidence
        return Evidence(values, evidence.observed & ~self.find_extreme(evidence, MAX_DISTANCE))

    def find_extreme(self, evidence: Evidence, distance: float = EXTREME_DISTANCE) -> NDArray[np.bool_]:
        """Return which observed values are further from the training range than this [rows, variables].

        The distance is a multiple of the width of the range.
        """
        if self.low is None or self.high is None:
            return np.zeros(evidence.observed.shape, dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite distances and ranges
            beyond = np.maximum(evidence.values - self.high, self.low - evidence.values)
            is_extreme = (beyond > 0) & (beyond > distance * (self.high - self.low))
        return np.asarray(evidence.observed & is_extreme)

    def training_range(self, position: int) -> tuple[float, float]:
        """Return the range of the training values of a variable, in its own units."""
        if self.low is None or self.high is None:
            return -np.inf, np.inf
        low, high = self.decode(np.stack([self.low, self.high]))[:, position]
        return float(low), float(high)

    def decode(self, coded: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return coded values as the numbers of a table: the inverse of `encode`."""
        x = np.asarray(coded, dtype=np.float64) * self.scale + self.shift
        return np.where(self.logarithmic, np.expm1(np.where(self.logarithmic, x, 0)), x)


@dataclass(frozen=True)
class RunningStats:
    """Mean, standard deviation and range of each variable, which can be merged across batches."""

    n_observed: NDArray[np.int64]  # [variables]
    mean: NDArray[np.float64]  # [variables] 0 if there are no observed values, like the others below
    sd: NDArray[np.float64]  # [variables]
    minimum: NDArray[np.float64]  # [variables]
    maximum: NDArray[np.float64]  # [variables]

    @classmethod
    def from_numbers(
        cls, numbers: NDArray[np.float64], logarithmic: NDArray[np.bool_]
    ) -> "RunningStats":
        """Return the statistics of numbers [rows, variables], NaN = not observed.

        Args:
            numbers: as `columns.table_to_numbers` returns them.
            logarithmic: the variables to take the logarithm of first [variables].
        """
        columns = [column[~np.isnan(column)] for column in _apply_logarithm(numbers, logarithmic).T]
        stats = [
            (len(column), column.mean(), column.std(), column.min(), column.max())
            if len(column)
            else (0, 0, 0, 0, 0)
            for column in columns
        ]
        n_observed, *rest = np.array(stats, dtype=np.float64).reshape(-1, 5).T
        return cls(n_observed.astype(np.int64), *rest)

    def merge(self, other: "RunningStats") -> "RunningStats":
        """Return the statistics of both sets of numbers combined (Chan, Golub and LeVeque 1979)."""
        n_observed = self.n_observed + other.n_observed
        weight = np.divide(
            other.n_observed, n_observed, out=np.zeros(len(n_observed)), where=n_observed > 0
        )
        difference = other.mean - self.mean
        variance = (
            self.sd**2 * (1 - weight) + other.sd**2 * weight + difference**2 * weight * (1 - weight)
        )
        minimum = np.where(weight == 0, self.minimum, np.minimum(self.minimum, other.minimum))
        maximum = np.where(weight == 0, self.maximum, np.maximum(self.maximum, other.maximum))
        return RunningStats(
            n_observed,
            self.mean + difference * weight,
            np.sqrt(variance),
            np.where(weight == 1, other.minimum, minimum),
            np.where(weight == 1, other.maximum, maximum),
        )


def find_logarithmic(schema: Schema, scaling: Scaling) -> NDArray[np.bool_]:
    """Return a mask of the variables that are scaled after a logarithm [variables]."""
    is_logarithmic = [scaling == "standard" and v.kind is Kind.COUNT for v in schema.variables]
    return np.array(is_logarithmic, dtype=bool)


def _apply_logarithm(
    numbers: NDArray[np.float64], logarithmic: NDArray[np.bool_]
) -> NDArray[np.float64]:
    return np.where(logarithmic, np.log1p(np.where(logarithmic, numbers, 0)), numbers)
