"""The holes of a file filled, and not a letter of the rest changed.

Reading a CSV file gives values: 1.50 becomes 1.5, a postcode 01234 the number 1234. A person who asks
for holes to be filled wants everything else back as it was, so cells are taken from the file itself.
"""

import codecs
import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa

from eddi.cli import terminal
from eddi.engine import Engine
from eddi.errors import EddiError
from eddi.model.bulk_impute import Filling
from eddi.table import formats
from eddi.table.columns import find_missing
from eddi.table.delimited import DELIMITERS
from eddi.table.streaming import ParquetStream, open_table
from eddi.table.text import format_value

TEXT = (".csv", ".tsv", ".txt")

Cells = list[list[str]]  # [rows][columns]


def fill(
    model: Path, table: Path, output: Path | None, *, draws: int | None, seed: int, engine: Engine
) -> None:
    """Fill the holes of the table at ``table`` by the best guess, or ``draws`` times at random."""
    rows = open_table(table)
    places = [output] if draws is None else [numbered(output, n + 1) for n in range(draws)]
    with terminal.counting("filling") as on_progress:
        filling = Filling(model, draws, seed, engine, on_progress)
        if isinstance(rows, ParquetStream):
            return filling.files(rows, _parquet(rows, places))
        tables = filling.tables(rows)
    for place, filled in zip(places, tables, strict=True):
        _write(as_written(table, rows, filled), place)
    return None


def _parquet(rows: ParquetStream, places: list[Path | None]) -> list[Path]:
    files = [place for place in places if place is not None and formats.is_parquet(place)]
    if len(files) < len(places):
        raise EddiError(
            f"{rows.path.name!r} has {rows.n_rows:,} rows and is filled a part at a time, into Parquet. "
            "Name a file with -o filled.parquet."
        )
    return files


def _write(table: pa.Table, output: Path | None) -> None:
    if output is None:
        return terminal.put(csv_text(table))
    formats.write(table, output)
    return terminal.say(f"wrote {output}")


def as_written(path: Path, table: pa.Table, filled: pa.Table) -> pa.Table:
    """``filled``, with every observed cell spelled as in the text file at ``path``.

    Args:
        path: where ``table`` was read from; a file that is not text gives ``filled`` back.
        table: with its holes.
        filled: the same without them.
    """
    rows = _cells(path, table)
    if rows is None:
        return filled
    columns = []
    for place, name in enumerate(table.column_names):
        old, new = table.column(place), filled.column(name)
        spelled = [row[place] for row in rows]
        if pa.types.is_floating(old.type) and any("," in cell for cell in spelled):
            return filled  # decimal commas; a filled cell would have a point
        columns.append(_merged(spelled, old, new))
    return pa.Table.from_arrays([pa.array(one, pa.string()) for one in columns], table.column_names)


def csv_text(table: pa.Table) -> str:
    """The table as CSV; a hole is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.column_names)
    columns = [[_text(cell) for cell in column.to_pylist()] for column in table.columns]
    writer.writerows(zip(*columns, strict=True))
    return out.getvalue()


def numbered(path: Path | None, number: int) -> Path | None:
    """The file of one draw: filled.csv gives filled-1.csv, filled.csv.gz filled-1.csv.gz."""
    if path is None:
        return None
    stem, dot, endings = path.name.partition(".")
    return path.with_name(f"{stem}-{number}{dot}{endings}")


def _merged(spelled: list[str], old: pa.ChunkedArray, new: pa.ChunkedArray) -> list[str]:
    """Each cell as it was written where it was observed, else as filled in the file's spelling."""
    missing = find_missing(old)
    if not missing.any():
        return spelled
    known = zip(spelled, missing, strict=True)
    spellings = {cell.strip().casefold(): cell for cell, hole in known if not hole}
    cells = list(spelled)
    for row in missing.nonzero()[0].tolist():
        text = _text(new[row].as_py())
        cells[row] = spellings.get(text.casefold(), text)
    return cells


def _cells(path: Path, table: pa.Table) -> Cells | None:
    """The cells of a text file, by the delimiter that gives exactly the table's rows and columns."""
    if not set(TEXT) & {ending.lower() for ending in path.suffixes}:
        return None
    with pa.input_stream(path, compression="detect") as stream:
        text = _decoded(stream.read())
    for delimiter in DELIMITERS:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        # In a file of one column an empty line is a hole, not an empty line.
        rows = [row or [""] for row in lines if row or table.num_columns == 1]
        if len(rows) == table.num_rows + 1 and {*map(len, rows)} == {table.num_columns}:
            return rows[1:]
    return None


def _decoded(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else format_value(cell)
