"""The last cell of an old Excel workbook (.xls), found before it is read.

A workbook is a stream of BIFF records inside a compound file (MS-CFB). Only the positions of cells are
read: every record of a cell starts with its row and its column.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from eddi.errors import TableError
from eddi.table.files.limits import ReadLimits

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENTRY_BYTES = 128  # of the directory
N_HEADER_FAT_SECTORS = 109  # sectors of the file allocation table that the header lists
END_OF_CHAIN = 0xFFFFFFFA  # this and larger numbers are not sectors
MINI_STREAM_BYTES, MINI_SECTOR_BYTES = (
    4096,
    64,
)  # shorter streams have small sectors, in the root's stream
WORKBOOK_NAMES, ROOT_NAME = ("workbook", "book"), "root entry"

# Records of cells: formula, blank, integer, number, label, boolean, rich text, shared string, RK number.
CELLS = {0x06, 0x01, 0x02, 0x03, 0x04, 0x05, 0x201, 0x202, 0x203, 0x204, 0x205, 0x206, 0x406}
CELLS |= {0xD6, 0xFD, 0x7E, 0x27E}
ROWS_OF_CELLS = {0xBD, 0xBE}  # several cells of a row; the last two bytes are the last column


def is_compound_file(path: Path) -> bool:
    """Whether a file is a compound file, such as an old Excel workbook."""
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def check_workbook(path: Path, limits: ReadLimits) -> None:
    """Raise an error if a sheet has too many cells.

    Raises:
        TableError: a sheet is larger than the limits, or the file is damaged.
    """
    try:
        stream = _read_workbook(path.read_bytes())
        last_row, last_column = find_extent(stream)
    except (struct.error, LookupError, ValueError):
        raise TableError(
            f"{path.name!r} cannot be read as Excel: it is damaged. Open it in Excel and save it again."
        ) from None
    limits.check_sheet(last_row, last_column)


def find_extent(stream: bytes) -> tuple[int, int]:
    """Return the row and the column of the last cells of all sheets, counted from 1."""
    last_row, last_column = 0, 0
    position = 0
    while position + 4 <= len(stream):
        kind, length = struct.unpack_from("<HH", stream, position)
        position += 4
        if length >= 4 and (kind in CELLS or kind in ROWS_OF_CELLS):
            row, column = struct.unpack_from("<HH", stream, position)
            if kind in ROWS_OF_CELLS:
                (last,) = struct.unpack_from("<H", stream, position + length - 2)
                column = max(column, last)
            last_row, last_column = max(last_row, row + 1), max(last_column, column + 1)
        position += length
    return last_row, last_column


def _read_workbook(content: bytes) -> bytes:
    """Return the stream of the workbook; empty if there is none."""
    sector_bytes = 1 << min(struct.unpack_from("<H", content, 30)[0], 12)
    sectors = content[sector_bytes:]  # the header takes the first sector
    table = _read_allocation_table(content, sectors, sector_bytes)
    (first,) = struct.unpack_from("<I", content, 48)
    entries = dict(_list_entries(_read_chain(sectors, table, first, sector_bytes)))
    workbook = next((entries[name] for name in WORKBOOK_NAMES if name in entries), None)
    if workbook is None:
        return b""
    first, n_bytes = workbook
    if n_bytes >= MINI_STREAM_BYTES:
        return _read_chain(sectors, table, first, sector_bytes)
    mini_sectors = _read_chain(sectors, table, entries[ROOT_NAME][0], sector_bytes)
    (first_table,) = struct.unpack_from("<I", content, 60)
    mini_table = _parse_numbers(_read_chain(sectors, table, first_table, sector_bytes))
    return _read_chain(mini_sectors, mini_table, first, MINI_SECTOR_BYTES)


def _list_entries(directory: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the name, first sector and size of every stream. Names are in lower case."""
    for start in range(0, len(directory) - ENTRY_BYTES + 1, ENTRY_BYTES):
        (name_bytes,) = struct.unpack_from("<H", directory, start + 64)
        name = directory[start : start + max(0, min(name_bytes, 64) - 2)]
        first, n_bytes = struct.unpack_from("<II", directory, start + 116)
        yield name.decode("utf-16-le", "replace").lower(), (first, n_bytes)


def _read_allocation_table(content: bytes, sectors: bytes, sector_bytes: int) -> list[int]:
    """Return the next sector of each sector."""
    numbers = list(struct.unpack_from(f"<{N_HEADER_FAT_SECTORS}I", content, 76))
    (extra,) = struct.unpack_from("<I", content, 68)
    n_sectors = len(sectors) // sector_bytes
    while extra < END_OF_CHAIN and len(numbers) <= n_sectors + N_HEADER_FAT_SECTORS:
        *more, extra = _parse_numbers(sectors[extra * sector_bytes : (extra + 1) * sector_bytes])
        numbers += more
    used = [number for number in numbers if number < END_OF_CHAIN][:n_sectors]
    return _parse_numbers(
        b"".join(sectors[number * sector_bytes : (number + 1) * sector_bytes] for number in used)
    )


def _parse_numbers(content: bytes) -> list[int]:
    return list(struct.unpack_from(f"<{len(content) // 4}I", content))


def _read_chain(sectors: bytes, table: list[int], first: int, sector_bytes: int) -> bytes:
    """Return the content of a stream. A chain that returns to an earlier sector is damaged."""
    chain: list[bytes] = []
    number = first
    while number < END_OF_CHAIN:
        if len(chain) > len(table):
            raise ValueError("a chain of sectors has a loop")
        chain.append(sectors[number * sector_bytes : (number + 1) * sector_bytes])
        number = table[number]
    return b"".join(chain)
