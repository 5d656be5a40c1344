"""Excel files built from XML or records, for content that no program would write."""

import io
import struct
import zipfile
from collections.abc import Mapping

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
WORKBOOK = (
    f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet name="s" sheetId="1" r:id="rId1"/>'
    "</sheets></workbook>"
)
RELATIONSHIP = (
    f'<Relationships xmlns="{PACKAGE}"><Relationship Id="rId1" Type="{OFFICE}/%s" Target="%s"/>'
    "</Relationships>"
)
SECTOR, MINI_SECTOR, MINI_STREAM = 512, 64, 4096
END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


def write_xlsx(rows: str, members: Mapping[str, bytes | str] | None = None) -> bytes:
    """Return a workbook whose only sheet has these rows, as XML, and further members."""
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    content = {
        "_rels/.rels": RELATIONSHIP % ("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": WORKBOOK,
        "xl/_rels/workbook.xml.rels": RELATIONSHIP % ("worksheet", "worksheets/sheet1.xml"),
        "xl/worksheets/sheet1.xml": sheet,
        **(members or {}),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return file.getvalue()


def write_xls(cells: Mapping[tuple[int, int], float], n_padding: int = 0) -> bytes:
    """Return an old workbook with these cells, by row and column, and zeros after them."""
    return _write_compound_file(_write_records(cells) + bytes(n_padding))


def _write_records(cells: Mapping[tuple[int, int], float]) -> bytes:
    start = _record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    n_before = len(start) + 4 + 9 + 4
    start += _record(0x85, struct.pack("<IHBB", n_before, 0, 1, 0) + b"s") + _record(0x0A, b"")
    sheet = _record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    for (row, column), value in cells.items():
        sheet += _record(0x203, struct.pack("<HHHd", row, column, 0, value))
    return start + sheet + _record(0x0A, b"")


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def _write_compound_file(stream: bytes) -> bytes:
    """A file with a table of sectors, a directory, a table of small sectors, and the stream."""
    n_sectors = -(-len(stream) // SECTOR)
    is_small = len(stream) < MINI_STREAM
    table = [TABLE, END, END, *range(4, 3 + n_sectors), END]
    small = [*range(1, -(-len(stream) // MINI_SECTOR)), END] if is_small else []
    root = (3, n_sectors * SECTOR) if is_small else (END, 0)
    entries = _entry("Root Entry", 5, *root, child=1)
    entries += _entry("Workbook", 2, 0 if is_small else 3, len(stream))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    first_small = 2 if is_small else END
    header += struct.pack("<9I", 0, 1, 1, 0, MINI_STREAM, first_small, int(is_small), END, 0)
    header += struct.pack("<109I", 0, *[FREE] * 108)
    sectors = [_numbers(table), entries.ljust(SECTOR, b"\0"), _numbers(small)]
    return header + b"".join(sectors) + stream.ljust(n_sectors * SECTOR, b"\0")


def _numbers(values: list[int]) -> bytes:
    return struct.pack("<128I", *values, *[FREE] * (128 - len(values)))


def _entry(name: str, kind: int, first: int, size: int, child: int = FREE) -> bytes:
    text = name.encode("utf-16-le")
    entry = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text) + 2, kind, 1, FREE, FREE, child)
    return entry + bytes(36) + struct.pack("<IQ", first, size)
