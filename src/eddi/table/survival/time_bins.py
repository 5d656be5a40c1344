"""Times and events as single numbers, and bins that contain about equally many events.

The number of an event after a share f of bin k is k + f/5. The number of a row that was last seen without the
event after a share f of bin k is k - 3/4 + f/2: the event comes later in bin k, or in a later bin. The two
ranges do not overlap. A survival value is therefore a number like any other, and evidence, masks and files
need nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from eddi.errors import TableError

EVENTS_PER_BIN = 6  # fewer make the hazard of a bin too uncertain
MAX_BINS = 30
EVENT_WIDTH = 0.2
CENSORED_SHIFT, CENSORED_WIDTH = 0.75, 0.5
WRONG_ENTRY = "Correct the time or the entry."
NO_ENTRY = "Add the entry, or remove the time."
NEGATIVE = "correct it, or name the column of the start as the entry."

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class SurvivalTimes:
    """Times and events of some rows; NaN in both where they are not known."""

    times: Numbers  # [rows]
    events: Numbers  # [rows] 1 if the event happened, 0 if not

    @classmethod
    def check(
        cls,
        name: str,
        times: Numbers,
        events: Numbers,
        entries: Numbers | None = None,
        *,
        persons: Sequence[object] = (),
    ) -> "SurvivalTimes":
        """The times of a table, counted from the entries if there are any.

        Messages name the person of a row, or its number without ``persons``.

        Raises:
            TableError: a time is negative or before its entry, a time has no event value, or an event has
                no time.
        """
        report = partial(_raise_if, name=name, persons=persons)
        if entries is not None:
            start = np.where(np.isnan(entries), 0.0, entries)
            report(
                times < start,
                "ends at {time}, before its entry at {start}. " + WRONG_ENTRY,
                times,
                start,
            )
            report(~np.isnan(times) & np.isnan(entries), "has a time, but no entry. " + NO_ENTRY, times)
            times = times - start
        report(times < 0, "has the time {time}. Times are counted from 0 up: " + NEGATIVE, times)
        report(
            np.isnan(events) & ~np.isnan(times),
            "has the time {time}, but no value that says whether the event happened. Give both or neither.",
            times,
        )
        report(
            np.isnan(times) & (events == 1), "has an event, but no time. Give both or neither.", times
        )
        return cls.read(times, events)

    @classmethod
    def read(cls, times: Numbers, events: Numbers, entries: Numbers | None = None) -> "SurvivalTimes":
        """The times of rows to predict; what is not valid is not known."""
        times = times if entries is None else times - entries
        is_known = ~np.isnan(events) & (times >= 0)
        return cls(np.where(is_known, times, np.nan), np.where(is_known, events, np.nan))

    @classmethod
    def concatenate(cls, parts: "Sequence[SurvivalTimes]") -> "SurvivalTimes":
        """The times of all rows of some parts."""
        times, events = ([getattr(part, name) for part in parts] for name in ("times", "events"))
        return cls(np.concatenate(times), np.concatenate(events))

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which rows have a time [rows]."""
        return ~np.isnan(self.times)

    def find_edges(self, name: str) -> tuple[float, ...]:
        """Ends of bins with about equally many events each; the last one is the latest event.

        Raises:
            TableError: there are fewer than two events at different times.
        """
        event_times = self.times[self.is_known & (self.events == 1)]
        n_known, n_events = int(self.is_known.sum()), len(event_times)
        if not n_events:
            raise TableError(
                f"{name!r} has no events: all {n_known:,} rows with a time are censored. Nothing can be "
                "learned about when it happens. Check which value of the event column means that it did."
            )
        n_bins = int(np.clip(n_events // EVENTS_PER_BIN, 2, MAX_BINS))
        levels = np.arange(1, n_bins + 1) / n_bins
        edges = np.unique(np.quantile(event_times, levels, method="inverted_cdf"))
        edges = edges[edges > 0]
        if len(edges) < 2:
            count = "one event" if n_events == 1 else f"{n_events:,} events, all at the same time"
            raise TableError(
                f"{name!r} has only {count} among {n_known:,} rows with a time. At least two events at "
                "different times are needed, better dozens."
            )
        return tuple(edges.tolist())

    def to_numbers(self, edges: tuple[float, ...]) -> Numbers:
        """The number of each row; NaN where the time is not known, and everywhere without edges."""
        if not edges:
            return np.full(len(self.times), np.nan)
        ends = np.array(edges)
        times = np.where(self.is_known, self.times, 0.0)
        event_bin = np.searchsorted(ends, times, side="left")
        censored_bin = np.searchsorted(ends, times, side="right")
        starts, widths = _bins(ends)
        is_event = self.events == 1
        place = np.where(is_event, event_bin, censored_bin)
        share = (times - starts[place]) / widths[place]  # 0 in the open bin
        censored = place - CENSORED_SHIFT + CENSORED_WIDTH * share
        numbers = np.where(is_event, place + EVENT_WIDTH * share, censored)
        return np.where(self.is_known, numbers, np.nan)

    @classmethod
    def from_numbers(cls, numbers: Numbers, edges: tuple[float, ...]) -> "SurvivalTimes":
        """The inverse of `to_numbers`, except that times in the open bin become its start."""
        starts, widths = _bins(np.array(edges))
        place, share, is_event = split_numbers(np.where(np.isnan(numbers), 0.0, numbers))
        is_open = place == len(edges)
        times = starts[place] + np.where(is_open, 0.0, share * np.where(is_open, 1.0, widths[place]))
        unknown = np.isnan(numbers)
        return cls(np.where(unknown, np.nan, times), np.where(unknown, np.nan, is_event))


def split_numbers(numbers: Numbers) -> tuple[NDArray[np.int64], Numbers, NDArray[np.bool_]]:
    """The bin of each number, the share of it that passed, and whether the event happened then."""
    place = np.floor(numbers + CENSORED_SHIFT).astype(np.int64)
    is_event = numbers - place > -CENSORED_WIDTH / 4
    since_event, since_start = numbers - place, numbers - place + CENSORED_SHIFT
    return place, np.where(is_event, since_event / EVENT_WIDTH, since_start / CENSORED_WIDTH), is_event


def _bins(ends: Numbers) -> tuple[Numbers, Numbers]:
    """Starts and widths of the bins; the last one is open."""
    starts = np.concatenate([[0.0], ends])
    return starts, np.append(np.diff(starts), np.inf)


def _raise_if(
    is_wrong: NDArray[np.bool_],
    message: str,
    times: Numbers,
    starts: Numbers | None = None,
    *,
    name: str,
    persons: Sequence[object],
) -> None:
    """Raise the message about the first wrong row, and say how many there are."""
    if not is_wrong.any():
        return
    row, count = int(np.flatnonzero(is_wrong)[0]), int(is_wrong.sum())
    who = f"person {persons[row]!r}" if persons else f"row {row + 1}"
    time, start = ("" if numbers is None else f"{numbers[row]:g}" for numbers in (times, starts))
    more = f" There are {count:,} such {'persons' if persons else 'rows'}." if count > 1 else ""
    raise TableError(f"{name!r}: {who} {message.format(time=time, start=start)}{more}")
