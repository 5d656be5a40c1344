"""Which column of a row holds which window of which variable."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eddi.errors import SchemaError
from eddi.table.schema import Schema
from eddi.table.series.time_section import TimeSection
from eddi.table.variable import Variable


@dataclass(frozen=True)
class RowLayout:
    """The columns of decision rows of a schema with a `[time]` section."""

    schema: Schema

    @cached_property
    def time(self) -> TimeSection:
        """The section.

        Raises:
            SchemaError: the schema has none.
        """
        if self.schema.time is None:
            raise SchemaError(
                "the schema has no section [time]. Use Schema.with_time, or add the section."
            )
        return self.schema.time

    @cached_property
    def repeated(self) -> tuple[Variable, ...]:
        """The variables that repeat."""
        return tuple(self.schema[name] for name in self.time.repeats)

    @cached_property
    def static(self) -> tuple[Variable, ...]:
        """The variables that do not change, without survival variables: what remains of a time changes."""
        other = {*self.time.derived_names(), *self.time.repeats}
        return tuple(
            variable
            for variable in self.schema.variables
            if variable.name not in other and variable.survival is None
        )

    @cached_property
    def survival(self) -> tuple[Variable, ...]:
        """The survival variables, whose times count from the decision."""
        return tuple(variable for variable in self.schema.variables if variable.survival is not None)

    @cached_property
    def windows(self) -> NDArray[np.int64]:
        """The column of each window [repeated variables, windows]."""
        names = self.time.window_name
        return self._positions([[names(v.name, w) for w in self._all] for v in self.repeated])

    @cached_property
    def measured(self) -> NDArray[np.int64]:
        """The column that says whether a window has a value [repeated variables, windows]; -1 for none."""
        if not self.time.informative:
            return np.full((len(self.repeated), self.time.n_windows), -1)
        names, older = self.time.measured_name, self._all[1:]
        columns = self._positions([[names(v.name, w) for w in older] for v in self.repeated])
        return np.concatenate([np.full((len(columns), 1), -1), columns], axis=1)

    @cached_property
    def later(self) -> NDArray[np.int64]:
        """The column of each window after the decision [repeated variables, windows]."""
        names, windows = self.time.later_name, range(len(self.time.later))
        return self._positions([[names(v.name, w) for w in windows] for v in self.repeated])

    @cached_property
    def next_values(self) -> NDArray[np.int64]:
        """The column of the next value [repeated variables]; -1 for none."""
        is_target = [variable.name in self.time.next_values for variable in self.repeated]
        names = [self.time.next_name(variable.name) for variable in self.repeated]
        return np.array(
            [self.schema.position(n) if t else -1 for n, t in zip(names, is_target, strict=True)],
            dtype=np.int64,
        )

    @cached_property
    def static_columns(self) -> list[int]:
        """The columns of static variables."""
        return self.schema.positions(variable.name for variable in self.static)

    @cached_property
    def time_column(self) -> int:
        """The column of the decision time."""
        return self.schema.position(self.time.column)

    @property
    def _all(self) -> range:
        return range(self.time.n_windows)

    def _positions(self, names: list[list[str]]) -> NDArray[np.int64]:
        columns = np.array([self.schema.positions(row) for row in names], dtype=np.int64)
        return columns.reshape(len(names), len(names[0]) if names else 0)
