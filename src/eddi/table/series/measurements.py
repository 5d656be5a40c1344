"""Measurements of some persons: who, what, when, and the value."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.cell_arrays import value_type
from eddi.table.columns import column_to_numbers, factorize
from eddi.table.series.clock import Times, read_times, subtract_entry
from eddi.table.series.outcomes import Outcomes, read_outcomes
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.static_rows import StaticRows
from eddi.table.text import format_names, format_value, note_count
from eddi.table.variable import Variable

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Measurements:
    """The measurements of some persons, sorted by person, then by time.

    Args:
        persons: names of the persons.
        person: position of each measurement's person [measurements].
        variable: position of its variable among those that repeat [measurements].
        time: since the entry of the person [measurements].
        value: quantity, or position of the level [measurements].
        visits: person and time of every row of the table [2, rows], also of rows without a value.
        static: values that do not change, NaN = missing [persons, static variables].
        outcomes: times and events of the persons, by survival variable.
    """

    persons: list[Any]
    person: Integers
    variable: Integers
    time: Numbers
    value: Numbers
    visits: Numbers
    static: Numbers
    outcomes: Outcomes = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.person)

    def select(self, mask: NDArray[np.bool_]) -> "Measurements":
        """Some of the measurements, of the same persons."""
        return replace(
            self,
            person=self.person[mask],
            variable=self.variable[mask],
            time=self.time[mask],
            value=self.value[mask],
        )

    @classmethod
    def read(cls, table: pa.Table, layout: RowLayout, static: StaticRows | None) -> "Measurements":
        """Read the measurements of a long table or of a table of visits.

        Raises:
            TableError: a column is absent, a person or time is missing, times decrease or repeat, a
                measurement precedes the entry of its person, or a static variable or an outcome changes.
        """
        time = layout.time
        _check_columns(
            table, [name for name in (time.person, time.column, time.variable, time.value) if name]
        )
        person, persons = read_persons(table[time.person], time.person)
        if static is not None:
            static.check_persons(persons)
        entry = _find_entry(table, layout, person, persons, static)
        times = _read_elapsed(table, layout, person, persons, entry)
        row, variable, value = _read_values(table, layout)
        order = np.lexsort((np.arange(len(row)), person[row]))  # rows of a person stay in their order
        row, variable, value = row[order], variable[order], value[order]
        _check_order(person[row], variable, times[row], row, layout, persons)
        by_time = np.lexsort((times[row], person[row]))
        row, variable, value = row[by_time], variable[by_time], value[by_time]
        visits = np.stack([person.astype(np.float64), times])
        known = _read_static(table, layout, person, persons, static)
        outcomes = read_outcomes(table, layout, person, persons, static=static, entry=entry)
        return cls(persons, person[row], variable, times[row], value, visits, known, outcomes)


def read_persons(column: pa.ChunkedArray, name: str) -> tuple[Integers, list[Any]]:
    """The position of each row's person, and the names of the persons in order of appearance."""
    if column.null_count:
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise TableError(f"{name!r} names no person in row {row}. Every row needs a person.")
    encoded = pa.chunked_array(
        [column.combine_chunks().cast(value_type(column.type))]
    ).dictionary_encode()
    array = encoded.combine_chunks()
    array = array if isinstance(array, pa.DictionaryArray) else array.chunk(0)
    return array.indices.to_numpy().astype(np.int64), array.dictionary.to_pylist()


def _check_columns(table: pa.Table, names: list[str]) -> None:
    absent = [name for name in names if name not in table.column_names]
    if absent:
        raise TableError(
            f"the table has no column {format_names(absent)}, which the section [time] of the schema "
            f"names. Its columns are: {format_names(table.column_names)}."
        )


def _read_elapsed(
    table: pa.Table, layout: RowLayout, person: Integers, persons: list[Any], entry: Times
) -> Numbers:
    """The time of each row since the entry of its person."""
    time = layout.time
    times = read_times(table[time.column], time.column, time.unit)
    elapsed = subtract_entry(times, Times(entry.numbers[person], entry.zone), time.column)
    early = np.flatnonzero(elapsed < 0)
    if len(early):
        row = int(early[0])
        given = format_value(table[time.column][row].as_py())
        what = f"a time before the entry ({time.entry!r})" if time.entry else "a negative time"
        raise TableError(
            f"row {row + 1} of the table has {what} of person {persons[person[row]]!r}: {given}"
            f"{note_count(len(early), 'rows')}. Times count from the entry, from 0 up. Remove these rows, or "
            "correct the times."
        )
    return elapsed


def _find_entry(
    table: pa.Table, layout: RowLayout, person: Integers, persons: list[Any], static: StaticRows | None
) -> Times:
    """The time of entry of each person: that of the schema's column, the first date, or 0."""
    name = layout.time.entry
    if not name:
        times = read_times(table[layout.time.column], layout.time.column, layout.time.unit)
        first = np.full(len(persons), np.inf if times.zone else 0.0)
        np.minimum.at(first, person, times.numbers if times.zone else 0.0)
        return Times(first, times.zone)
    if static is not None and name in static.table.column_names:
        column = static.table[name].take(pa.array(static.find(persons)))
    else:
        _check_columns(table, [name])
        first_row = np.zeros(len(persons), dtype=np.int64)
        first_row[person[::-1]] = np.arange(len(person))[::-1]
        column = table[name].take(pa.array(first_row))
    return read_times(column, name, layout.time.unit)


def _read_values(table: pa.Table, layout: RowLayout) -> tuple[Integers, Integers, Numbers]:
    """Row, variable and value of every measurement."""
    parts = []
    for place, variable in enumerate(layout.repeated):
        rows, numbers = _read_variable(table, layout, variable)
        is_known = ~np.isnan(numbers)
        parts.append((rows[is_known], np.full(int(is_known.sum()), place), numbers[is_known]))
    if not parts:
        raise TableError("no variable of the schema repeats. Set repeats = true for those that do.")
    row, variable_places, value = (np.concatenate(column) for column in zip(*parts, strict=True))
    return row.astype(np.int64), variable_places.astype(np.int64), value.astype(np.float64)


def _read_variable(table: pa.Table, layout: RowLayout, variable: Variable) -> tuple[Integers, Numbers]:
    """The rows of a variable and their numbers, NaN = missing."""
    time = layout.time
    if not time.variable:
        _check_columns(table, [variable.column])
        return np.arange(table.num_rows), column_to_numbers(table[variable.column], variable)
    indices, names = factorize(table[time.variable])
    places = [place for place, name in enumerate(names.to_pylist()) if str(name) == variable.column]
    rows = np.flatnonzero(np.isin(indices, places))
    return rows, column_to_numbers(table[time.value].take(pa.array(rows)), variable)


def _check_order(
    person: Integers,
    variable: Integers,
    times: Numbers,
    rows: Integers,
    layout: RowLayout,
    persons: list[Any],
) -> None:
    """Times of a variable of a person must increase, in the order of the table."""
    order = np.lexsort((np.arange(len(rows)), variable, person))
    is_same = (np.diff(person[order]) == 0) & (np.diff(variable[order]) == 0)
    steps = np.diff(times[order])
    for is_wrong, problem, advice in (
        (is_same & (steps < 0), "decrease", "Sort the rows of each person by time."),
        (is_same & (steps == 0), "repeat", "Keep one value per variable and time."),
    ):
        if is_wrong.any():
            place = int(np.flatnonzero(is_wrong)[0])
            first, second = order[place], order[place + 1]
            raise TableError(
                f"the times of person {persons[person[first]]!r} {problem}: "
                f"{layout.repeated[variable[first]].name!r} at {times[first]:g} in row {rows[first] + 1} "
                f"and at {times[second]:g} in row {rows[second] + 1}"
                f"{note_count(int(is_wrong.sum()), 'pairs')}. {advice}"
            )


def _read_static(
    table: pa.Table, layout: RowLayout, person: Integers, persons: list[Any], static: StaticRows | None
) -> Numbers:
    """The values of static variables [persons, variables]: from the static table, or from this one."""
    known = np.full((len(persons), len(layout.static)), np.nan)
    for place, variable in enumerate(layout.static):
        if static is not None and variable.column in static.table.column_names:
            known[:, place] = static.read_variable(variable)[static.find(persons)]
        elif layout.time.variable or variable.column in table.column_names:
            rows, numbers = _read_variable(table, layout, variable)
            known[:, place] = _first_values(numbers, person[rows], persons, variable)
    return known


def _first_values(numbers: Numbers, person: Integers, persons: list[Any], variable: Variable) -> Numbers:
    """The only value of each person, NaN if there is none."""
    is_known = ~np.isnan(numbers)
    person, numbers = person[is_known], numbers[is_known]
    first = np.full(len(persons), np.nan)
    first[person[::-1]] = numbers[::-1]
    changed = np.flatnonzero(first[person] != numbers)
    if len(changed):
        name = persons[person[changed[0]]]
        raise TableError(
            f"{variable.name!r} changes over time for person {name!r}: "
            f"{variable.answer(first[person[changed[0]]])!r} and {variable.answer(numbers[changed[0]])!r}. "
            "Set repeats = true for it in the schema."
        )
    return first
