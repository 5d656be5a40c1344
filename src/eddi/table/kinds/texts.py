"""Guess the kind of a column of text."""

import re
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from eddi.table.cells.missing import is_declined_word, is_missing_word
from eddi.table.cells.multi_select import NO, YES, MultiSelect, detect_multi_select
from eddi.table.cells.number_format import (
    NumberFormat,
    PartialFormat,
    detect_partial_format,
    find_other_reading,
)
from eddi.table.columns import LEADING_ZERO
from eddi.table.kinds.column_stats import ColumnStats
from eddi.table.kinds.guess import (
    MAX_FREQUENT_LEVELS,
    MAX_LEVELS,
    MAX_STEPS,
    MIN_COUNT_PER_LEVEL,
    MIN_COUNT_PER_VALUE,
    Column,
    Guess,
)
from eddi.table.kinds.names import NameHint
from eddi.table.kinds.numbers import guess_numbers, widen_range
from eddi.table.kinds.scales import Order, find_order, find_partial_order, has_ordered_words
from eddi.table.kinds.vocabulary import DATE_OR_TIME, NEGATION_PREFIXES, OPPOSITES, natural_sort_key
from eddi.table.question import Question
from eddi.table.text import format_list
from eddi.table.variable import Kind, Variable

MAX_CODE_WORDS = 3  # unique text with more words than this is prose; with fewer, names or codes
MIN_LETTERS = 4  # A, B, C, D may be grades; three letters are more often codes


def guess_text(column: Column) -> Guess:
    """Guess the kind of a column of text."""
    levels = _merge_spellings(column.stats)
    if len(levels) == 1:
        return column.set_aside_constant(levels[0])
    if len(levels) == 2:
        return column.as_levels(Kind.BINARY, _sort_opposites(levels))
    if pc.all(pc.match_substring_regex(column.stats.values, DATE_OR_TIME)).as_py():
        return column.set_aside("dates and times are not modelled")
    return _guess_formatted(column) or _guess_options(column) or _guess_levels(column, levels)


def _guess_formatted(column: Column) -> Guess | None:
    """Guess the kind of numbers with affixes or separators, or of numbers mixed with other texts."""
    values = column.stats.values.to_pylist()
    has_leading_zeros = pc.any(pc.match_substring_regex(column.stats.values, LEADING_ZERO)).as_py()
    partial = None if has_leading_zeros else detect_partial_format(values)
    if partial is None:
        return None
    numbers = column.stats.as_numbers(partial.format.parse)
    if partial.others:
        return _guess_mixed(column, partial, numbers)
    # If plain numbers are text, some value that was not counted is not a number.
    has_hidden_text = partial.format.is_plain and not column.stats.is_complete
    if has_hidden_text or numbers.low == numbers.high:
        return None
    guess = Guess((_as_quantity(column, partial.format, numbers),))
    other = find_other_reading(values, partial.format)
    if other is None:
        return guess
    readings = [f"{number_format.parse(values[0]):g}" for number_format in (partial.format, other)]
    message = f"{values[0]!r} is read as {readings[0]}. If it is {readings[1]}, use:"
    return guess.check(message, _as_quantity(column, other, column.stats.as_numbers(other.parse)))


def _as_quantity(column: Column, number_format: NumberFormat, numbers: ColumnStats) -> Variable:
    low, high = widen_range(numbers.low, numbers.high)
    return Variable(
        column.name,
        Kind.REAL,
        low=low,
        high=high,
        unit=number_format.unit,
        format=None if number_format.is_plain else number_format,
    )


def _guess_mixed(column: Column, partial: PartialFormat, numbers: ColumnStats) -> Guess | None:
    """Guess the kind of a column in which most values are numbers, but some are other texts."""
    if len(numbers.counts) < MAX_STEPS or numbers.low == numbers.high:
        return None
    others = partial.others
    n_cells = column.stats.n_observed - numbers.n_observed
    listed = format_list([repr(value) for value in others[:4]])
    are_not = "1 cell is not" if n_cells == 1 else f"{n_cells} cells are not"
    reason = f"numbers, but {are_not}: {listed}"
    is_plain = partial.format.is_plain
    inner = guess_numbers(replace(column, stats=numbers)).variable if is_plain else None
    variable = inner or _as_quantity(column, partial.format, numbers)
    declined = tuple(value for value in others if is_declined_word(value))
    missing = tuple(value for value in others if value not in declined)
    if all(map(is_missing_word, missing)):
        message = "looks like a number with codes for missing values. To read them as missing, use:"
    else:
        message = "looks like a number, but some cells are not. Correct them, or read them as missing:"
        missing = missing[:MAX_STEPS]
    return column.set_aside(reason).check(message, replace(variable, missing=missing, declined=declined))


def _guess_options(column: Column) -> Guess | None:
    """Guess the options of a column whose cells list several: one binary variable for each."""
    values = column.stats.values.to_pylist()
    detected = detect_multi_select(values, column.stats.counts) if column.stats.is_complete else None
    return None if detected is None else _as_options(column, detected)


def _as_options(column: Column, detected: MultiSelect) -> Guess:
    variables = tuple(
        Variable(name, Kind.BINARY, (NO, YES), source=source)
        for name, source in detected.sources(column.name).items()
    )
    question = Question(column.name, tuple(variable.name for variable in variables))
    return Guess(variables, question=question)


def _guess_levels(column: Column, levels: list[str]) -> Guess:
    is_name = column.stats.is_unique and len(levels) > MAX_STEPS  # such as "Respondent 12"
    order = None if is_name or len(levels) > MAX_FREQUENT_LEVELS else find_order(levels)
    if order is not None and not (order.is_numbered and column.hint is NameHint.NOMINAL):
        return _as_ordinal(column, levels, order)
    is_code = all(level.isdecimal() for level in levels) and column.hint is NameHint.ORDERED
    levels.sort(key=natural_sort_key)
    if is_code and len(levels) <= MAX_STEPS:  # months such as 01 to 12
        return column.as_levels(Kind.ORDINAL, levels)
    must_be_modelled = column.is_target and len(levels) <= MAX_LEVELS
    set_aside = None if must_be_modelled else _set_aside_free_text(column, levels)
    return set_aside or _as_category(column, levels)


def _as_ordinal(column: Column, levels: list[str], order: Order) -> Guess:
    guess = column.as_levels(Kind.ORDINAL, order.sort(levels))
    if order.is_certain or column.hint is NameHint.ORDERED:
        return guess
    message = (
        "numbered labels, read as steps of a scale. If the numbers are codes without an order, use:"
    )
    return guess.check_kind(message, Kind.CATEGORY)


def _as_category(column: Column, levels: list[str]) -> Guess:
    guess = column.as_levels(Kind.CATEGORY, levels)
    if len(levels) > MAX_FREQUENT_LEVELS:
        return guess.check(
            f"{len(levels)} different texts, read as levels. "
            "If they are free text, move the column to [ignored]."
        )
    if column.hint is NameHint.NOMINAL:
        return guess
    numbers = detect_partial_format(levels)
    if numbers is not None and numbers.format.is_plain and numbers.others:
        return _check_few_numbers(column, guess, numbers)
    partial = find_partial_order(levels)
    if partial is not None:
        return _check_partial_order(column, guess, *partial)
    if _may_be_ordered(column, levels):
        message = "read as levels without an order. If they have one, list them in ascending order:"
        return guess.check_kind(message, Kind.ORDINAL)
    return guess


def _check_few_numbers(column: Column, guess: Guess, partial: PartialFormat) -> Guess:
    """Propose a variable in which the levels that are not numbers are missing, such as a row of totals."""
    stats = column.stats.as_numbers(partial.format.parse)
    variable = guess_numbers(replace(column, stats=stats)).variable
    if variable is None:
        return guess
    listed = format_list([repr(value) for value in partial.others])
    message = f"whole numbers, except for {listed}. Correct that, or read it as missing:"
    return guess.check(message, replace(variable, missing=partial.others))


def _check_partial_order(column: Column, guess: Guess, order: Order, others: list[str]) -> Guess:
    """Propose an ordinal variable in which the levels without a rank are missing, or come first."""
    ordered = order.sort(order.rank_by_level)
    if all(is_missing_word(level) or is_declined_word(level) for level in others):
        return guess  # the codes are proposed, together with the order, by `missing_codes`
    listed = format_list([repr(level) for level in others])
    message = f"steps of a scale, except for {listed}. If all have an order, list them in this order:"
    return guess.check(message, Variable(column.name, Kind.ORDINAL, (*others, *ordered)))


def _may_be_ordered(column: Column, levels: list[str]) -> bool:
    return column.hint is NameHint.ORDERED or _are_grades(levels) or has_ordered_words(levels)


def _are_grades(levels: list[str]) -> bool:
    """Whether levels are the first letters of the alphabet, of which one may be left out."""
    if not all(re.fullmatch("[A-Za-z][+-]?", level) for level in levels):
        return False
    letters = sorted({level[0].upper() for level in levels})
    n_skipped = ord(letters[-1]) - ord("A") + 1 - len(letters)
    return letters[0] == "A" and len(letters) >= MIN_LETTERS and n_skipped <= 1


def _set_aside_free_text(column: Column, levels: list[str]) -> Guess | None:
    """Set text aside if it is free text or an identifier; return None if it is a category."""
    stats = column.stats
    if stats.is_unique:
        mean_words = float(np.mean([len(level.split()) for level in levels[:1000]]))
        if mean_words > MAX_CODE_WORDS:
            return column.set_aside(f"free text: {stats.n_values_text} different values")
        return column.set_aside("every value is different", "identifier")
    n_levels = len(levels)
    min_count = MIN_COUNT_PER_VALUE if n_levels <= MAX_FREQUENT_LEVELS else MIN_COUNT_PER_LEVEL
    is_frequent = n_levels <= MAX_STEPS or stats.n_observed >= min_count * n_levels
    if n_levels <= MAX_LEVELS and is_frequent:
        return None
    n_values = n_levels if stats.is_complete else stats.n_values_text
    guess = column.set_aside(f"free text: {n_values} different values")
    if (
        not stats.is_complete
        or n_levels > MAX_LEVELS
        or stats.n_observed < MIN_COUNT_PER_VALUE * n_levels
    ):
        return guess
    message = "text in which values recur, read as free text. If the values are levels, use:"
    return guess.check(message, Variable(column.name, Kind.CATEGORY, tuple(levels)))


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
    order = find_order(levels)
    if order is not None:
        return order.sort(levels)
    no, yes = second.casefold(), first.casefold()
    is_reversed = (no, yes) in OPPOSITES or any(no == prefix + yes for prefix in NEGATION_PREFIXES)
    return [second, first] if is_reversed else [first, second]
