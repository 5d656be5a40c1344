"""Series that were recorded: what could have been measured at each decision, and what was known before."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.model.base import Model
from eddi.table.evidence import Evidence
from eddi.table.series.decision_rows import Series, choose_decisions
from eddi.table.series.measurements import Measurements
from eddi.table.series.row_layout import RowLayout
from eddi.table.series.window_values import ROUNDING, Decisions, fill_windows
from eddi.table.survival.time_bins import SurvivalTimes

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class LoggedSeries:
    """The recorded measurements of some persons, and their decision times.

    Args:
        model: the fitted model.
        measurements: everything that was recorded.
        times: of the decisions, NaN after the last one of a person [persons, decisions].
    """

    model: Model
    measurements: Measurements
    times: Numbers

    @classmethod
    def read(cls, model: Model, source: Any, *, seed: int = 0) -> "LoggedSeries":
        """Read a `Series` or a table of measurements."""
        series = source if isinstance(source, Series) else Series(source)
        layout = RowLayout(model.schema)
        measurements = join_measurements(list(series.iter_measurements(model.schema)))
        decisions = choose_decisions(layout, measurements, np.random.default_rng(seed))
        return cls(model, measurements, _to_matrix(decisions, len(measurements.persons)))

    @property
    def n_decisions(self) -> int:
        """The highest number of decisions of a person."""
        return int(self.times.shape[1])

    @cached_property
    def layout(self) -> RowLayout:
        """The columns of rows."""
        return RowLayout(self.model.schema)

    def rows(self, persons: NDArray[np.int64], decision: int, taken: Mask) -> Evidence:
        """The rows of some persons at a decision, with all static variables.

        Args:
            persons: positions of the persons.
            decision: number of the decision.
            taken: the measurements that were taken [measurements].
        """
        decisions = Decisions(persons, self.times[persons, decision])
        numbers = fill_windows(self.layout, self.measurements.select(taken), decisions)
        return self.model.coding.encode(numbers)

    def find_recorded(self, decision: int) -> NDArray[np.int64]:
        """The measurement that a question would give now [persons, repeated variables]; -1 if none.

        It is the last one whose age is at most that of the first window.
        """
        measured = self.measurements
        age = self.times[measured.person, decision] - measured.time
        is_near = (age >= -ROUNDING) & (age <= self.layout.time.windows[0] + ROUNDING)
        found = np.full((len(measured.persons), len(self.layout.repeated)), -1)
        places = np.flatnonzero(is_near)
        found[measured.person[places], measured.variable[places]] = places  # the last one remains
        return found

    def count_recorded(self, decision: int) -> NDArray[np.int64]:
        """The number of recorded measurements of each person until a decision [persons]."""
        measured = self.measurements
        last = np.fmax.reduce(self.times[:, : decision + 1], axis=1)[measured.person]
        return np.bincount(measured.person[measured.time <= last], minlength=len(measured.persons))

    def outcome(self, target: str) -> SurvivalTimes:
        """The time from each decision to the outcome, if known [persons, decisions]."""
        decisions = _to_decisions(self.times)
        remaining = decisions.remaining(self.measurements, target)
        times, events = np.full(self.times.shape, np.nan), np.full(self.times.shape, np.nan)
        if remaining is not None:
            is_decision = ~np.isnan(self.times)
            times[is_decision], events[is_decision] = remaining.times, remaining.events
        return SurvivalTimes(times, events)

    def truth(self, target: str) -> Numbers:
        """The value of the target at each decision, NaN if it is not known [persons, decisions]."""
        truth, everything = np.full(self.times.shape, np.nan), np.ones(len(self.measurements), bool)
        position = self.model.schema.position(target)
        for decision in range(self.n_decisions):
            persons = np.flatnonzero(~np.isnan(self.times[:, decision]))
            rows = self.rows(persons, decision, everything)
            numbers = self.model.coding.decode(rows.values)[:, position]
            truth[persons, decision] = np.where(rows.observed[:, position], numbers, np.nan)
        return truth


def join_measurements(parts: Sequence[Measurements]) -> Measurements:
    """The measurements of all persons."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.persons) for part in parts[:-1])])
    shifted = [np.array([[start], [0.0]]) for start in starts]
    return Measurements(
        [name for part in parts for name in part.persons],
        np.concatenate([part.person + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.variable for part in parts]),
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.visits + s for part, s in zip(parts, shifted, strict=True)], axis=1),
        np.concatenate([part.static for part in parts]),
        {
            name: SurvivalTimes.concatenate([part.outcomes[name] for part in parts])
            for name in parts[0].outcomes
        },
    )


def _to_matrix(decisions: Decisions, n_persons: int) -> Numbers:
    """The times of each person, padded with NaN [persons, decisions]."""
    counts = np.bincount(decisions.person, minlength=n_persons)
    times = np.full((n_persons, int(counts.max(initial=0))), np.nan)
    place = np.arange(len(decisions)) - np.repeat(np.cumsum(counts) - counts, counts)
    times[decisions.person, place] = decisions.time
    return times


def _to_decisions(times: Numbers) -> Decisions:
    """The inverse of `_to_matrix`."""
    person, place = np.nonzero(~np.isnan(times))
    return Decisions(person, times[person, place])
