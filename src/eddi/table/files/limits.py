"""Limits on the table in a file. They are checked before and while the file is read."""

from dataclasses import dataclass
from pathlib import Path

from eddi.errors import TableError

MIN_DECODED_BYTES = 1024**3  # a file may always decode to this much
MAX_EXPANSION = 100  # decoded size over file size; real tables compress 3 to 30 times
MAX_SHEET_CELLS = 50_000_000  # of an Excel sheet, whose empty cells take memory, too: about 3 GB


@dataclass(frozen=True)
class ReadLimits:
    """The largest table that is read from a file.

    Args:
        max_columns: number of columns.
        max_cells: number of rows times number of columns; None for any number.
        max_bytes: size of the decoded content; None for a limit that depends on the size of the file.
    """

    max_columns: int = 100_000
    max_cells: int | None = None
    max_bytes: int | None = None

    def check_size(self, n_rows: int, n_columns: int) -> None:
        """Raise an error if a table has too many columns or cells."""
        if n_columns > self.max_columns:
            raise TableError(
                f"the table has {n_columns:,} columns; at most {self.max_columns:,} are read. "
                "Remove the columns that nobody would be asked about."
            )
        if self.max_cells is not None and n_rows * n_columns > self.max_cells:
            raise TableError(
                f"the table has {n_rows:,} rows and {n_columns:,} columns; at most {self.max_cells:,} "
                "cells are read. A few thousand rows are enough for training."
            )

    def check_sheet(self, n_rows: int, n_columns: int) -> None:
        """Raise an error if the used area of an Excel sheet is too large."""
        self.check_size(0, n_columns)
        limit = min(MAX_SHEET_CELLS, self.max_cells or MAX_SHEET_CELLS)
        if n_rows * n_columns > limit:
            raise TableError(
                f"the last cell of the sheet is in row {n_rows:,} and column {n_columns:,}; at most "
                f"{limit:,} cells are read. Delete the cells far from the table, or save it as CSV."
            )

    def find_max_bytes(self, path: Path) -> int:
        """Return the maximum size of the decoded content of a file."""
        if self.max_bytes is not None:
            return self.max_bytes
        return max(MIN_DECODED_BYTES, MAX_EXPANSION * path.stat().st_size)


DEFAULT_LIMITS = ReadLimits()


def make_expansion_error(path: Path, max_bytes: int) -> TableError:
    """Return the error for a file whose content is much larger than the file."""
    return TableError(
        f"{path.name!r} has {path.stat().st_size:,} bytes but unpacks to more than {max_bytes:,}. It was "
        "not read. Save the table again, without compression or as CSV."
    )
