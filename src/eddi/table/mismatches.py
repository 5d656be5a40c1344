"""Values of a table that do not fit a schema: counted, and reported in one warning."""

import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EddiWarning, TableError
from eddi.table.text import format_list, format_names, format_value
from eddi.table.variable import Kind, Variable

Unknown = Literal["ignore", "error"]
"""What happens to a value that a model does not know: it counts as not observed, or it is an error."""

MAX_EXAMPLES = 3  # values of one variable that the warning quotes


@dataclass
class Mismatches:
    """What was found in rows that differ from the training table."""

    absent: set[str] = field(default_factory=set)  # columns that the schema expects
    unknown: dict[str, Counter[str]] = field(default_factory=dict)  # values by variable
    out_of_range: Counter[str] = field(default_factory=Counter)  # number of values by variable

    @classmethod
    def collect(cls, unknown: str) -> "Mismatches | None":
        """A new collection for "ignore"; None for "error", where each mismatch is an error.

        Raises:
            TableError: ``unknown`` is neither of them.
        """
        if unknown not in ("ignore", "error"):
            raise TableError(f"unknown must be 'ignore' or 'error', got {unknown!r}.")
        return cls() if unknown == "ignore" else None

    def add_unknown(self, variable: Variable, counts: Mapping[object, int]) -> None:
        """Count values that are not levels, or not numbers, of a variable."""
        known = self.unknown.setdefault(variable.name, Counter())
        known.update({format_value(value): count for value, count in counts.items()})

    def check_quantities(
        self, variable: Variable, quantities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Count quantities that are impossible or out of range; impossible ones become NaN [rows]."""
        if variable.kind is Kind.COUNT:
            quantities = self._remove_impossible_counts(variable, quantities)
        is_below = quantities < variable.low_or_infinite
        is_above = quantities > variable.high_or_infinite
        n_outside = int(np.count_nonzero(is_below | is_above))  # NaN is neither
        if n_outside:
            self.out_of_range[variable.name] += n_outside
        return quantities

    def _remove_impossible_counts(
        self, variable: Variable, quantities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        is_possible = (quantities >= 0) & (np.floor(quantities) == quantities)
        impossible = quantities[~is_possible & ~np.isnan(quantities)]
        if len(impossible):
            self.add_unknown(variable, Counter(impossible.tolist()))
        return np.where(is_possible, quantities, np.nan)

    def warn(self) -> None:
        """Issue one warning with all counts, if there is anything to report."""
        findings = [*self._describe_unknown(), *self._describe_range(), *self._describe_absent()]
        if findings:
            text = f"some rows differ from the training table: {'; '.join(findings)}."
            if self.unknown or self.absent:
                text += ' Use unknown="error" to reject such rows.'
            warnings.warn(text, EddiWarning, stacklevel=4)

    def _describe_unknown(self) -> list[str]:
        if not self.unknown:
            return []
        n_values = sum(counts.total() for counts in self.unknown.values())
        parts = (_describe_counts(name, counts) for name, counts in self.unknown.items())
        return [
            f"{_count(n_values, 'unknown value')} {_are(n_values)} treated as not observed "
            f"({', '.join(parts)})"
        ]

    def _describe_range(self) -> list[str]:
        if not self.out_of_range:
            return []
        n_values = self.out_of_range.total()
        parts = format_list([f"{name!r} {count}" for name, count in self.out_of_range.items()])
        return [f"{_count(n_values, 'value')} {_are(n_values)} out of range ({parts})"]

    def _describe_absent(self) -> list[str]:
        if not self.absent:
            return []
        columns = _count(len(self.absent), "column")
        return [f"{columns} {_are(len(self.absent))} absent ({format_names(sorted(self.absent))})"]


def _describe_counts(name: str, counts: Counter[str]) -> str:
    examples = [f"{value!r}" for value, _ in counts.most_common(MAX_EXAMPLES)]
    more = ", ..." if len(counts) > MAX_EXAMPLES else ""
    return f"{name!r} {counts.total()}: {', '.join(examples)}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
