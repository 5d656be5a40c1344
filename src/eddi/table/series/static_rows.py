"""The table of what does not change: one row per person."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import TableError
from eddi.table import formats
from eddi.table.columns import column_to_numbers
from eddi.table.text import format_names
from eddi.table.variable import Variable


@dataclass(frozen=True)
class StaticRows:
    """A table with one row per person.

    Args:
        table: the table.
        person: the column that names the person.
    """

    table: pa.Table
    person: str

    @classmethod
    def read(cls, source: Any, person: str) -> "StaticRows":
        """Read a table in any format.

        Raises:
            TableError: there is no column of persons, or a person has two rows.
        """
        table = formats.read(source)
        if person not in table.column_names:
            raise TableError(
                f"the static table has no column {person!r}, which names the person. Its columns are: "
                f"{format_names(table.column_names)}."
            )
        rows = cls(table, person)
        counts = Counter(rows.persons)
        if repeated := [name for name, count in counts.items() if count > 1]:
            raise TableError(
                f"the static table has several rows for {len(repeated)} persons, such as "
                f"{format_names(list(map(str, repeated[:3])))}. Give one row per person."
            )
        return rows

    @cached_property
    def persons(self) -> list[Any]:
        """The names of the persons."""
        return list(self.table[self.person].to_pylist())

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {name: place for place, name in enumerate(self.persons)}

    def find(self, persons: list[Any]) -> NDArray[np.int64]:
        """The row of each person."""
        return np.array([self._places[name] for name in persons], dtype=np.int64)

    def read_variable(self, variable: Variable) -> NDArray[np.float64]:
        """The values of a variable, NaN = missing [persons]."""
        return column_to_numbers(self.table[variable.column], variable)

    def check_persons(self, persons: list[Any]) -> None:
        """Raise a `TableError` if one of these persons has no row."""
        absent = [name for name in persons if name not in self._places]
        if absent:
            raise TableError(
                f"the static table has no row for {len(absent)} persons with measurements, such as "
                f"{format_names(list(map(str, absent[:3])))}. Add their rows."
            )

    def check_measured(self, measured: set[Any]) -> None:
        """Raise a `TableError` if a person of the table has no measurement."""
        absent = [name for name in self.persons if name not in measured]
        if absent:
            raise TableError(
                f"{len(absent)} persons of the static table have no measurements, such as "
                f"{format_names(list(map(str, absent[:3])))}. Remove their rows, or add "
                "measurements."
            )
