"""Find values that may be codes for missing values, and propose them. They are never applied."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eddi.table.cell_arrays import is_text
from eddi.table.cells.missing import is_declined_word, is_missing_number, is_missing_word
from eddi.table.kinds.column_stats import ColumnStats
from eddi.table.kinds.guess import Column, Guess
from eddi.table.kinds.numbers import guess_numbers, widen_range
from eddi.table.kinds.scales import find_order
from eddi.table.text import format_list
from eddi.table.variable import Kind, Variable

MIN_CODE_GAP = 0.5  # a code lies outside the other values by this fraction of their range
MIN_CODE_CELLS = 2
MAX_CODES = 3  # on each side of the other values


def propose_codes(column: Column, guess: Guess) -> Guess:
    """Return the guess with a note about values that may be codes for missing values.

    Args:
        column: the column.
        guess: what the column is if all its values are real values.
    """
    variable = guess.variable
    if variable is None:
        return guess
    if variable.kind.has_levels and any(isinstance(level, str) for level in variable.levels):
        return _propose_words(guess, variable)
    numbers = _find_numbers(column, variable)
    if numbers is None or not (codes := _find_numeric_codes(numbers)):
        return guess
    rest = _without_codes(replace(column, stats=numbers.without(*codes)), variable)
    if rest is None:
        return guess
    missing = tuple(int(code) for code in codes)
    message = f"{_count_cells(numbers, codes)} may mean that the value is missing. If so, use:"
    return _propose(guess, message, replace(rest, missing=missing))


def _find_numbers(column: Column, variable: Variable) -> ColumnStats | None:
    """Return the statistics of the column's numbers, or None if it has none."""
    if not is_text(column.stats.values.type):
        return column.stats
    if variable.format is None or not column.stats.is_complete:
        return None
    return column.stats.as_numbers(variable.format.parse)


def _without_codes(column: Column, variable: Variable) -> Variable | None:
    """Return the variable of a column of numbers that is left without its codes."""
    if variable.format is None:
        return guess_numbers(column).variable
    low, high = widen_range(column.stats.low, column.stats.high)
    return replace(variable, low=low, high=high)


def _propose_words(guess: Guess, variable: Variable) -> Guess:
    texts = [level for level in variable.levels if isinstance(level, str)]
    declined = [text for text in texts if is_declined_word(text)]
    missing = [text for text in texts if is_missing_word(text)]
    levels = [level for level in texts if level not in (*declined, *missing)]
    if not (declined or missing) or len(levels) < 2:
        return guess
    order = find_order(levels)
    kind = Kind.CATEGORY if len(levels) > 2 else Kind.BINARY
    if order is not None:
        kind, levels = (Kind.ORDINAL if len(levels) > 2 else kind), order.sort(levels)
    alternative = Variable(
        variable.name, kind, tuple(levels), missing=tuple(missing), declined=tuple(declined)
    )
    words = format_list([repr(text) for text in (*missing, *declined)])
    return _propose(guess, f"{words} may mean that the value is missing. If so, use:", alternative)


def _propose(guess: Guess, message: str, alternative: Variable) -> Guess:
    """Return the guess with this proposal instead of others, which did not consider the codes."""
    others = tuple(note for note in guess.notes if note.alternative is None)
    return replace(guess, notes=others).check(message, alternative)


def _find_numeric_codes(numbers: ColumnStats) -> list[float]:
    """Return numbers such as -99 and 999 that lie far outside the other values, and repeat."""
    values, counts = numbers.extremes
    low = _codes_at_end(-values[::-1], counts[::-1], sign=-1)
    return sorted([*low, *_codes_at_end(values, counts, sign=1)])


def _codes_at_end(values: NDArray[np.float64], counts: NDArray[np.int64], *, sign: int) -> list[float]:
    """Return the codes among the largest of the values, which are in ascending order."""
    for n_codes in range(min(MAX_CODES, len(values) - 3), 0, -1):
        rest, codes = values[:-n_codes], values[-n_codes:]
        is_code = all(is_missing_number(sign * code) for code in codes)
        if sign > 0 and codes[-1] < 9:  # 7 and 8 are codes only together with 9
            continue
        gap, width = codes[0] - rest[-1], rest[-1] - rest[0]
        is_negative_code = sign < 0 and rest[-1] <= 0 and codes[0] > 0
        is_apart = gap > 1 and gap >= MIN_CODE_GAP * width
        repeats = bool((counts[-n_codes:] >= MIN_CODE_CELLS).all())
        if is_code and repeats and (is_negative_code or is_apart):
            return [float(sign * code) for code in codes]
    return []


def _count_cells(numbers: ColumnStats, codes: list[float]) -> str:
    counts = dict(zip(*(array.tolist() for array in numbers.extremes), strict=True))
    return format_list([f"{code:g} ({counts[code]} cells)" for code in codes])
