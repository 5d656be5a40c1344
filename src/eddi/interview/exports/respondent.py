"""A respondent whose answers are exported, and the answers as cells of a table."""

from typing import Protocol

from eddi.interview.record import NoAnswer, Record
from eddi.table.text import format_value
from eddi.table.variable import Level, Variable


class Respondent(Protocol):
    """One interview, named without its secret key."""

    @property
    def name(self) -> str:
        """A name from which the key cannot be found."""
        ...

    @property
    def began_at(self) -> str:
        """When the interview began (ISO 8601)."""
        ...

    @property
    def ended_at(self) -> str:
        """When it was last changed (ISO 8601)."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether it ended."""
        ...

    @property
    def record(self) -> Record:
        """The answers."""
        ...


def read_values(record: Record) -> dict[str, Level | NoAnswer]:
    """Return the last value of each variable, or why it has none."""
    found: dict[str, Level | NoAnswer] = {}
    for answer in record.answers:
        found |= {**answer.without, **answer.values}
    return found


def format_answer(variable: Variable, value: Level | NoAnswer | None) -> str:
    """Return a value as a cell: the code of a level, a number, or the code for a missing value."""
    if value is None:
        return ""
    if isinstance(value, NoAnswer):
        codes = variable.declined if value is NoAnswer.DECLINED else variable.missing
        return format_value(codes[0]) if codes else ""
    return format_value(value)
