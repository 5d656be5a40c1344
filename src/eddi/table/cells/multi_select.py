"""Cells that list several options, such as "Excel; R": each option is a binary variable."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEPARATORS = (";", "|", ",", "\n")
DEFAULT_SEPARATOR = ";"
MAX_OPTIONS = 40
MIN_CELLS_PER_OPTION = 3  # on average; prose has more different words than that
MIN_COMBINED_SHARE = 0.1  # of the cells must list more than one option
NO, YES = "no", "yes"  # the levels of an option's variable


@dataclass(frozen=True)
class OptionSource:
    """Where the values of an option's variable come from.

    Args:
        column: the column whose cells list options.
        option: the variable is 1 where the cell lists this option.
        separator: what separates the options in a cell; empty if the column is about this option alone
            and holds the levels of the variable.
    """

    column: str
    option: str
    separator: str = DEFAULT_SEPARATOR

    @property
    def is_list(self) -> bool:
        """Whether the cells of the column list options."""
        return bool(self.separator)

    def is_listed(self, cell: str) -> bool:
        """Whether a cell lists the option, in any case."""
        wanted = self.option.casefold()
        return any(option.casefold() == wanted for option in split_options(cell, self.separator))


def split_options(cell: str, separator: str) -> list[str]:
    """Return the options of a cell."""
    return [option.strip() for option in cell.split(separator) if option.strip()]


def join_options(options: Iterable[str], separator: str) -> str:
    """Return a cell that lists these options."""
    if separator.isspace():
        return separator.join(options)
    return re.sub(r"\s+$", "", f"{separator} ".join(options))


@dataclass(frozen=True)
class MultiSelect:
    """The options of a column and what separates them."""

    separator: str
    options: tuple[str, ...]

    def sources(self, column: str) -> dict[str, OptionSource]:
        """Return the source of each option's variable, by the name of the variable."""
        return {
            f"{column}: {option}": OptionSource(column, option, self.separator)
            for option in self.options
        }


def detect_multi_select(values: Sequence[str], counts: NDArray[np.int64]) -> MultiSelect | None:
    """Return the options of a column whose cells list several, or None if it is not such a column.

    The options must recur in different combinations and positions. A list of fixed length, such as
    "Springfield, Illinois", is one value.

    Args:
        values: the distinct cells.
        counts: how often each of them occurs [values].
    """
    for separator in SEPARATORS:
        cells = [split_options(value, separator) for value in values]
        if _is_multi_select(cells, counts):
            spellings: dict[str, Counter[str]] = {}
            for cell, count in zip(cells, counts.tolist(), strict=True):
                for option in cell:
                    spellings.setdefault(option.casefold(), Counter())[option] += count
            options = (spelling.most_common(1)[0][0] for spelling in spellings.values())
            return MultiSelect(separator, tuple(sorted(options, key=str.casefold)))
    return None


def _is_multi_select(cells: list[list[str]], counts: NDArray[np.int64]) -> bool:
    sizes = np.array([len(cell) for cell in cells])
    if len(cells) < 3 or counts[sizes > 1].sum() < MIN_COMBINED_SHARE * counts.sum():
        return False
    first, later = Counter[str](), Counter[str]()
    for cell, count in zip(cells, counts.tolist(), strict=True):
        if len({option.casefold() for option in cell}) < len(cell):
            return False  # the same word twice: prose, or a sequence
        for position, option in enumerate(cell):
            (later if position else first)[option.casefold()] += count
        if len(first | later) > MAX_OPTIONS:
            return False
    options = first | later
    n_listed = sum(first.values()) + sum(later.values())
    has_different_sizes = len(set(sizes.tolist())) > 1
    has_both_positions = len(first & later) * 2 >= len(options) - 1
    return has_different_sizes and has_both_positions and n_listed >= MIN_CELLS_PER_OPTION * len(options)
