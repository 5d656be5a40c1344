"""Warnings about a table before a model is trained on it: target leaks, missing values, identifiers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.service.analyst.data.column_profile import describe_column
from eddi.service.analyst.data.tables import UploadedTable
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema

MANY_MISSING = 0.5  # share of a column's cells
FEW_ROWS = 100
LEAK_STRENGTH = 0.97  # `predictive_strength` from which a variable is reported as a leak
MAX_ROWS = 4_000  # examined for leaks, which are large effects
MAX_BINS = 40
MIN_ROWS_PER_BIN = 5

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class DataWarning:
    """A possible problem with a column, or with the whole table if ``column`` is None."""

    column: str | None
    kind: str  # "leak", "missing", "identifier", "left out", "rows", "target", "check"
    message: str

    @property
    def is_serious(self) -> bool:
        """Whether the model would be misleading if nothing is changed."""
        return self.kind in ("leak", "target")


def find_warnings(table: UploadedTable, rows: pa.Table) -> list[DataWarning]:
    """All warnings about a table, serious ones first."""
    warnings = [*_table_warnings(table), *find_leaks(table.schema, rows), *_column_warnings(table)]
    return sorted(warnings, key=lambda warning: not warning.is_serious)


def group_by_column(warnings: Sequence[DataWarning]) -> dict[str, list[DataWarning]]:
    """The warnings about each column; those about the whole table are left out."""
    columns: dict[str, list[DataWarning]] = {}
    for warning in warnings:
        if warning.column is not None:
            columns.setdefault(warning.column, []).append(warning)
    return columns


def find_leaks(schema: Schema, rows: pa.Table) -> list[DataWarning]:
    """Variables that predict a target almost perfectly on their own."""
    if not schema.targets:
        return []
    numbers = table_to_numbers(rows.slice(0, MAX_ROWS), schema)
    warnings = []
    for target in schema.targets:
        truth = numbers[:, schema.position(target)]
        for position, variable in enumerate(schema.variables):
            if variable.name in schema.targets:
                continue
            has_levels = schema[target].kind.has_levels
            strength = predictive_strength(numbers[:, position], truth, has_levels=has_levels)
            if strength >= LEAK_STRENGTH:
                message = (
                    f"Explains {strength:.0%} of {target!r} on its own. If it is only known afterwards, "
                    "or is computed from it, leave it out."
                )
                warnings.append(DataWarning(variable.name, "leak", message))
    return warnings


def predictive_strength(values: Numbers, truth: Numbers, *, has_levels: bool) -> float:
    """How well ``values`` alone predict ``truth`` on held-out rows, from 0 to 1.

    Values are cut into bins. The prediction for a bin is learned from half of the rows and scored on the
    other half: by the share of variance explained for a quantity, and by the share of errors avoided for
    levels. For a quantity the squared rank correlation counts as well, because a monotonic relation
    determines the quantity completely, however fine the bins would have to be.
    """
    is_complete = ~np.isnan(values) & ~np.isnan(truth)
    x, y = values[is_complete], truth[is_complete]
    if len(x) < 4 * MIN_ROWS_PER_BIN or len(np.unique(x)) < 2 or len(np.unique(y)) < 2:
        return 0.0
    bins = _cut_into_bins(x)
    is_even = np.arange(len(x)) % 2 == 0
    score = _error_reduction if has_levels else _explained_variance
    strength = max(0.0, (score(bins, y, is_even) + score(bins, y, ~is_even)) / 2)
    if has_levels:
        return strength
    correlation = float(np.corrcoef(_average_ranks(x), _average_ranks(y))[0, 1])
    return max(strength, correlation**2)


def _table_warnings(table: UploadedTable) -> list[DataWarning]:
    warnings = []
    if table.n_rows < FEW_ROWS:
        message = f"The table has only {table.n_rows} rows. Expect wide intervals."
        warnings.append(DataWarning(None, "rows", message))
    if not table.schema.targets:
        message = "No column is marked as the target of interviews."
        warnings.append(DataWarning(None, "target", message))
    return warnings


def _column_warnings(table: UploadedTable) -> list[DataWarning]:
    set_aside = {column.name: column for column in table.schema.set_aside}
    warnings = []
    for name, profile in zip(table.columns, table.profiles, strict=True):
        missing = profile["missing"] / max(table.n_rows, 1)
        if name in set_aside:
            kind = "identifier" if set_aside[name].role == "identifier" else "left out"
            warnings.append(DataWarning(name, kind, f"Left out: {set_aside[name].reason}."))
        elif missing >= MANY_MISSING:
            warnings.append(DataWarning(name, "missing", f"{missing:.0%} of the cells are missing."))
        if profile.get("checks") and profile["inferred"] == describe_column(name, table.schema):
            for check in profile["checks"]:
                message = f"Check: {check['message']} {check['line']}".strip()
                warnings.append(DataWarning(name, "check", message))
    return warnings


def _average_ranks(values: Numbers) -> Numbers:
    """The rank of each value; ties get their average rank."""
    ordered = np.sort(values)
    first, last = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray((first + last) / 2)


def _cut_into_bins(x: Numbers) -> NDArray[np.int64]:
    distinct, bins = np.unique(x, return_inverse=True)
    if len(distinct) <= MAX_BINS:
        return np.asarray(bins, dtype=np.int64)
    n_bins = max(2, min(MAX_BINS, len(x) // (2 * MIN_ROWS_PER_BIN)))
    edges = np.quantile(x, np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.searchsorted(edges, x).astype(np.int64)


def _error_reduction(bins: NDArray[np.int64], y: Numbers, is_train: NDArray[np.bool_]) -> float:
    """The share of errors avoided by predicting each bin's most frequent level."""
    levels = y.astype(np.int64)
    counts = np.zeros((int(bins.max()) + 1, int(levels.max()) + 1))
    np.add.at(counts, (bins[is_train], levels[is_train]), 1)
    most_frequent = int(counts.sum(0).argmax())
    prediction = np.where(counts.sum(1) > 0, counts.argmax(1), most_frequent)
    error = float((prediction[bins[~is_train]] != levels[~is_train]).mean())
    baseline = float((levels[~is_train] != most_frequent).mean())
    return 1 - error / baseline if baseline > 0 else 0.0


def _explained_variance(bins: NDArray[np.int64], y: Numbers, is_train: NDArray[np.bool_]) -> float:
    """The share of variance explained by predicting each bin's mean."""
    n_bins = int(bins.max()) + 1
    sums = np.bincount(bins[is_train], y[is_train], n_bins)
    counts = np.bincount(bins[is_train], minlength=n_bins)
    mean = y[is_train].mean()
    prediction = np.where(counts > 0, sums / np.maximum(counts, 1), mean)
    error = float(((prediction[bins[~is_train]] - y[~is_train]) ** 2).mean())
    baseline = float(((mean - y[~is_train]) ** 2).mean())
    return 1 - error / baseline if baseline > 0 else 0.0
