"""Decision rows: one row per person and decision time, as an ordinary table."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import EddiWarning, TableError
from eddi.table.fill import numbers_to_column
from eddi.table.schema import Schema
from eddi.table.series.measurements import Measurements
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.static_rows import StaticRows
from eddi.table.series.time_section import TimeSection
from eddi.table.series.window_values import Decisions, fill_windows
from eddi.table.streaming import ParquetStream, open_table
from eddi.table.text import format_names

MAX_CELLS = 250_000_000  # of all decision rows: 2 GB as float64


@dataclass(frozen=True)
class Series:
    """Repeated measurements of some persons, and what does not change.

    Args:
        measurements: a long table (person, time, variable, value) or a table of visits (person, time, and
            a column per variable), in any format. A large Parquet file is read a few persons at a time;
            the rows of each person must then be together.
        static: a table with one row per person; None if the measurements have these columns, too.
    """

    measurements: Any
    static: Any = None

    @property
    def column_names(self) -> list[str]:
        """The names of the columns of the measurements."""
        return list(open_table(self.measurements).column_names)

    def iter_measurements(self, schema: Schema) -> Iterator[Measurements]:
        """The measurements of a few persons at a time.

        Raises:
            TableError: the tables do not fit the schema or each other.
        """
        layout = RowLayout(schema)
        person = layout.time.person
        static = None if self.static is None else StaticRows.read(self.static, person)
        seen: set[Any] = set()
        for table in _iter_persons(open_table(self.measurements), person):
            measurements = Measurements.read(table, layout, static)
            if again := seen.intersection(measurements.persons):
                raise TableError(
                    f"the rows of person {again.pop()!r} are not together. A file of this size is read a "
                    f"few persons at a time: sort it by {person!r}."
                )
            seen.update(measurements.persons)
            yield measurements
        if static is not None:
            static.check_measured(seen)


def decision_rows(source: Any, schema: Schema, *, static: Any = None, seed: int = 0) -> pa.Table:
    """One row per person and decision time, with the columns of the schema and that of the person.

    Args:
        source: a `Series`, or its measurements.
        schema: with a section `[time]`.
        static: a table with one row per person, unless ``source`` is a `Series`.
        seed: of decision times that are drawn at random.

    Raises:
        TableError: the tables do not fit the schema or each other.
    """
    series = source if isinstance(source, Series) else Series(source, static)
    layout, random = RowLayout(schema), np.random.default_rng(seed)
    persons: list[Any] = []
    parts: list[NDArray[np.float64]] = []
    single: list[Any] = []
    for measurements in series.iter_measurements(schema):
        decisions = choose_decisions(layout, measurements, random)
        parts.append(fill_windows(layout, measurements, decisions))
        persons += [measurements.persons[place] for place in decisions.person]
        single += _find_single_visits(measurements)
        _check_size(layout, len(persons))
    numbers = np.concatenate(parts) if parts else np.zeros((0, len(schema.variables)))
    if layout.time.next_values:
        _check_single_visits(single, len(set(persons)))
    return _to_table(layout, persons, numbers)


def has_decision_rows(columns: Iterable[str], time: TimeSection) -> bool:
    """Whether a table has the columns of decision rows, rather than those of measurements."""
    names = set(columns)
    windows = {time.window_name(name, w) for name in time.repeats for w in range(time.n_windows)}
    return windows <= names and (time.n_windows > 1 or time.variable not in names)


def choose_decisions(
    layout: RowLayout, measurements: Measurements, random: np.random.Generator
) -> Decisions:
    """The decision times of each person, as the schema says."""
    time, n_persons = layout.time, len(measurements.persons)
    if time.decisions == "visits":
        visits = np.unique(measurements.visits, axis=1)  # sorted by person, then by time
        return Decisions(visits[0].astype(np.int64), visits[1])
    if time.decisions == "random":
        last = np.zeros(n_persons)
        np.maximum.at(last, measurements.visits[0].astype(np.int64), measurements.visits[1])
        times = np.sort(random.random((n_persons, time.draws)) * last[:, None], axis=1)
    else:
        times = np.tile(np.array(time.decisions, dtype=np.float64), (n_persons, 1))
    return Decisions(np.repeat(np.arange(n_persons), times.shape[1]), times.ravel())


def _iter_persons(table: pa.Table | ParquetStream, person: str) -> Iterator[pa.Table]:
    """The rows of whole persons: all at once, or a few persons of a large file at a time."""
    if isinstance(table, pa.Table):
        if table.num_rows == 0:
            raise TableError("the table has no rows, so no person has a measurement.")
        yield table
        return
    if person not in table.column_names:
        raise TableError(
            f"the table has no column {person!r}, which names the person. Its columns are: "
            f"{format_names(table.column_names)}."
        )
    rest: pa.Table | None = None
    for batch in table.iter_batches():
        joined = batch if rest is None else pa.concat_tables([rest, batch], promote_options="permissive")
        names = joined[person].to_numpy()
        start = int(np.flatnonzero(names != names[-1])[-1]) + 1 if (names != names[-1]).any() else 0
        if start:
            yield joined.slice(0, start)
        rest = joined.slice(start)
    if rest is not None and rest.num_rows:
        yield rest


def _find_single_visits(measurements: Measurements) -> list[Any]:
    """Persons with values at one time only, or at none."""
    times = np.unique(np.stack([measurements.person, measurements.time]), axis=1)
    counts = np.bincount(times[0].astype(np.int64), minlength=len(measurements.persons))
    return [measurements.persons[place] for place in np.flatnonzero(counts < 2)]


def _check_single_visits(single: list[Any], n_persons: int) -> None:
    if not single:
        return
    names = format_names(list(map(str, single[:3])))
    if len(single) == n_persons:
        raise TableError(
            f"every person has a single visit, such as {names}. The next value needs at least two."
        )
    warnings.warn(
        EddiWarning(f"{len(single)} persons have a single visit and no next value, such as {names}."),
        stacklevel=3,
    )


def _check_size(layout: RowLayout, n_rows: int) -> None:
    n_variables = len(layout.schema.variables)
    if n_rows * n_variables > MAX_CELLS:
        raise TableError(
            f"there are more than {MAX_CELLS // n_variables:,} decision rows of {n_variables} variables, "
            "which do not fit into memory. Use fewer decision times or windows in [time]."
        )


def _to_table(layout: RowLayout, persons: list[Any], numbers: NDArray[np.float64]) -> pa.Table:
    columns = {
        variable.column: numbers_to_column(numbers[:, place], variable)
        for place, variable in enumerate(layout.schema.variables)
    }
    return pa.table({layout.time.person: pa.array(persons), **columns})
