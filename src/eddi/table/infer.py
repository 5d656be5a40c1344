"""The schema a careful person would write for a table."""

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
from eddi.table.column_stats import MOST_VALUES, Census
from eddi.table.columns import MISSING_WORDS, is_text, listing, refuse_infinite, shown
from eddi.table.schema import Schema, SetAside
from eddi.table.variable import Kind, Level, Variable
from eddi.table.vocabulary import BEFORE, IDENTIFIER, MOMENT, NEGATIONS, VOCABULARIES, band, natural

MAX_STEPS = 12  # whole numbers with at most this many values are steps of a scale, not quantities
MAX_ODD_STEPS = 6  # a longer scale counts by ones from near 0; 50, 60, ..., 180 is a measurement
MAX_LEVELS = 64  # words with more values than this are text: no level would be seen often enough
MIN_SIGHTINGS = 2  # on average per value, or a column of many values is as good as all-different
MIN_RUN = 10  # rows that count 1, 2, 3, ... before we believe that they merely number the rows
MAX_TYPICAL_COUNT = 12  # whole numbers whose median is above a dozen behave like a measurement
COUNT_TAIL = 4  # counts pile up near 0: the largest is this many times the median or more
MARGIN = 0.5  # the next person may lie this share of the observed span outside it, and be believed
LARGEST = 1e300  # numbers beyond it, or closer together than its inverse, leave no room to widen
N_WORDS = 3  # an all-different text of more words than this is prose, of fewer it is a name or code


@dataclass(frozen=True)
class _Column:
    """What is known of one column before its kind is chosen."""

    name: str
    type: pa.DataType
    census: Census
    is_target: bool

    @property
    def n_known(self) -> int:
        return self.census.n_known

    def with_levels(self, kind: Kind, levels: Iterable[Level]) -> Variable:
        return Variable(self.name, kind, tuple(levels))

    def quantity(self, kind: Kind, low: float, high: float | None = None) -> Variable:
        return Variable(self.name, kind, low=low, high=high)

    def aside(self, reason: str, role: Literal["identifier", "ignored"] = "ignored") -> SetAside:
        return SetAside(self.name, reason, role)


def infer(table: pa.Table, *, targets: tuple[str, ...] = ()) -> Schema:
    """The schema of a table: a kind for every column, or the reason to leave it out.

    Raises:
        TableError: there is nothing to model, or a column holds an infinite value.
        TargetError: a target is not in the table, or cannot be modelled.
    """
    return infer_stream(table.schema, [table], targets=targets, most=None)


def infer_stream(
    columns: pa.Schema,
    batches: Iterable[pa.Table],
    *,
    targets: tuple[str, ...] = (),
    most: int | None = MOST_VALUES,
) -> Schema:
    """The schema of a table that comes in batches, in one pass.

    The same as for the whole table, but that of columns of more than ``most`` different values whether
    all differ, and whether they pile up as counts do, is judged by the first ``most``.
    """
    _refuse_absent(targets, columns.names)
    reasons = {field.name: _foreign(field.type) for field in columns}
    counted = {name: Census(most) for name, reason in reasons.items() if not reason}
    n_rows = 0
    for batch in batches:
        n_rows += batch.num_rows
        for name, census in counted.items():
            census.add(batch.column(name))
    _refuse_nothing(len(columns), n_rows)
    found = [
        _judge(_Column(field.name, field.type, counted[field.name], field.name in targets))
        if field.name in counted
        else SetAside(field.name, reasons[field.name])
        for field in columns
    ]
    variables = tuple(one for one in found if isinstance(one, Variable))
    aside = tuple(one for one in found if isinstance(one, SetAside))
    for one in aside:
        if one.name in targets:
            raise TargetError(
                f"the target {one.name!r} cannot be modelled: {one.reason}. "
                "Correct the column, or choose another target."
            )
    _refuse_nothing_left(n_rows, variables, aside)
    return Schema(variables, targets=targets, set_aside=aside)


def _judge(column: _Column) -> Variable | SetAside:
    census = column.census
    if column.n_known == 0:
        return column.aside("every value is missing")
    kind = census.values.type
    if census.ordered is not None and len(census.ordered) <= MAX_LEVELS:
        return _ranked(column, census.ordered)
    if pa.types.is_boolean(kind):
        return _booleans(column)
    return _words(column) if is_text(kind) else _numbers(column)


def _foreign(kind: pa.DataType) -> str:
    """Why a type cannot be modelled; '' if it can."""
    types = pa.types
    inner = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_temporal(inner):
        return "dates and times are not modelled"
    plain = (types.is_null, types.is_boolean, types.is_integer, types.is_floating, is_text)
    if types.is_decimal(inner) or any(test(inner) for test in plain):
        return ""
    return f"values of type {inner} are not modelled"


def _constant(column: _Column, value: object) -> SetAside:
    holes = " or missing" if column.n_known < column.census.n_rows else ""
    return column.aside(f"constant: every value is {shown(value)!r}{holes}")


def _ranked(column: _Column, ordered: tuple[object, ...]) -> Variable | SetAside:
    """An ordered categorical: its own levels in its own order, seen or not."""
    seen = column.census.values
    if len(seen) == 1:
        return _constant(column, seen[0].as_py())
    levels = [one for one in ordered if one not in MISSING_WORDS]
    return column.with_levels(Kind.BINARY if len(levels) == 2 else Kind.ORDINAL, levels)  # type: ignore[arg-type]


def _booleans(column: _Column) -> Variable | SetAside:
    if len(column.census.values) == 1:
        return _constant(column, column.census.values[0].as_py())
    return column.with_levels(Kind.BINARY, (False, True))


def _numbers(column: _Column) -> Variable | SetAside:
    census = column.census
    low, high = census.low, census.high
    if math.isinf(low) or math.isinf(high):
        refuse_infinite(column.name)
    if low == high:
        return _constant(column, low)
    values = np.asarray(census.values.to_numpy())  # [values]
    if census.complete and not ((values != low) & (values != high)).any():
        return column.with_levels(Kind.BINARY, _levels(np.array([low, high])))
    if census.fractional:
        return column.quantity(Kind.REAL, *_plausible(low, high))
    return _whole_numbers(column, values)


def _plausible(low: float, high: float) -> tuple[float, float]:
    """Round bounds that the next person's answer should keep: some way beyond those observed."""
    span = high - low
    if max(-low, high) > LARGEST or span < 1 / LARGEST:
        return low, high
    unit = 10.0 ** (math.floor(math.log10(span)) - 1)  # bounds of about two digits
    below = math.floor((low - MARGIN * span) / unit) * unit
    above = math.ceil((high + MARGIN * span) / unit) * unit
    positive = max(0.0, below) if low >= 0 else below
    return min(low, float(f"{positive:.12g}")), max(high, float(f"{above:.12g}"))


def _whole_numbers(column: _Column, values: NDArray[np.generic]) -> Variable | SetAside:
    low, high = column.census.low, column.census.high
    reason = "" if column.is_target else _identifier(column)
    if reason:
        return column.aside(reason, "identifier")
    levels = np.sort(values)
    if IDENTIFIER.search(column.name) and not column.is_target:
        return column.with_levels(Kind.CATEGORY, _levels(levels))  # few, so a code of something
    if column.census.complete and _are_steps(column, levels):
        return column.with_levels(Kind.ORDINAL, _levels(levels))
    if low in (0, 1) and _piles_up(values.astype(np.float64), column.census.counts):
        return column.quantity(Kind.COUNT, 0.0)
    return column.quantity(Kind.REAL, *_plausible(float(low), float(high)))


def _identifier(column: _Column) -> str:
    """How we know that whole numbers name the rows; '' if they do not."""
    census = column.census
    if IDENTIFIER.search(column.name) and not (census.complete and _are_few(column, MAX_LEVELS)):
        how = (
            "every value is different" if census.all_different else f"{census.n_values} different values"
        )
        return f"named like an identifier; {how}"
    run = float(census.high) - float(census.low) == column.n_known - 1
    if census.all_different and run and MIN_RUN <= column.n_known == census.n_rows:
        return f"numbers the rows from {census.low:.0f} to {census.high:.0f}"
    return ""


def _are_steps(column: _Column, levels: NDArray[np.generic]) -> bool:
    """Whether whole numbers are the steps of a scale rather than a quantity."""
    gaps = np.diff(levels.astype(np.float64))
    odd = np.median(gaps) > 1 or levels[0] > MAX_STEPS
    if len(levels) > (MAX_ODD_STEPS if odd else MAX_STEPS):
        return False
    return bool(gaps.sum() < MAX_STEPS) or _are_few(column, MAX_STEPS)


def _are_few(column: _Column, most: int) -> bool:
    n_levels = len(column.census.counts)
    return n_levels <= most and column.n_known >= MIN_SIGHTINGS * n_levels


def _piles_up(values: NDArray[np.float64], counts: NDArray[np.int64]) -> bool:
    """Whether whole numbers, each seen this often, are spread as counts are: near 0, a long tail."""
    order = np.argsort(values)
    reached = counts[order].cumsum()
    middle = np.searchsorted(reached, [(reached[-1] + 1) // 2, reached[-1] // 2 + 1])
    typical = float(values[order][middle].mean())
    if values.max() < COUNT_TAIL * typical or typical > MAX_TYPICAL_COUNT:
        return False
    with np.errstate(over="ignore"):  # infinite is more than the mean too
        mean = np.average(values, weights=counts)
        return bool(np.average((values - mean) ** 2, weights=counts) > mean)


def _words(column: _Column) -> Variable | SetAside:
    levels = _spellings(column)
    if len(levels) == 1:
        return _constant(column, levels[0])
    if len(levels) == 2:
        return column.with_levels(Kind.BINARY, _no_first(levels))
    if pc.all(pc.match_substring_regex(column.census.values, MOMENT)).as_py():
        return column.aside("dates and times are not modelled")
    ranks = _ranks(levels)
    if ranks and len(levels) <= MAX_LEVELS:
        ordered = sorted(levels, key=ranks.__getitem__)
        return column.with_levels(Kind.ORDINAL, ordered)
    reason = None if column.is_target and len(levels) <= MAX_LEVELS else _prose(column, levels)
    levels.sort(key=natural)
    return reason or column.with_levels(Kind.CATEGORY, levels)


def _prose(column: _Column, levels: list[str]) -> SetAside | None:
    """Why words are no category, or None if they are one."""
    census = column.census
    if census.all_different:
        long = float(np.mean([len(level.split()) for level in levels[:1000]])) > N_WORDS
        if long:
            return column.aside(f"free text: {census.n_values} different values")
        return column.aside("every value is different", "identifier")
    few = len(levels) <= MAX_STEPS or column.n_known >= MIN_SIGHTINGS * len(levels)
    if len(levels) > MAX_LEVELS or not few:
        n_levels = len(levels) if census.complete else census.n_values
        return column.aside(f"free text: {n_levels} different values")
    return None


def _spellings(column: _Column) -> list[str]:
    """The different words, the commonest spelling of each: 'Yes' and 'yes' are one."""
    words: list[str] = column.census.values.to_pylist()
    if column.census.all_different and len(words) > MAX_LEVELS:
        return words
    best: dict[str, str] = {}
    for place in np.argsort(-column.census.counts, kind="stable").tolist():
        best.setdefault(words[place].casefold(), words[place])
    return list(best.values())


def _no_first(levels: list[str]) -> list[str]:
    """Two words, the one that says no, none or less before the other."""
    first, second = sorted(levels, key=natural)
    ranks = _ranks(levels)
    if ranks:
        return sorted(levels, key=ranks.__getitem__)
    pair = (second.casefold(), first.casefold())
    swap = pair in BEFORE or any(pair[0] == prefix + pair[1] for prefix in NEGATIONS)
    return [second, first] if swap else [first, second]


def _ranks(levels: list[str]) -> dict[str, float]:
    """The place of each word in a scale that all of them belong to; empty if there is none."""
    folded = {level: " ".join(re.split(r"[\s_-]+", level.casefold())) for level in levels}
    for vocabulary in VOCABULARIES:
        if all(word in vocabulary for word in folded.values()):
            return {level: float(vocabulary.index(word)) for level, word in folded.items()}
    bands = {level: place for level in levels if (place := band(level)) is not None}
    return bands if len(set(bands.values())) == len(levels) else {}


def _levels(values: NDArray[np.generic]) -> list[Level]:
    """Sorted numbers as levels: ints where all of them are whole."""
    whole = bool((values % 1 == 0).all())
    return [int(one) if whole else float(one) for one in values]


def _refuse_nothing(n_columns: int, n_rows: int) -> None:
    if n_columns == 0:
        raise TableError("the table has no columns. Pass a table with at least one column.")
    if n_rows == 0:
        raise TableError("the table has no rows. A schema is inferred from values; give it some.")


def _refuse_absent(targets: tuple[str, ...], names: list[str]) -> None:
    for target in targets:
        if target not in names:
            raise TargetError(
                f"the target {target!r} is not a column of the table. Columns are: "
                f"{listing([repr(name) for name in names])}."
            )


def _refuse_nothing_left(
    n_rows: int, variables: tuple[Variable, ...], aside: tuple[SetAside, ...]
) -> None:
    if variables:
        return
    if n_rows == 1:
        raise TableError(
            "the table has one row, so every column is constant and nothing can be learnt. "
            "Give it more rows."
        )
    reasons = "; ".join(f"{one.name!r}: {one.reason}" for one in aside[:6])
    raise TableError(f"nothing is left to model. Every column was set aside: {reasons}.")
