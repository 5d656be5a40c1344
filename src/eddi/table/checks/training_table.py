"""Warnings about a training table: few rows, rare classes, leakage, and duplicates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddi.table.checks.leakage import Numbers, predictive_strength
from eddi.table.schema import Schema
from eddi.table.text import format_value
from eddi.table.variable import Kind

FEW_ROWS = 100
RARE_ROWS = 10  # a class with fewer rows is rare
LEAK_STRENGTH = 0.97  # `predictive_strength` from which a variable is reported as a leak
MAX_ROWS = 4_000  # examined for leaks and duplicates, which are large effects
MIN_OBSERVED = 3  # values of a row that is reported as a duplicate


@dataclass(frozen=True)
class DataWarning:
    """A possible problem with a column, or with the whole table if ``column`` is None."""

    column: str | None
    kind: str  # "leak", "missing", "identifier", "left out", "rows", "classes", "target", "check"
    message: str

    def __str__(self) -> str:
        return self.message if self.column is None else f"{self.column!r}: {self.message}"

    @property
    def is_serious(self) -> bool:
        """Whether the model would be misleading if nothing is changed."""
        return self.kind in ("leak", "target")


def find_training_warnings(
    schema: Schema, numbers: Numbers, targets: Sequence[str], *, n_rows: int | None = None
) -> list[DataWarning]:
    """All warnings about rows that a model is to be trained on, the serious ones first.

    Args:
        schema: the variables.
        numbers: rows, as `columns.table_to_numbers` returns them [rows, variables].
        targets: what is to be predicted.
        n_rows: the number of rows of the table, if there are more than in ``numbers``.
    """
    is_whole = n_rows is None or n_rows <= len(numbers)
    rows = numbers[:MAX_ROWS]
    warnings = _find_leaks(schema, rows, targets)
    if (n_rows or len(numbers)) < FEW_ROWS:
        message = f"The table has only {n_rows or len(numbers)} rows. Expect wide intervals."
        warnings.append(DataWarning(None, "rows", message))
    if is_whole:
        warnings += _find_rare_classes(schema, numbers, targets)
    return warnings + _find_duplicate_rows(schema, rows)


def _find_leaks(schema: Schema, rows: Numbers, targets: Sequence[str]) -> list[DataWarning]:
    """Variables that predict a target almost perfectly on their own."""
    warnings = []
    for target in targets:
        truth, kind = rows[:, schema.position(target)], schema[target].kind
        if kind is Kind.SURVIVAL:  # a censored time is no value that could be explained
            continue
        for position, variable in enumerate(schema.variables):
            if variable.name in targets or variable.kind is Kind.SURVIVAL:
                continue
            is_ordered = Kind.CATEGORY not in (kind, variable.kind)
            values = rows[:, position]
            strength = predictive_strength(
                values, truth, has_levels=kind.has_levels, is_ordered=is_ordered
            )
            if strength >= LEAK_STRENGTH:
                message = _describe_leak(values, truth, target, strength)
                warnings.append(DataWarning(variable.name, "leak", message))
    return warnings


def _describe_leak(values: Numbers, truth: Numbers, target: str, strength: float) -> str:
    is_complete = ~np.isnan(values) & ~np.isnan(truth)
    if np.array_equal(values[is_complete], truth[is_complete]):
        return f"Holds the same values as {target!r}. Leave it out."
    return (
        f"Explains {strength:.0%} of {target!r} on its own. If it is only known afterwards, "
        "or is computed from it, leave it out."
    )


def _find_rare_classes(schema: Schema, numbers: Numbers, targets: Sequence[str]) -> list[DataWarning]:
    warnings = []
    for target in targets:
        variable, values = schema[target], numbers[:, schema.position(target)]
        if not variable.kind.has_levels:
            continue
        counts = [(level, int((values == place).sum())) for place, level in enumerate(variable.levels)]
        rare = [f"{format_value(level)} ({count})" for level, count in counts if count < RARE_ROWS]
        if rare:
            message = (
                f"These classes of {target!r} have fewer than {RARE_ROWS} rows: {', '.join(rare)}. The model "
                "can hardly learn them: collect more rows, or merge them with others."
            )
            warnings.append(DataWarning(target, "classes", message))
    return warnings


def _find_duplicate_rows(schema: Schema, rows: Numbers) -> list[DataWarning]:
    """Rows that occur twice. Rows without a quantity may be equal by chance."""
    is_real = np.array([variable.kind is Kind.REAL for variable in schema.variables])
    is_observed = ~np.isnan(rows)
    examined = rows[is_observed[:, is_real].any(1) & (is_observed.sum(1) >= MIN_OBSERVED)]
    n_distinct = (
        len(np.unique(np.where(np.isnan(examined), np.inf, examined), axis=0)) if len(examined) else 0
    )
    n_repeated = len(examined) - n_distinct
    if n_repeated == 0:
        return []
    message = (
        f"{n_repeated:,} of {len(rows):,} rows repeat another row exactly. If they are copies, remove them: "
        "held-out rows that were also trained on make a model look better than it is."
    )
    return [DataWarning(None, "rows", message)]
