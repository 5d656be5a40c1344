"""The columns of a table, and which of them an entry of a codebook describes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from eddi.table.cells.missing import has_code
from eddi.table.codebooks.codebook import Codebook, Entry, EntryType
from eddi.table.columns import clean
from eddi.table.text import format_value
from eddi.table.variable import Level

MAX_DISTINCT = 100_000  # values of a column that are compared with a codebook
_PATH = re.compile(r"[/:.-]")  # between the groups and the name of a column in exports of forms


@dataclass(frozen=True)
class TableColumns:
    """The distinct values of each column of a table.

    Args:
        values: by name, in the order of the table.
        codes: that mean "missing" or "declined" in every column.
    """

    values: Mapping[str, pa.ChunkedArray]
    codes: tuple[Level, ...] = ()

    @classmethod
    def collect(
        cls, names: Sequence[str], batches: Iterable[pa.Table], codes: tuple[Level, ...] = ()
    ) -> "TableColumns":
        """Return the distinct values of a table that comes in batches."""
        values: dict[str, pa.ChunkedArray] = {}
        for batch in batches:
            for name in names:
                column = batch.column(name)
                distinct = pa.chunked_array([column.unique()])
                if name in values and len(values[name]) < MAX_DISTINCT:
                    both = pa.chunked_array([*values[name].chunks, *distinct.chunks])
                    distinct = pa.chunked_array([both.unique()])
                elif name in values:
                    distinct = values[name]
                values[name] = distinct
        return cls(values, codes)

    def list_values(self, name: str, codes: Sequence[Level] = ()) -> list[str]:
        """Return the distinct values of a column as texts, without those that mean "missing"."""
        cells = clean(self.values[name], codes=(*self.codes, *codes)).unique().drop_null().to_pylist()
        texts = [format_value(cell) for cell in cells]
        return [text for text in texts if not has_code(codes, text)]


@dataclass(frozen=True)
class Match:
    """The columns of an entry.

    Args:
        column: with its values; empty if there is none.
        options: the column of each choice, if every choice has one.
    """

    column: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the table has no column of the entry."""
        return not (self.column or self.options)


def match_entries(codebook: Codebook, columns: Sequence[str]) -> dict[str, Match]:
    """Return the columns of each entry of a codebook, by its name."""
    finder = _Finder(columns)
    labels: dict[str, int] = {}
    for entry in codebook.entries:
        labels[entry.text.casefold()] = labels.get(entry.text.casefold(), 0) + 1
    found = {}
    for entry in codebook.entries:
        is_unique = bool(entry.text) and labels[entry.text.casefold()] == 1
        found[entry.name] = finder.match(entry, by_label=is_unique)
    return found


class _Finder:
    """Finds columns by name: exactly, in any case, or as the last part of a path such as group/name."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.exact = set(columns)
        self.folded = _index_unique((column.casefold(), column) for column in columns)
        self.last = _index_unique((_PATH.split(column)[-1].casefold(), column) for column in columns)

    def match(self, entry: Entry, *, by_label: bool) -> Match:
        column = self.find(entry.name)
        if not column and by_label:
            column = self.find_exactly(entry.text)
        if entry.type is not EntryType.CHOICES or column:
            return Match(column)
        options = {
            code: column
            for code, names in entry.option_columns.items()
            if (column := next(filter(None, map(self.find_exactly, names)), ""))
        }
        return Match(options=options)

    def find(self, name: str) -> str:
        return self.find_exactly(name) or self.last.get(name.casefold(), "")

    def find_exactly(self, name: str) -> str:
        return name if name in self.exact else self.folded.get(name.casefold(), "")


def _index_unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values by key, without keys that several values have."""
    found: dict[str, str] = {}
    repeated = set()
    for key, value in pairs:
        if key in found:
            repeated.add(key)
        found[key] = value
    return {key: value for key, value in found.items() if key not in repeated}
