"""Infer the schema of a table from its values.

The rules follow common sense: whole numbers with few values are a scale, text with few values is a
category, and a column that numbers the rows is an identifier. A column that cannot be modelled is set
aside with a reason.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from eddi.errors import TableError, TargetError
from eddi.table.column_stats import MAX_DISTINCT_VALUES, ColumnStats
from eddi.table.columns import MISSING_MARKERS, is_text, raise_infinite
from eddi.table.schema import Schema, SetAside
from eddi.table.text import format_names, format_value
from eddi.table.variable import Kind, Level, Variable
from eddi.table.vocabulary import (
    DATE_OR_TIME,
    IDENTIFIER_NAME,
    NEGATION_PREFIXES,
    OPPOSITES,
    ORDINAL_SCALES,
    natural_sort_key,
    parse_range_start,
)

MAX_STEPS = 12  # whole numbers with at most this many values are steps of a scale, not quantities
MAX_UNUSUAL_STEPS = 6  # limit for steps not of 1 from near 0: 50, 60, ..., 180 is a measurement
MAX_LEVELS = 64  # text with more values than this is free text: each level would be too rare
MIN_COUNT_PER_VALUE = 2  # on average; a column of many values with fewer is as good as all different
MIN_NUMBERED_ROWS = 10  # rows that count 1, 2, 3, ... before we conclude that they number the rows
MAX_TYPICAL_COUNT = 12  # whole numbers with a larger median behave like a measurement
MIN_COUNT_TAIL = 4  # counts have a long tail: their maximum is at least this many times the median
RANGE_MARGIN = 0.5  # answers may lie outside the observed range by this fraction of its width
LARGEST = 1e300  # beyond this, or with a range narrower than its inverse, the range is not widened
MAX_CODE_WORDS = 3  # unique text with more words than this is prose; with fewer, names or codes


@dataclass(frozen=True)
class _Column:
    """A column whose kind is to be inferred."""

    name: str
    stats: ColumnStats
    is_target: bool

    def as_levels(self, kind: Kind, levels: Iterable[Level]) -> Variable:
        return Variable(self.name, kind, tuple(levels))

    def as_quantity(self, kind: Kind, low: float, high: float | None = None) -> Variable:
        return Variable(self.name, kind, low=low, high=high)

    def set_aside(self, reason: str, role: Literal["identifier", "ignored"] = "ignored") -> SetAside:
        return SetAside(self.name, reason, role)

    def set_aside_constant(self, value: object) -> SetAside:
        or_missing = " or missing" if self.stats.n_observed < self.stats.n_rows else ""
        return self.set_aside(f"constant: every value is {format_value(value)!r}{or_missing}")


def infer(table: pa.Table, *, targets: tuple[str, ...] = ()) -> Schema:
    """Infer the schema of a table: a kind for every column, or the reason to set it aside.

    Raises:
        TableError: there is nothing to model, or a column holds an infinite value.
        TargetError: a target is not in the table, or cannot be modelled.
    """
    return infer_stream(table.schema, [table], targets=targets, max_values=None)


def infer_stream(
    columns: pa.Schema,
    batches: Iterable[pa.Table],
    *,
    targets: tuple[str, ...] = (),
    max_values: int | None = MAX_DISTINCT_VALUES,
) -> Schema:
    """Infer the schema of a table that comes in batches, in one pass.

    The result is the same as for the whole table, with one exception. In a column with more than
    ``max_values`` distinct values, only the first of them decide whether the values are unique and
    whether they are distributed like counts.
    """
    _check_targets_exist(targets, columns.names)
    unsupported = {field.name: _explain_unsupported(field.type) for field in columns}
    stats = {name: ColumnStats(max_values) for name, reason in unsupported.items() if not reason}
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        for name, column_stats in stats.items():
            column_stats.update(batch.column(name))
    _check_not_empty(len(columns), n_rows)
    inferred = [
        _infer_column(_Column(name, stats[name], name in targets))
        if name in stats
        else SetAside(name, unsupported[name])
        for name in columns.names
    ]
    variables = tuple(column for column in inferred if isinstance(column, Variable))
    set_aside = tuple(column for column in inferred if isinstance(column, SetAside))
    _check_targets_modelled(targets, set_aside)
    _check_some_modelled(n_rows, variables, set_aside)
    return Schema(variables, targets=targets, set_aside=set_aside)


def _explain_unsupported(data_type: pa.DataType) -> str:
    """Return why columns of an Arrow type cannot be modelled, or '' if they can."""
    types = pa.types
    value_type = data_type.value_type if types.is_dictionary(data_type) else data_type
    if types.is_temporal(value_type):
        return "dates and times are not modelled"
    checks = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    if is_text(value_type) or any(check(value_type) for check in checks):
        return ""
    return f"values of type {value_type} are not modelled"


def _infer_column(column: _Column) -> Variable | SetAside:
    stats = column.stats
    if stats.n_observed == 0:
        return column.set_aside("every value is missing")
    value_type = stats.values.type
    if stats.ordered_levels is not None and len(stats.ordered_levels) <= MAX_LEVELS:
        return _infer_ordered_categorical(column, stats.ordered_levels)
    if pa.types.is_boolean(value_type):
        return _infer_booleans(column)
    return _infer_text(column) if is_text(value_type) else _infer_numbers(column)


def _infer_ordered_categorical(
    column: _Column, ordered_levels: tuple[object, ...]
) -> Variable | SetAside:
    """Keep the levels of an ordered categorical and their order, even of unused levels."""
    values = column.stats.values
    if len(values) == 1:
        return column.set_aside_constant(values[0].as_py())
    levels = [level for level in ordered_levels if level not in MISSING_MARKERS]
    return column.as_levels(Kind.BINARY if len(levels) == 2 else Kind.ORDINAL, levels)  # type: ignore[arg-type]


def _infer_booleans(column: _Column) -> Variable | SetAside:
    values = column.stats.values
    if len(values) == 1:
        return column.set_aside_constant(values[0].as_py())
    return column.as_levels(Kind.BINARY, (False, True))


def _infer_numbers(column: _Column) -> Variable | SetAside:
    stats = column.stats
    low, high = stats.low, stats.high
    if math.isinf(low) or math.isinf(high):
        raise_infinite(column.name)
    if low == high:
        return column.set_aside_constant(low)
    values = np.asarray(stats.values.to_numpy())  # [values]
    if stats.is_complete and not ((values != low) & (values != high)).any():
        return column.as_levels(Kind.BINARY, _numbers_to_levels(np.array([low, high])))
    if stats.has_fractions:
        return column.as_quantity(Kind.REAL, *_widen_range(low, high))
    return _infer_whole_numbers(column, values)


def _widen_range(low: float, high: float) -> tuple[float, float]:
    """Return round bounds some way outside the observed range, for the answers of other people."""
    width = high - low
    if max(-low, high) > LARGEST or width < 1 / LARGEST:
        return low, high
    unit = 10.0 ** (math.floor(math.log10(width)) - 1)  # bounds with about two digits
    new_low = math.floor((low - RANGE_MARGIN * width) / unit) * unit
    new_high = math.ceil((high + RANGE_MARGIN * width) / unit) * unit
    if low >= 0:
        new_low = max(0.0, new_low)
    return min(low, float(f"{new_low:.12g}")), max(high, float(f"{new_high:.12g}"))


def _infer_whole_numbers(column: _Column, values: NDArray[np.generic]) -> Variable | SetAside:
    stats = column.stats
    reason = "" if column.is_target else _explain_identifier(column)
    if reason:
        return column.set_aside(reason, "identifier")
    levels = np.sort(values)
    if IDENTIFIER_NAME.search(column.name) and not column.is_target:
        # It has few values, or it would be an identifier: a code such as ward_id.
        return column.as_levels(Kind.CATEGORY, _numbers_to_levels(levels))
    if stats.is_complete and _is_scale(column, levels):
        return column.as_levels(Kind.ORDINAL, _numbers_to_levels(levels))
    if stats.low in (0, 1) and _is_count_like(values.astype(np.float64), stats.counts):
        return column.as_quantity(Kind.COUNT, 0.0)
    return column.as_quantity(Kind.REAL, *_widen_range(float(stats.low), float(stats.high)))


def _explain_identifier(column: _Column) -> str:
    """Return why whole numbers identify the rows, or '' if they do not."""
    stats = column.stats
    has_few_values = stats.is_complete and _has_few_values(column, MAX_LEVELS)
    if IDENTIFIER_NAME.search(column.name) and not has_few_values:
        unique, repeated = "every value is different", f"{stats.n_values_text} different values"
        return f"named like an identifier; {unique if stats.is_unique else repeated}"
    is_consecutive = float(stats.high) - float(stats.low) == stats.n_observed - 1
    is_long_enough = MIN_NUMBERED_ROWS <= stats.n_observed == stats.n_rows
    if stats.is_unique and is_consecutive and is_long_enough:
        return f"numbers the rows from {stats.low:.0f} to {stats.high:.0f}"
    return ""


def _is_scale(column: _Column, levels: NDArray[np.generic]) -> bool:
    """Whether whole numbers are the steps of a scale rather than a quantity."""
    gaps = np.diff(levels.astype(np.float64))
    is_unusual = np.median(gaps) > 1 or levels[0] > MAX_STEPS
    if len(levels) > (MAX_UNUSUAL_STEPS if is_unusual else MAX_STEPS):
        return False
    return bool(gaps.sum() < MAX_STEPS) or _has_few_values(column, MAX_STEPS)


def _has_few_values(column: _Column, max_values: int) -> bool:
    n_values = len(column.stats.counts)
    return n_values <= max_values and column.stats.n_observed >= MIN_COUNT_PER_VALUE * n_values


def _is_count_like(values: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether whole numbers are distributed like counts: near 0, with a long tail.

    Args:
        values: the distinct values [values].
        counts: the number of cells with each value [values].
    """
    order = np.argsort(values)
    cumulative = counts[order].cumsum()
    middle = np.searchsorted(cumulative, [(cumulative[-1] + 1) // 2, cumulative[-1] // 2 + 1])
    median = float(values[order][middle].mean())
    if values.max() < MIN_COUNT_TAIL * median or median > MAX_TYPICAL_COUNT:
        return False
    with np.errstate(over="ignore"):  # an infinite variance is above the mean, too
        mean = np.average(values, weights=counts)
        return bool(np.average((values - mean) ** 2, weights=counts) > mean)


def _infer_text(column: _Column) -> Variable | SetAside:
    levels = _merge_spellings(column.stats)
    if len(levels) == 1:
        return column.set_aside_constant(levels[0])
    if len(levels) == 2:
        return column.as_levels(Kind.BINARY, _sort_opposites(levels))
    if pc.all(pc.match_substring_regex(column.stats.values, DATE_OR_TIME)).as_py():
        return column.set_aside("dates and times are not modelled")
    rank_by_level = _rank_levels(levels)
    if rank_by_level and len(levels) <= MAX_LEVELS:
        ordered = sorted(levels, key=rank_by_level.__getitem__)
        return column.as_levels(Kind.ORDINAL, ordered)
    must_be_modelled = column.is_target and len(levels) <= MAX_LEVELS
    set_aside = None if must_be_modelled else _set_aside_free_text(column, levels)
    levels.sort(key=natural_sort_key)
    return set_aside or column.as_levels(Kind.CATEGORY, levels)


def _set_aside_free_text(column: _Column, levels: list[str]) -> SetAside | None:
    """Set text aside if it is free text or an identifier; return None if it is a category."""
    stats = column.stats
    if stats.is_unique:
        mean_words = float(np.mean([len(level.split()) for level in levels[:1000]]))
        if mean_words > MAX_CODE_WORDS:
            return column.set_aside(f"free text: {stats.n_values_text} different values")
        return column.set_aside("every value is different", "identifier")
    is_frequent = stats.n_observed >= MIN_COUNT_PER_VALUE * len(levels)
    if len(levels) > MAX_LEVELS or not (len(levels) <= MAX_STEPS or is_frequent):
        n_levels = len(levels) if stats.is_complete else stats.n_values_text
        return column.set_aside(f"free text: {n_levels} different values")
    return None


def _merge_spellings(stats: ColumnStats) -> list[str]:
    """Return the distinct values without regard to case, each in its most frequent spelling."""
    values: list[str] = stats.values.to_pylist()
    if stats.is_unique and len(values) > MAX_LEVELS:
        return values
    spellings: dict[str, str] = {}
    for index in np.argsort(-stats.counts, kind="stable").tolist():
        spellings.setdefault(values[index].casefold(), values[index])
    return list(spellings.values())


def _sort_opposites(levels: list[str]) -> list[str]:
    """Return two levels with the one that means "no", "none" or "less" first."""
    first, second = sorted(levels, key=natural_sort_key)
    rank_by_level = _rank_levels(levels)
    if rank_by_level:
        return sorted(levels, key=rank_by_level.__getitem__)
    no, yes = second.casefold(), first.casefold()
    is_reversed = (no, yes) in OPPOSITES or any(no == prefix + yes for prefix in NEGATION_PREFIXES)
    return [second, first] if is_reversed else [first, second]


def _rank_levels(levels: list[str]) -> dict[str, float]:
    """Return the rank of each level on a scale that contains all of them, or {} if there is none."""
    normalized = {level: " ".join(re.split(r"[\s_-]+", level.casefold())) for level in levels}
    for scale in ORDINAL_SCALES:
        if all(word in scale for word in normalized.values()):
            return {level: float(scale.index(word)) for level, word in normalized.items()}
    starts = {level: start for level in levels if (start := parse_range_start(level)) is not None}
    return starts if len(set(starts.values())) == len(levels) else {}


def _numbers_to_levels(values: NDArray[np.generic]) -> list[Level]:
    """Return numbers as levels: int if all of them are whole, else float."""
    are_whole = bool((values % 1 == 0).all())
    return [int(value) if are_whole else float(value) for value in values]


def _check_not_empty(n_columns: int, n_rows: int) -> None:
    if n_columns == 0:
        raise TableError("the table has no columns. Pass a table with at least one column.")
    if n_rows == 0:
        raise TableError("the table has no rows. A schema is inferred from values: add some rows.")


def _check_targets_exist(targets: tuple[str, ...], names: list[str]) -> None:
    for target in targets:
        if target not in names:
            raise TargetError(
                f"the target {target!r} is not a column of the table. Columns are: "
                f"{format_names(names)}."
            )


def _check_targets_modelled(targets: tuple[str, ...], set_aside: tuple[SetAside, ...]) -> None:
    for column in set_aside:
        if column.name in targets:
            raise TargetError(
                f"the target {column.name!r} cannot be modelled: {column.reason}. "
                "Correct the column, or choose another target."
            )


def _check_some_modelled(
    n_rows: int, variables: tuple[Variable, ...], set_aside: tuple[SetAside, ...]
) -> None:
    if variables:
        return
    if n_rows == 1:
        raise TableError(
            "the table has one row, so every column is constant and nothing can be learned. "
            "Give it more rows."
        )
    reasons = "; ".join(f"{column.name!r}: {column.reason}" for column in set_aside[:6])
    raise TableError(f"nothing is left to model. Every column was set aside: {reasons}.")
