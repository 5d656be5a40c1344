"""Infer the schema of repeated measurements: kinds, what repeats, windows of age."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table.cell_arrays import value_type
from eddi.table.columns import factorize
from eddi.table.schema import Schema
from eddi.table.series.clock import guess_unit, read_times
from eddi.table.series.measurements import read_persons
from eddi.table.series.time_section import Summary, TimeSection
from eddi.table.streaming import ParquetStream, open_table
from eddi.table.survival.in_schema import SurvivalColumns, add_survival
from eddi.table.text import format_names
from eddi.table.variable import Level

WINDOW_FACTORS = (1.5, 4, 12)  # ages, in units of the usual time between two measurements


def infer_series(
    source: Any,
    *,
    person: str,
    time: str,
    variable: str = "",
    value: str = "",
    targets: Iterable[str] = (),
    missing: Iterable[Level] = (),
    declined: Iterable[Level] = (),
    survival: Mapping[str, SurvivalColumns] | None = None,
) -> Schema:
    """Infer the schema of a long table or of a table of visits. Check the windows by hand.

    A variable repeats if a person has more than one value of it at different times: in a table of visits,
    if its values change.

    Args:
        source: the table; of a large Parquet file, the first rows are read.
        person: the column that names the person.
        time: the column of the time.
        variable: the column of a long table that names the variable; empty for a table of visits.
        value: the column of a long table with the value.
        targets: variables that one may want to predict.
        missing: codes that mean "missing".
        declined: codes that mean "declined to answer".
        survival: targets that are the time until an event, by name: the columns of the time and of the
            event, here or in the static table.
    """
    table = open_table(source)
    rows = next(iter(table.iter_batches())) if isinstance(table, ParquetStream) else table
    _check_names(rows, [name for name in (person, time, variable, value) if name])
    places, persons = read_persons(rows[person], person)
    if len(persons) == rows.num_rows:
        raise TableError(
            f"every person ({person!r}) has a single row, so nothing repeats. For a table with one row per "
            "person, leave out the person and the time."
        )
    columns = _long_columns(rows, variable, value) if variable else _visit_columns(rows, (person, time))
    wide = pa.table({name: _pad(cells, rows.num_rows) for name, (_, cells) in columns.items()})
    modelled = [name for name in targets if name in columns]
    schema = Schema.infer(wide, targets=modelled, missing=missing, declined=declined)
    schema = add_survival(schema, survival or {})
    names = [v.name for v in schema.variables if v.survival is None and v.name not in targets]
    repeats: dict[str, Summary] = {
        name: "last" for name in names if _repeats(*columns[name], places, is_long=bool(variable))
    }
    unit = guess_unit(rows[time], time)
    gap = _usual_gap(read_times(rows[time], time, unit).numbers, places)
    section = TimeSection(
        person,
        time,
        unit=unit,
        windows=((gap if variable else 0.0), *(_round(factor * gap) for factor in WINDOW_FACTORS)),
        repeats=repeats,
        variable=variable,
        value=value,
    )
    return schema.with_time(section)


def _check_names(rows: pa.Table, names: list[str]) -> None:
    if absent := [name for name in names if name not in rows.column_names]:
        raise TableError(
            f"the table has no column {format_names(absent)}. Its columns are: "
            f"{format_names(rows.column_names)}."
        )


Columns = Mapping[str, tuple[NDArray[np.int64], pa.ChunkedArray]]


def _long_columns(rows: pa.Table, variable: str, value: str) -> Columns:
    """The rows and the cells of each variable of a long table."""
    indices, names = factorize(rows[variable])
    found = {}
    for place, name in enumerate(names.to_pylist()):
        own = np.flatnonzero(indices == place)
        if len(own):
            found[str(name)] = (own, rows[value].take(pa.array(own)))
    return found


def _visit_columns(rows: pa.Table, others: tuple[str, ...]) -> Columns:
    everything = np.arange(rows.num_rows)
    return {name: (everything, rows[name]) for name in rows.column_names if name not in others}


def _pad(cells: pa.ChunkedArray, n_rows: int) -> pa.ChunkedArray:
    """The cells, with empty ones at the end."""
    plain = cells.cast(value_type(cells.type))
    return pa.chunked_array([*plain.chunks, pa.nulls(n_rows - len(cells), plain.type)])


def _repeats(
    rows: NDArray[np.int64], cells: pa.ChunkedArray, places: NDArray[np.int64], *, is_long: bool
) -> bool:
    """Whether a person has several values."""
    indices, _ = factorize(cells)
    own = places[rows[indices >= 0]]
    if is_long:
        return bool(len(np.unique(own)) < len(own))
    pairs = np.unique(np.stack([own, indices[indices >= 0]]), axis=1)
    return bool(len(np.unique(pairs[0])) < pairs.shape[1])


def _usual_gap(times: NDArray[np.float64], places: NDArray[np.int64]) -> float:
    """The median time between two different times of a person; 1 if there are none."""
    pairs = np.unique(np.stack([places.astype(np.float64), times]), axis=1)
    gaps = np.diff(pairs[1])[np.diff(pairs[0]) == 0]
    return _round(float(np.median(gaps))) if len(gaps) else 1.0


def _round(number: float) -> float:
    return float(f"{number:.2g}")
