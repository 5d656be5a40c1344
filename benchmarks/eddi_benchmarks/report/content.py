"""What a report is made of: sections of words, tables and pictures, before any markup."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Grid:
    """A table: title, columns, rows of strings, a note; `best` marks cells (row, column) to set bold."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    best: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Picture:
    """A picture under the folder the section was given; `words` are its caption and its alt text."""

    path: Path
    words: str


@dataclass(frozen=True)
class Section:
    """A part of a report: paragraphs (with `code` in them at most), then tables, then pictures."""

    title: str
    words: tuple[str, ...]
    grids: tuple[Grid, ...]
    pictures: tuple[Picture, ...] = ()


def is_numeric(grid: Grid, column: int) -> bool:
    """Whether a column of a table holds figures, to be set flush right; the first names the rows."""
    cells = [row[column].strip() for row in grid.rows if column < len(row)]
    figures = [cell for cell in cells if cell not in _NOTHING]
    return column > 0 and bool(figures) and all(_FIGURE.match(cell) for cell in figures)


_NOTHING = ("", "-", "\N{EN DASH}", "\N{EM DASH}", "n/a")
_SIGN = "+\N{MINUS SIGN}-"
_FIGURE = re.compile(rf"[<>=≤≥≈~±{_SIGN}]? ?\(?[{_SIGN}]?\.?\d")
