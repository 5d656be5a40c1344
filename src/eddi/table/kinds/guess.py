"""A guess about one column: what it is, and what a person should check."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from eddi.table.kinds.column_stats import ColumnStats
from eddi.table.kinds.names import NameHint, read_name
from eddi.table.question import Question
from eddi.table.schema import Note, SetAside
from eddi.table.text import format_value
from eddi.table.variable import Kind, Level, Variable

MAX_STEPS = 12  # whole numbers with at most this many values are steps of a scale, not quantities
MAX_LEVELS = 500  # text with more values than this is free text
MAX_FREQUENT_LEVELS = 64  # with more levels than this, each must be frequent
MIN_COUNT_PER_VALUE = 2  # on average; a column of many values with fewer is as good as all different
MIN_COUNT_PER_LEVEL = 5  # the same, for a column with more than `MAX_FREQUENT_LEVELS` values


@dataclass(frozen=True)
class Column:
    """A column whose kind is to be guessed."""

    name: str
    stats: ColumnStats
    is_target: bool = False
    is_battery: bool = False  # whether other columns have the same whole numbers as their values

    @cached_property
    def hint(self) -> NameHint:
        """What the name suggests."""
        return read_name(self.name)

    def as_levels(self, kind: Kind, levels: Iterable[Level]) -> "Guess":
        return Guess((Variable(self.name, kind, tuple(levels)),))

    def as_quantity(self, kind: Kind, low: float, high: float | None = None) -> "Guess":
        return Guess((Variable(self.name, kind, low=low, high=high),))

    def set_aside(self, reason: str, role: Literal["identifier", "ignored"] = "ignored") -> "Guess":
        return Guess((), SetAside(self.name, reason, role))

    def set_aside_constant(self, value: object) -> "Guess":
        or_missing = " or missing" if self.stats.n_observed < self.stats.n_rows else ""
        return self.set_aside(f"constant: every value is {format_value(value)!r}{or_missing}")

    def has_few_values(self, max_values: int) -> bool:
        """Whether there are at most this many values, each of which occurs repeatedly."""
        n_values = len(self.stats.counts)
        return n_values <= max_values and self.stats.n_observed >= MIN_COUNT_PER_VALUE * n_values


@dataclass(frozen=True)
class Guess:
    """The variables of a column, or the reason to set it aside, and what to check.

    Args:
        variables: usually one; several if the cells of the column list options.
        set_aside: the reason why there are none.
        notes: what to check.
        question: the question that reveals the variables, if there are several.
    """

    variables: tuple[Variable, ...]
    set_aside: SetAside | None = None
    notes: tuple[Note, ...] = field(default=())
    question: Question | None = None

    @property
    def variable(self) -> Variable | None:
        """The variable, if there is exactly one."""
        return self.variables[0] if len(self.variables) == 1 else None

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.set_aside.name if self.set_aside is not None else self.variables[0].column

    def check(self, message: str, alternative: Variable | None = None) -> "Guess":
        """Return this guess with something to check, and the variable to use instead."""
        return replace(self, notes=(*self.notes, Note(self.column, message, alternative)))

    def check_kind(self, message: str, kind: Kind) -> "Guess":
        """Return this guess with a kind that is as plausible. The variable has levels."""
        if self.variable is None:
            return self
        return self.check(message, replace(self.variable, kind=kind))
