"""The content of a report before any markup: sections of text, tables and figures."""

import re
from dataclasses import dataclass
from pathlib import Path

_EMPTY_CELLS = ("", "-", "\N{EN DASH}", "\N{EM DASH}", "n/a")
_SIGN = "+\N{MINUS SIGN}-"
_NUMBER = re.compile(rf"[<>=≤≥≈~±{_SIGN}]? ?\(?[{_SIGN}]?\.?\d")


@dataclass(frozen=True)
class ReportTable:
    """A table whose cells are texts.

    Args:
        title: caption above the table.
        columns: column headings.
        rows: cells, one tuple per row.
        note: text below the table.
        best: cells (row, column) to print in bold.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds numbers and should be right-aligned; the first one names the rows."""
        cells = [row[column].strip() for row in self.rows if column < len(row)]
        numbers = [cell for cell in cells if cell not in _EMPTY_CELLS]
        return column > 0 and bool(numbers) and all(_NUMBER.match(cell) for cell in numbers)


@dataclass(frozen=True)
class Figure:
    """An image file in the folder that the section was given; the caption is also its alt text."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Section:
    """A section of a report: paragraphs (the only markup is `code`), then tables, then figures."""

    title: str
    paragraphs: tuple[str, ...]
    tables: tuple[ReportTable, ...]
    figures: tuple[Figure, ...] = ()
