"""Guess the kind of a column of numbers."""

import math

import numpy as np
from numpy.typing import NDArray

from eddi.table.columns import raise_infinite
from eddi.table.kinds.guess import (
    MAX_FREQUENT_LEVELS,
    MAX_STEPS,
    MIN_COUNT_PER_LEVEL,
    Column,
    Guess,
)
from eddi.table.kinds.names import NameHint, is_ambiguous, is_item_name
from eddi.table.kinds.vocabulary import IDENTIFIER_NAME
from eddi.table.variable import Kind, Level, Variable

MAX_UNUSUAL_STEPS = 6  # limit for steps not of 1 from near 0: 50, 60, ..., 180 is a measurement
MIN_NUMBERED_ROWS = 10  # rows that count 1, 2, 3, ... before we conclude that they number the rows
MAX_TYPICAL_COUNT = 12  # whole numbers with a larger median behave like a measurement
MIN_COUNT_TAIL = 4  # counts have a long tail: their maximum is at least this many times the median
MAX_COUNT_GAP = 2  # small counts leave out few numbers; amounts such as 0, 114, 401 leave out most
RANGE_MARGIN = 0.5  # answers may lie outside the observed range by this fraction of its width
LARGEST = 1e300  # beyond this, or with a range narrower than its inverse, the range is not widened
MIN_CODE = 100  # codes without a telling name have at least three digits
MAX_CODE_SHARE = 0.1  # of the numbers between the smallest and the largest code are used


def guess_numbers(column: Column) -> Guess:
    """Guess the kind of a column of numbers.

    Raises:
        TableError: a value is infinite.
    """
    stats = column.stats
    low, high = stats.low, stats.high
    if math.isinf(low) or math.isinf(high):
        raise_infinite(column.name)
    if low == high:
        return column.set_aside_constant(low)
    values = np.asarray(stats.values.to_numpy())  # [values]
    if stats.is_complete and not ((values != low) & (values != high)).any():
        return column.as_levels(Kind.BINARY, numbers_to_levels(np.array([low, high])))
    if stats.has_fractions:
        return column.as_quantity(Kind.REAL, *widen_range(low, high))
    return _guess_whole_numbers(column, values)


def widen_range(low: float, high: float) -> tuple[float, float]:
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


def numbers_to_levels(values: NDArray[np.generic]) -> list[Level]:
    """Return numbers as levels: int if all of them are whole, else float."""
    are_whole = bool((values % 1 == 0).all())
    return [int(value) if are_whole else float(value) for value in values]


def _guess_whole_numbers(column: Column, values: NDArray[np.generic]) -> Guess:
    reason = "" if column.is_target else _explain_identifier(column)
    if reason:
        return column.set_aside(reason, "identifier")
    levels = np.sort(values)
    is_identifier = bool(IDENTIFIER_NAME.search(column.name)) and not column.is_target
    if is_identifier:  # with few values, or it would have been set aside: a code such as ward_id
        return column.as_levels(Kind.CATEGORY, numbers_to_levels(levels))
    if column.hint is NameHint.NOMINAL:
        return _guess_codes(column, levels)
    if column.stats.is_complete and _is_scale(column, levels):
        return _guess_scale(column, levels)
    return _guess_quantity(column, values)


def _guess_codes(column: Column, levels: NDArray[np.generic]) -> Guess:
    """Guess the kind of whole numbers whose name says that they are codes without an order."""
    if column.stats.is_complete and column.has_few_values(MAX_FREQUENT_LEVELS):
        guess = column.as_levels(Kind.CATEGORY, numbers_to_levels(levels))
        message = "whole numbers, read as codes without an order. If they are steps of a scale, use:"
        return guess.check_kind(message, Kind.ORDINAL) if is_ambiguous(column.name) else guess
    guess = _guess_quantity(column, levels)
    if guess.variable is None:
        return guess
    n_values = column.stats.n_values_text
    return guess.check(
        f"read as a quantity, but the name suggests {NameHint.NOMINAL.value} ({n_values} different "
        "values). If it is a code, move the column to [ignored].",
    )


def _guess_scale(column: Column, levels: NDArray[np.generic]) -> Guess:
    """Guess the kind of a few whole numbers: steps of a scale, a small count, or codes."""
    hint, low = column.hint, float(levels[0])
    is_contiguous = bool((np.diff(levels.astype(np.float64)) == 1).all())
    ordinal = column.as_levels(Kind.ORDINAL, numbers_to_levels(levels))
    if hint is NameHint.COUNT and low >= 0:
        return column.as_quantity(Kind.COUNT, 0.0)
    if hint is NameHint.QUANTITY and not is_contiguous:
        return _as_real(column)
    is_item = (is_item_name(column.name) or column.is_battery) and is_contiguous
    if hint is NameHint.ORDERED or is_item:
        return ordinal
    if hint is NameHint.QUANTITY:
        message = "a few whole numbers, read as steps of a scale. If they are a quantity, use:"
        return ordinal.check(message, _as_real(column).variable)
    message = "a few whole numbers, read as steps of a scale. If they are codes without an order, use:"
    return ordinal.check_kind(message, Kind.CATEGORY)


def _guess_quantity(column: Column, values: NDArray[np.generic]) -> Guess:
    stats, hint = column.stats, column.hint
    is_count = hint is NameHint.COUNT and stats.low >= 0 and stats.high <= MIN_CODE
    is_measured = hint in (NameHint.QUANTITY, NameHint.ORDERED)
    if not is_measured and stats.low in (0, 1):
        is_count = is_count or _is_count_like(values.astype(np.float64), stats.counts)
    if is_count:
        return column.as_quantity(Kind.COUNT, 0.0)
    real = _as_real(column)
    if hint is NameHint.NONE and _is_code_like(column, np.sort(values).astype(np.float64)):
        message = "a few large whole numbers at irregular distances. If they are codes, use:"
        levels = numbers_to_levels(np.sort(values))
        return real.check(message, Variable(column.name, Kind.CATEGORY, tuple(levels)))
    return real


def _as_real(column: Column) -> Guess:
    stats = column.stats
    return column.as_quantity(Kind.REAL, *widen_range(float(stats.low), float(stats.high)))


def _explain_identifier(column: Column) -> str:
    """Return why whole numbers identify the rows, or '' if they do not."""
    stats = column.stats
    has_few_values = stats.is_complete and column.has_few_values(MAX_FREQUENT_LEVELS)
    if IDENTIFIER_NAME.search(column.name) and not has_few_values:
        unique, repeated = "every value is different", f"{stats.n_values_text} different values"
        return f"named like an identifier; {unique if stats.is_unique else repeated}"
    is_consecutive = float(stats.high) - float(stats.low) == stats.n_observed - 1
    is_long_enough = MIN_NUMBERED_ROWS <= stats.n_observed == stats.n_rows
    if stats.is_unique and is_consecutive and is_long_enough:
        return f"numbers the rows from {stats.low:.0f} to {stats.high:.0f}"
    return ""


def _is_scale(column: Column, levels: NDArray[np.generic]) -> bool:
    """Whether whole numbers are the steps of a scale rather than a quantity."""
    gaps = np.diff(levels.astype(np.float64))
    is_unusual = np.median(gaps) > 1 or levels[0] > MAX_STEPS
    if len(levels) > (MAX_UNUSUAL_STEPS if is_unusual else MAX_STEPS):
        return False
    return bool(gaps.sum() < MAX_STEPS) or column.has_few_values(MAX_STEPS)


def _is_code_like(column: Column, levels: NDArray[np.float64]) -> bool:
    """Whether whole numbers repeat so often, so far apart, that they may be codes."""
    if not column.stats.is_complete or not column.has_few_values(MAX_FREQUENT_LEVELS):
        return False
    is_frequent = column.stats.n_observed >= MIN_COUNT_PER_LEVEL * len(levels)
    is_sparse = len(levels) < MAX_CODE_SHARE * (levels[-1] - levels[0])
    has_common_step = np.gcd.reduce(np.diff(levels).astype(np.int64)) > 1
    return bool(levels[0] >= MIN_CODE and is_frequent and is_sparse and not has_common_step)


def _is_count_like(values: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether whole numbers are distributed like counts: near 0, densely, and with a long tail.

    Args:
        values: the distinct values [values].
        counts: the number of cells with each value [values].
    """
    order = np.argsort(values)
    ordered, weights = values[order], counts[order]
    cumulative = weights.cumsum()
    middle = np.searchsorted(cumulative, [(cumulative[-1] + 1) // 2, cumulative[-1] // 2 + 1])
    median = float(ordered[middle].mean())
    if ordered[-1] < MIN_COUNT_TAIL * median or median > MAX_TYPICAL_COUNT:
        return False
    positive = ordered > 0
    half = np.searchsorted(weights[positive].cumsum(), weights[positive].sum() / 2)
    if np.diff(ordered[positive][: half + 2], prepend=0).max() > MAX_COUNT_GAP:
        return False
    with np.errstate(over="ignore"):  # an infinite variance is above the mean, too
        mean = np.average(ordered, weights=weights)
        return bool(np.average((ordered - mean) ** 2, weights=weights) > mean)
