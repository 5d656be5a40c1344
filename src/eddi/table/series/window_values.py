"""The values of each window of age at decision times: the only place where time becomes a row."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.table.series.measurements import Measurements
from eddi.table.series.outcomes import find_at_risk, remaining_times
from eddi.table.series.row_layout import RowLayout
from eddi.table.survival.time_bins import SurvivalTimes

MAX_PAIRS = 4_000_000  # of a decision and a measurement at once: about 200 MB
ROUNDING = 1e-9  # of times: a value from 0.7 has an age of 0.2 at 0.9

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Decisions:
    """Persons and times of decisions, sorted by person.

    Args:
        person: position of the person [decisions].
        time: since the person's entry [decisions].
    """

    person: NDArray[np.int64]
    time: Numbers

    def __len__(self) -> int:
        return len(self.person)

    def at_risk(self, measurements: Measurements) -> "Decisions":
        """The decisions that come before the outcomes of their persons; all without survival variables."""
        is_at_risk = find_at_risk(measurements.outcomes, self.person, self.time)
        return Decisions(self.person[is_at_risk], self.time[is_at_risk])

    def remaining(self, measurements: Measurements, variable: str) -> SurvivalTimes | None:
        """The time from each decision to the outcome; None if no outcome was recorded."""
        outcome = measurements.outcomes.get(variable)
        return None if outcome is None else remaining_times(outcome, self.person, self.time)


def fill_windows(
    layout: RowLayout, measurements: Measurements, decisions: Decisions, *, later: bool = False
) -> Numbers:
    """The row of each decision, NaN = not observed [decisions, variables].

    Windows after the decision are filled only if ``later``: for training, and for imputation.
    """
    numbers = np.full((len(decisions), len(layout.schema.variables)), np.nan)
    numbers[:, layout.time_column] = decisions.time
    numbers[:, layout.static_columns] = measurements.static[decisions.person]
    for variable in layout.survival:
        remaining = decisions.remaining(measurements, variable.name)
        if remaining is not None and variable.survival is not None:
            column = layout.schema.position(variable.name)
            numbers[:, column] = remaining.to_numbers(variable.survival.edges)
    n_measurements = np.bincount(measurements.person, minlength=len(measurements.persons))
    n_pairs = n_measurements[decisions.person]
    parts = np.cumsum(n_pairs) // MAX_PAIRS
    for part in np.unique(parts):
        rows = np.flatnonzero(parts == part)
        _fill_part(layout, measurements, decisions, numbers, rows, later and bool(layout.time.later))
    if layout.time.informative:
        _add_measured(layout, numbers)
    return numbers


def _fill_part(
    layout: RowLayout,
    measurements: Measurements,
    decisions: Decisions,
    numbers: Numbers,
    rows: NDArray[np.int64],
    later: bool,
) -> None:
    """Fill some rows. A later value replaces an earlier one of the same window."""
    row, place = _pair(measurements, decisions, rows)
    age = decisions.time[row] - measurements.time[place]
    variable, value = measurements.variable[place], measurements.value[place]
    window = np.searchsorted(layout.time.windows, age - ROUNDING)
    is_past = (age >= -ROUNDING) & (window < layout.time.n_windows)
    column = layout.windows[variable[is_past], window[is_past]]
    numbers[row[is_past], column] = value[is_past]  # the last of several assignments remains
    is_mean = np.array([summary == "mean" for summary in layout.time.repeats.values()])
    is_averaged = is_past & is_mean[variable]
    if is_averaged.any():
        column = layout.windows[variable[is_averaged], window[is_averaged]]
        _assign_means(numbers, row[is_averaged], column, value[is_averaged])
    is_next = (age < -ROUNDING) & (-age <= layout.time.horizon + ROUNDING)
    is_next &= layout.next_values[variable] >= 0
    places = np.flatnonzero(is_next)[::-1]  # the earliest of them remains
    numbers[row[places], layout.next_values[variable[places]]] = value[places]
    if later:
        window = np.searchsorted(layout.time.later, -age - ROUNDING)
        is_later = (age < -ROUNDING) & (window < len(layout.time.later))
        places = np.flatnonzero(is_later)[::-1]
        numbers[row[places], layout.later[variable[places], window[places]]] = value[places]


def _pair(
    measurements: Measurements, decisions: Decisions, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every decision with every measurement of its person, the earliest first."""
    person = decisions.person[rows]
    start = np.searchsorted(measurements.person, person, side="left")
    count = np.searchsorted(measurements.person, person, side="right") - start
    row = np.repeat(rows, count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, np.repeat(start, count) + offset


def _assign_means(
    numbers: Numbers, row: NDArray[np.int64], column: NDArray[np.int64], value: Numbers
) -> None:
    cells, inverse, counts = np.unique(
        row * numbers.shape[1] + column, return_inverse=True, return_counts=True
    )
    numbers.ravel()[cells] = np.bincount(inverse.ravel(), weights=value) / counts


def _add_measured(layout: RowLayout, numbers: Numbers) -> None:
    for values, measured in zip(layout.windows.T[1:], layout.measured.T[1:], strict=True):
        numbers[:, measured] = ~np.isnan(numbers[:, values])
