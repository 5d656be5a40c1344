"""Survival outcomes of persons: one time and one event each, and what remains of the time at a decision."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.cell_arrays import is_numeric, value_type
from eddi.table.cells.levels import Level
from eddi.table.columns import factorize, read_survival
from eddi.table.series.clock import Times, read_times, subtract_entry
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.static_rows import StaticRows
from eddi.table.survival.survival import Survival
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.text import format_names, format_value
from eddi.table.variable import Variable

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Outcomes = Mapping[str, SurvivalTimes]  # of persons, by survival variable; times count from their entry


def read_outcomes(
    table: pa.Table,
    layout: RowLayout,
    person: Integers,
    persons: list[Any],
    *,
    static: StaticRows | None,
    entry: Times,
) -> dict[str, SurvivalTimes]:
    """The outcome of each person; none for a survival variable whose columns are absent.

    Args:
        table: the measurements.
        layout: of the schema.
        person: position of each row's person [rows].
        persons: their names.
        static: the table with one row per person.
        entry: of each person; a time that is a date counts from there [persons].

    Raises:
        TableError: only some of the columns are there, the outcome of a person changes, or it is not valid.
    """
    outcomes = {}
    for variable in layout.survival:
        cells = {
            name: _find_cells(table, layout, person, persons, static=static, name=name)
            for name in variable.columns
        }
        found = {name: column for name, column in cells.items() if column is not None}
        if not found:
            continue
        if absent := [name for name in cells if name not in found]:
            raise TableError(
                f"there is no column {format_names(absent)}, which the survival variable "
                f"{variable.name!r} needs. Add it to the static table or to the measurements."
            )
        assert variable.survival is not None  # noqa: S101  # layout.survival
        numbers = _dates_to_numbers(found, variable.survival, layout.time.unit, entry)
        outcomes[variable.name] = read_survival(pa.table(numbers), variable, persons=persons)
    return outcomes


def remaining_times(outcome: SurvivalTimes, person: Integers, time: Numbers) -> SurvivalTimes:
    """The time from each decision to the outcome; not known if the outcome came before the decision.

    Args:
        outcome: of each person.
        person: position of the person of each decision [decisions].
        time: of the decision, since the person's entry [decisions].
    """
    remaining = outcome.times[person] - time
    is_at_risk = remaining > 0
    return SurvivalTimes(
        np.where(is_at_risk, remaining, np.nan), np.where(is_at_risk, outcome.events[person], np.nan)
    )


def find_at_risk(outcomes: Outcomes, person: Integers, time: Numbers) -> NDArray[np.bool_]:
    """Which decisions are before an outcome of their person, or belong to one whose outcome is not known.

    With several survival variables, one that has not ended is enough.
    """
    if not outcomes:
        return np.ones(len(person), dtype=bool)
    ended = [outcome.times[person] <= time for outcome in outcomes.values()]
    return np.asarray(~np.all(ended, axis=0))


def times_to_columns(variable: Variable, times: SurvivalTimes) -> dict[str, pa.Array]:
    """The columns of a survival variable for times that count from 0."""
    survival = variable.survival
    assert survival is not None  # noqa: S101  # callers check
    levels = pa.array(_event_levels(survival.occurred))
    is_known = times.is_known
    place = np.where(is_known, times.events == 1, False).astype(np.int64)
    columns = {
        survival.time: pa.array(times.times, from_pandas=True),
        survival.event: levels.take(pa.array(place, mask=~is_known)),
    }
    if survival.entry:
        columns[survival.entry] = pa.array(np.where(is_known, 0.0, np.nan), from_pandas=True)
    return columns


def _event_levels(occurred: Level | None) -> list[Level]:
    """The cell of a censored row, and that of an event."""
    if occurred is None:
        return [0, 1]
    if isinstance(occurred, str):
        return ["no event" if occurred == "censored" else "censored", occurred]
    return [type(occurred)(0 if occurred else 1), occurred]


def _find_cells(
    table: pa.Table,
    layout: RowLayout,
    person: Integers,
    persons: list[Any],
    *,
    static: StaticRows | None,
    name: str,
) -> pa.ChunkedArray | None:
    """The cell of each person in a column of the static table or of the measurements; None if absent."""
    time = layout.time
    if static is not None and name in static.table.column_names:
        return static.table[name].take(pa.array(static.find(persons)))
    if not time.variable:
        return _only_cells(table[name], person, persons, name) if name in table.column_names else None
    indices, names = factorize(table[time.variable])
    places = [place for place, found in enumerate(names.to_pylist()) if str(found) == name]
    rows = np.flatnonzero(np.isin(indices, places))
    cells = table[time.value].take(pa.array(rows))
    return _only_cells(cells, person[rows], persons, name) if len(rows) else None


def _only_cells(
    cells: pa.ChunkedArray, person: Integers, persons: list[Any], name: str
) -> pa.ChunkedArray:
    """The only value of each person, null if there is none."""
    indices, values = factorize(cells)
    is_known = indices >= 0
    person, indices = person[is_known], indices[is_known]
    first = np.full(len(persons), -1)
    first[person[::-1]] = indices[::-1]
    changed = np.flatnonzero(first[person] != indices)
    if len(changed):
        row = changed[0]
        before, after = (values[int(place)].as_py() for place in (first[person[row]], indices[row]))
        raise TableError(
            f"{name!r} changes over time for person {persons[person[row]]!r}: {format_value(before)} and "
            f"{format_value(after)}. A person has one outcome: write the same time and event in all of its "
            "rows, or once in the static table."
        )
    return pa.chunked_array([values.take(pa.array(first, mask=first < 0))])


def _dates_to_numbers(
    cells: dict[str, pa.ChunkedArray], survival: Survival, unit: str, entry: Times
) -> dict[str, pa.ChunkedArray]:
    """The columns, with dates replaced by times since the entry."""
    numbers = dict(cells)
    if not entry.zone or survival.entry:
        return numbers
    column = cells[survival.time]
    is_known = ~np.asarray(column.is_null().to_numpy())
    if is_numeric(value_type(column.type)) or not is_known.any():
        return numbers
    times = read_times(column.filter(pa.array(is_known)), survival.time, unit)
    if times.zone:
        elapsed = np.full(len(column), np.nan)
        known = Times(entry.numbers[is_known], entry.zone)
        elapsed[is_known] = subtract_entry(times, known, survival.time)
        numbers[survival.time] = pa.chunked_array([pa.array(elapsed, from_pandas=True)])
    return numbers
