"""Builders of Excel files cell by cell, for files that no program would write."""

import struct
import zipfile

import pytest

WORKBOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="rId1"/>'
    "</sheets></workbook>"
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/></Relationships>'
)
PACKAGE = RELATIONS.replace("worksheets/sheet1", "xl/workbook").replace("/worksheet", "/officeDocument")
SECTOR = 512
END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD


@pytest.fixture
def xlsx(tmp_path):
    """A function that writes a workbook whose only sheet has these rows, as XML, and returns its path."""

    def write(rows, **members):
        path = tmp_path / "t.xlsx"
        sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}'
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_rels/.rels", PACKAGE)
            archive.writestr("xl/workbook.xml", WORKBOOK)
            archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS)
            archive.writestr("xl/worksheets/sheet1.xml", f"{sheet}</sheetData></worksheet>")
            for name, content in members.items():
                archive.writestr(name, content)
        return path

    return write


@pytest.fixture
def xls(tmp_path):
    """A function that writes an old workbook with these cells, as {(row, column): number}."""

    def write(cells, n_padding=0):
        stream = _write_records(cells) + bytes(n_padding)
        path = tmp_path / "t.xls"
        path.write_bytes(_write_compound_file(stream))
        return path

    return write


def _write_records(cells):
    def record(kind, content):
        return struct.pack("<HH", kind, len(content)) + content

    start = record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    n_before = len(start) + 4 + 9 + 4
    start += record(0x85, struct.pack("<IHBB", n_before, 0, 1, 0) + b"s") + record(0x0A, b"")
    sheet = record(0x809, struct.pack("<HHHHII", 0x600, 0x10, 0, 0, 0, 0))
    for (row, column), value in cells.items():
        sheet += record(0x203, struct.pack("<HHHd", row, column, 0, value))
    return start + sheet + record(0x0A, b"")


def _write_compound_file(stream):
    """A file with a table of sectors, a directory, a table of small sectors, and the stream."""
    n_sectors = -(-len(stream) // SECTOR)
    is_small = len(stream) < 4096
    chain = [*range(4, 3 + n_sectors), END]
    table = [TABLE, END, END, *chain]
    small = [*range(1, -(-len(stream) // 64)), END] if is_small else []
    root, book = (3, END) if is_small else (END, 3)
    entries = _entry("Root Entry", 5, root, n_sectors * SECTOR if is_small else 0, child=1)
    entries += _entry("Workbook", 2, 0 if is_small else book, len(stream))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, 2 if is_small else END, int(is_small), END, 0)
    header += struct.pack("<109I", 0, *[FREE] * 108)
    sectors = [_numbers(table), entries.ljust(SECTOR, b"\0"), _numbers(small)]
    return header + b"".join(sectors) + stream.ljust(n_sectors * SECTOR, b"\0")


def _numbers(values):
    return struct.pack("<128I", *values, *[FREE] * (128 - len(values)))


def _entry(name, kind, first, size, child=FREE):
    text = name.encode("utf-16-le")
    entry = text.ljust(64, b"\0") + struct.pack("<HBBIII", len(text) + 2, kind, 1, FREE, FREE, child)
    return entry + bytes(36) + struct.pack("<IQ", first, size)
