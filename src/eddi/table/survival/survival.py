"""The columns of a survival variable, and the bins of its times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eddi.errors import SchemaError
from eddi.table.cells.levels import Level

MAX_EDGES = 200  # more bins than any table can tell apart


@dataclass(frozen=True)
class Survival:
    """The time until an event, from two columns of a table.

    A row whose event has not happened is censored: the event comes after its time, if at all.

    Args:
        time: the column of times: until the event, or until the row was last seen without it.
        event: the column that says whether the event happened.
        occurred: the value of this column that means that it happened; any other value means that it did
            not. None if the values are 0 and 1, or False and True.
        entry: the column of the times at which rows were first seen, if times do not start at 0. A row's
            time is counted from there.
        horizons: times at which the risk is shown, such as one and five years; None of them: a few are
            chosen from the times of events.
        edges: ends of the time bins, in ascending order; after the last one comes an open bin. Empty
            until a model is fitted.
    """

    time: str
    event: str
    occurred: Level | None = None
    entry: str = ""
    horizons: tuple[float, ...] = ()
    edges: tuple[float, ...] = ()

    if TYPE_CHECKING:  # what `__post_init__` converts

        def __init__(
            self,
            time: str,
            event: str,
            occurred: Level | None = None,
            entry: str = "",
            horizons: Sequence[float] = (),
            edges: Sequence[float] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for name in ("horizons", "edges"):
            object.__setattr__(self, name, tuple(map(float, getattr(self, name))))
        if not self.time or not self.event or len({self.time, self.event, self.entry}) < 3:
            raise SchemaError(
                f"a survival variable needs two different columns: a time and an event, got {self.time!r} "
                f'and {self.event!r}. Write for example time = "days", event = "died".'
            )
        for name in ("horizons", "edges"):
            _check_times(name, getattr(self, name))
        if len(self.edges) > MAX_EDGES:
            raise SchemaError(f"there are {len(self.edges)} edges; at most {MAX_EDGES} are possible.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a table that it is read from."""
        return (self.time, self.event, self.entry) if self.entry else (self.time, self.event)

    @property
    def n_bins(self) -> int:
        """The number of time bins; 0 until a model is fitted."""
        return len(self.edges) + 1 if self.edges else 0

    @property
    def horizon(self) -> float:
        """The last edge: the latest event of the training table, unless edges were given."""
        return self.edges[-1]

    @property
    def shown_horizons(self) -> tuple[float, ...]:
        """The given horizons, or rounded times near the thirds of the bins."""
        if self.horizons or not self.edges:
            return self.horizons
        places = [round(share * (len(self.edges) - 1)) for share in (1 / 3, 2 / 3)]
        rounded = {_round_time(self.edges[place]) for place in places}
        return tuple(sorted(time for time in rounded if time <= self.horizon)) or (self.horizon,)


def _round_time(time: float) -> float:
    """A time with one significant digit, or two if it starts with 1."""
    size = 10.0 ** math.floor(math.log10(time))
    step = size / 10 if time / size < 2 else size
    return float(f"{round(time / step) * step:.12g}")


def _check_times(name: str, times: Sequence[float]) -> None:
    if not all(math.isfinite(time) and time > 0 for time in times):
        raise SchemaError(f"{name} must be times above 0, got {list(times)}.")
    if list(times) != sorted(set(times)):
        raise SchemaError(f"{name} must be in ascending order without repeats, got {list(times)}.")
