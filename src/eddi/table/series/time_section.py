"""The `[time]` section of a schema: whose values repeat, how old a value may be, and when decisions are due.

A variable that repeats is a family of ordinary variables, one per window of age. ``hr`` is a value that was
measured just now, ``hr 1-4 h ago`` one that is older. The evidence of a person at a decision time is
therefore an ordinary row.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, Literal, get_args

from eddi.errors import SchemaError
from eddi.table.toml_values import (
    check_keys,
    check_type,
    parse_bool,
    parse_names,
    parse_number,
    parse_text,
    to_int_if_whole,
)

Summary = Literal["last", "mean"]
DecisionRule = Literal["visits", "random"]

DEFAULT_DRAWS = 4  # decision times per person that are drawn at random


@dataclass(frozen=True)
class TimeSection:
    """How the repeated measurements of a table become rows.

    Args:
        person: the column that names the person.
        column: the column with the time of a measurement. Times count from the entry of the person.
        unit: of times, such as "h"; shown to users, and needed to read dates.
        windows: upper ends of the windows of age, in ascending order. A value whose age is at most the
            first one was measured just now. Older values than the last one are not used.
        decisions: the times of decisions; "visits" for the times at which a person has a measurement;
            "random" for ``draws`` random times per person.
        repeats: the variables that are measured repeatedly, each with what a window keeps of several
            values: the last one, or the mean.
        variable: the column of a long table that names the variable; empty for a table of visits.
        value: the column of a long table with the value.
        entry: a static column with the time at which a person entered; empty if times count from 0. If it is
            empty, dates count from the person's first row.
        next_values: variables whose next value after the decision is a variable, too, such as
            ``next hr``.
        horizon: how much later that value may be.
        later: upper ends of windows after the decision, in ascending order, such as ``hr 0-4 h later``. They
            are for imputation, which also uses what was measured later; predictions never see them.
        draws: number of random decision times per person.
        informative: whether to add a binary variable for each older window that says if a value was
            measured.
        budget: the highest total cost of the questions of one ``period``.
        period: a length of time.
    """

    person: str
    column: str
    unit: str = ""
    windows: tuple[float, ...] = (0.0,)
    decisions: tuple[float, ...] | DecisionRule = "visits"
    repeats: Mapping[str, Summary] = field(default_factory=dict, hash=False)
    variable: str = ""
    value: str = ""
    entry: str = ""
    next_values: tuple[str, ...] = ()
    horizon: float = math.inf
    later: tuple[float, ...] = ()
    draws: int = DEFAULT_DRAWS
    informative: bool = False
    budget: float = math.inf
    period: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", tuple(map(float, self.windows)))
        if not isinstance(self.decisions, str):
            object.__setattr__(self, "decisions", tuple(map(float, self.decisions)))
        object.__setattr__(self, "next_values", tuple(self.next_values))
        object.__setattr__(self, "later", tuple(map(float, self.later)))
        if self.later:
            _check_ascending("later", (0.0, *self.later))
        _check_ascending("windows", self.windows)
        self._check_decisions()
        self._check_columns()
        for name, number in (("horizon", self.horizon), ("budget", self.budget)):
            if not number > 0:
                raise SchemaError(f"time: {name} must be above 0, got {number:g}.")
        if math.isfinite(self.budget) and not 0 < self.period < math.inf:
            raise SchemaError("time: a budget needs a period, such as period = 24.")

    def _check_columns(self) -> None:
        for name, summary in self.repeats.items():
            if summary not in get_args(Summary):
                raise SchemaError(
                    f"variable {name!r}: repeats must be true, 'last' or 'mean', got {summary!r}."
                )
        for name in self.next_values:
            if name not in self.repeats:
                raise SchemaError(
                    f"time: next contains {name!r}, which does not repeat. Set repeats = true for it."
                )
        if bool(self.variable) != bool(self.value):
            raise SchemaError(
                "time: a long table has a column for the variable and one for the value. Give both "
                'variable = "..." and value = "...", or neither for a table of visits.'
            )

    def _check_decisions(self) -> None:
        if isinstance(self.decisions, str):
            if self.decisions not in get_args(DecisionRule):
                raise SchemaError(
                    f"time: decisions must be times, 'visits' or 'random', got {self.decisions!r}."
                )
        else:
            _check_ascending("decisions", self.decisions)
        if self.draws < 1:
            raise SchemaError(f"time: draws must be at least 1, got {self.draws}.")

    @property
    def n_windows(self) -> int:
        return len(self.windows)

    def window_name(self, variable: str, window: int) -> str:
        """The name of the variable that holds the values of a window; window 0 is "now"."""
        if window == 0:
            return variable
        low, high = self.windows[window - 1], self.windows[window]
        return " ".join(filter(None, (variable, f"{low:g}-{high:g}", self.unit, "ago")))

    def later_name(self, variable: str, window: int) -> str:
        """The name of the variable that holds the first value of a window after the decision."""
        edges = (0.0, *self.later)
        ages = f"{edges[window]:g}-{edges[window + 1]:g}"
        return " ".join(filter(None, (variable, ages, self.unit, "later")))

    def measured_name(self, variable: str, window: int) -> str:
        """The name of the variable that says whether a measurement was taken in a window."""
        return f"{self.window_name(variable, window)} measured"

    def next_name(self, variable: str) -> str:
        """The name of the variable that holds the next value after the decision."""
        return f"next {variable}"

    def family(self, variable: str) -> tuple[str, ...]:
        """The names of all variables that are derived from a variable; none if it does not repeat."""
        if variable not in self.repeats:
            return ()
        older = range(1, self.n_windows)
        names = [self.window_name(variable, window) for window in older]
        names += [self.measured_name(variable, window) for window in older if self.informative]
        names += [self.later_name(variable, window) for window in range(len(self.later))]
        return (*names, *([self.next_name(variable)] if variable in self.next_values else []))

    def past_names(self) -> tuple[str, ...]:
        """The names of variables that are known before the questions of a decision."""
        older, names = range(1, self.n_windows), [self.column]
        for variable in self.repeats:
            names += [self.window_name(variable, window) for window in older]
            names += [self.measured_name(variable, window) for window in older if self.informative]
        return tuple(names)

    def derived_names(self) -> tuple[str, ...]:
        """The names of the variables that the section adds: the time, and all that repeated ones lead to."""
        return (self.column, *(name for variable in self.repeats for name in self.family(variable)))

    def without(self, names: Iterable[str]) -> "TimeSection":
        """A copy in which these variables do not repeat."""
        removed = set(names)
        return replace(
            self,
            repeats={name: summary for name, summary in self.repeats.items() if name not in removed},
            next_values=tuple(name for name in self.next_values if name not in removed),
        )

    def to_document(self) -> dict[str, Any]:
        """The settings that differ from their defaults, as plain JSON or TOML, without ``repeats``."""
        given = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name != "repeats" and getattr(self, item.name) != item.default
        }
        return {_KEYS.get(name, name): _to_plain(value) for name, value in given.items()}

    @classmethod
    def from_document(cls, document: dict[str, Any], repeats: Mapping[str, Any]) -> "TimeSection":
        """The section that `to_document` describes.

        Args:
            document: the settings.
            repeats: what the variables say about repetition: true, false, "last" or "mean".

        Raises:
            SchemaError: a setting is absent, unknown or not valid.
        """
        names = {_KEYS.get(item.name, item.name): item.name for item in fields(cls)}
        del names["repeats"]
        check_keys("time", document, names)
        for key in ("person", "time"):
            if key not in document:
                raise SchemaError(f'time has no {key}. Name the column, such as {key} = "{key}".')
        given = {names[key]: _PARSERS[names[key]](f"time: {key}", v) for key, v in document.items()}
        return cls(repeats=_parse_repeats(repeats), **given)


_KEYS = {"column": "time", "next_values": "next"}  # names in a file that differ from those in Python


def _parse_repeats(repeats: Mapping[str, Any]) -> dict[str, Summary]:
    return {
        name: "last" if summary is True else summary
        for name, summary in repeats.items()
        if summary is not False
    }


def _parse_numbers(where: str, value: Any) -> tuple[float, ...]:
    check_type(where, value, list, "a list of numbers such as [1, 4, 24]")
    return tuple(parse_number(where, number) for number in value)


def _parse_decisions(where: str, value: Any) -> tuple[float, ...] | str:
    return value if isinstance(value, str) else _parse_numbers(where, value)


def _parse_count(where: str, value: Any) -> int:
    check_type(where, value, int, "a whole number")
    return int(value)


_PARSERS: dict[str, Any] = {
    **dict.fromkeys(("person", "column", "unit", "variable", "value", "entry"), parse_text),
    **dict.fromkeys(("windows", "later"), _parse_numbers),
    "decisions": _parse_decisions,
    "next_values": parse_names,
    "draws": _parse_count,
    "informative": parse_bool,
    **dict.fromkeys(("horizon", "budget", "period"), parse_number),
}


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_to_plain, value))
    return to_int_if_whole(value) if isinstance(value, float) else value


def _check_ascending(name: str, numbers: tuple[float, ...]) -> None:
    is_ascending = all(low < high for low, high in pairwise(numbers))
    if not numbers or not is_ascending or not (numbers[0] >= 0 and math.isfinite(numbers[-1])):
        raise SchemaError(
            f"time: {name} must be numbers from 0 up in ascending order, got {list(numbers)}."
        )
