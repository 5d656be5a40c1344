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
from eddi.table.series.outcomes import times_to_columns
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


def decision_rows(
    source: Any, schema: Schema, *, static: Any = None, seed: int = 0, later: bool = False
) -> pa.Table:
    """One row per person and decision time, with the columns of the schema and that of the person.

    Args:
        source: a `Series`, or its measurements.
        schema: with a section `[time]`.
        static: a table with one row per person, unless ``source`` is a `Series`.
        seed: of decision times that are drawn at random.
        later: whether to fill windows after the decision, as for training.

    Raises:
        TableError: the tables do not fit the schema or each other.
    """
    series = source if isinstance(source, Series) else Series(source, static)
    layout, random = RowLayout(schema), np.random.default_rng(seed)
    mean_follow_up = _mean_follow_up(series, layout)
    parts: list[pa.Table] = []
    single: list[Any] = []
    for measurements in series.iter_measurements(schema):
        decisions = choose_decisions(layout, measurements, random, mean_follow_up=mean_follow_up)
        numbers = fill_windows(layout, measurements, decisions, later=later)
        parts.append(_to_table(layout, measurements, decisions, numbers))
        single += _find_single_visits(measurements)
        _check_size(layout, sum(part.num_rows for part in parts))
    rows = pa.concat_tables(parts, promote_options="permissive")
    if layout.time.next_values:
        _check_single_visits(single, len(set(rows[layout.time.person].to_pylist())))
    if not rows.num_rows:
        raise TableError(
            f"no person is at risk at a decision time: all outcomes ({format_names(_names(layout))}) are "
            "earlier. Times of outcomes count from the entry of the person, in the unit of [time]. Check "
            "both, or name earlier decisions."
        )
    return rows


def has_decision_rows(columns: Iterable[str], time: TimeSection) -> bool:
    """Whether a table has the columns of decision rows, rather than those of measurements."""
    names = set(columns)
    windows = {time.window_name(name, w) for name in time.repeats for w in range(time.n_windows)}
    return windows <= names and (time.n_windows > 1 or time.variable not in names)


def choose_decisions(
    layout: RowLayout,
    measurements: Measurements,
    random: np.random.Generator,
    *,
    mean_follow_up: float | None = None,
) -> Decisions:
    """The decision times of each person, as the schema says; none after the outcome of a person.

    ``mean_follow_up`` is that of all persons, if the measurements are those of a few of them.
    """
    time, n_persons = layout.time, len(measurements.persons)
    if time.decisions == "visits":
        visits = np.unique(measurements.visits, axis=1)  # sorted by person, then by time
        return Decisions(visits[0].astype(np.int64), visits[1]).at_risk(measurements)
    if time.decisions == "random":
        mean = _follow_up(measurements).mean() if mean_follow_up is None else mean_follow_up
        return _draw_decisions(layout, measurements, random, mean).at_risk(measurements)
    times = np.tile(np.array(time.decisions, dtype=np.float64), n_persons)
    persons = np.repeat(np.arange(n_persons), len(time.decisions))
    return Decisions(persons, times).at_risk(measurements)


def _draw_decisions(
    layout: RowLayout, measurements: Measurements, random: np.random.Generator, mean_follow_up: float
) -> Decisions:
    """Random times between the entry of each person and the end of its follow-up.

    With a survival variable, their number is in proportion to the follow-up: if it were the same, persons
    with an early event would have most of the early decisions.
    """
    last, n_draws = _follow_up(measurements), layout.time.draws
    counts = np.full(len(last), n_draws)
    if measurements.outcomes:
        counts = random.poisson(n_draws * last / max(mean_follow_up, np.finfo(float).tiny))
    person = np.repeat(np.arange(len(last)), counts)
    times = random.random(len(person)) * last[person]
    order = np.lexsort((times, person))
    return Decisions(person, times[order])


def _follow_up(measurements: Measurements) -> NDArray[np.float64]:
    """The time of each person's outcome, or of its last row without one [persons]."""
    last = np.zeros(len(measurements.persons))
    np.maximum.at(last, measurements.visits[0].astype(np.int64), measurements.visits[1])
    if not measurements.outcomes:
        return last
    ends = np.fmax.reduce([outcome.times for outcome in measurements.outcomes.values()])
    return np.where(np.isnan(ends), last, ends)


def _mean_follow_up(series: Series, layout: RowLayout) -> float | None:
    """The mean over all persons of a streamed file, if random decisions depend on it; else None.

    With the mean of a few persons at a time, the number of decisions would depend on who is next to whom
    in the file. The file is read once more for it.
    """
    if layout.time.decisions != "random" or not layout.survival:
        return None
    if not isinstance(open_table(series.measurements), ParquetStream):
        return None
    parts = [_follow_up(measurements) for measurements in series.iter_measurements(layout.schema)]
    return float(np.concatenate(parts).mean())


def _iter_persons(table: pa.Table | ParquetStream, person: str) -> Iterator[pa.Table]:
    """The rows of whole persons: all at once, or a few persons of a large file at a time."""
    if isinstance(table, pa.Table):
        if table.num_rows == 0:
            raise TableError("the table has no rows, so no person has a measurement. Add some.")
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
            f"every person has a single visit, such as {names}. The next value needs at least two: add "
            "visits, or choose another target."
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


def _to_table(
    layout: RowLayout, measurements: Measurements, decisions: Decisions, numbers: NDArray[np.float64]
) -> pa.Table:
    persons = pa.array([measurements.persons[place] for place in decisions.person])
    columns: dict[str, pa.Array] = {layout.time.person: persons}
    for place, variable in enumerate(layout.schema.variables):
        if variable.survival is None:
            columns[variable.column] = numbers_to_column(numbers[:, place], variable)
        elif (times := decisions.remaining(measurements, variable.name)) is not None:
            columns |= times_to_columns(variable, times)
    return pa.table(columns)


def _names(layout: RowLayout) -> list[str]:
    return [variable.name for variable in layout.survival]
