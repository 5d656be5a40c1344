"""A workbook is measured before it is read: the last cell of a sheet, and the unpacked size."""

import io
import struct

import pytest

from eddi.errors import TableError
from eddi.table import formats
from eddi.table.files.limits import ReadLimits
from eddi.table.files.xlsx_extent import split_chunks


def cell(reference, value=1):
    return f'<c r="{reference}"><v>{value}</v></c>'


def test_two_cells_at_opposite_corners_are_refused(xlsx):
    path = xlsx(f'<row r="1">{cell("A1")}</row><row r="1048576">{cell("XFD1048576")}</row>')
    with pytest.raises(
        TableError,
        match=r"last cell of the sheet is in row 1,048,576 and column 16,384; at most 50,000,000",
    ):
        formats.read(path)


@pytest.mark.parametrize(
    "rows",
    [
        "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r = 'xfd1048576'><v>1</v></c></row>",
        '<x:row><x:c><x:v>1</x:v></x:c></x:row><x:row r="9000"><x:c r="XFD9000"><x:v>1</x:v></x:c></x:row>',
        '<row><c><v>1</v></c></row><row\nr="900000"><c s="1"\n\tr="XFD9000"><is><t>a</t></is></c></row>',
        f'<row><c r="{"A" * 10_000}1"><v>1</v></c></row>',
        "<row><c><v>1</v></c></row>" * 9000 + "<row>" + "<c/>" * 9000 + "<c><v>1</v></c></row>",
    ],
)
def test_the_last_cell_is_found_however_it_is_written(xlsx, rows):
    with pytest.raises(
        TableError, match=r"the last cell of the sheet is in row|the table has .* columns"
    ):
        formats.read(xlsx(rows))


def test_formatted_cells_without_a_value_do_not_count(xlsx):
    rows = [f'<row r="{n}">{cell(f"A{n}", n)}{cell(f"B{n}", 2 * n)}</row>' for n in range(1, 4)]
    far = '<row r="1048576"><c r="XFD1048576" s="1"/></row>'
    assert formats.read(xlsx("".join(rows) + far)).num_rows == 2


def test_a_member_that_unpacks_to_too_much_is_refused(xlsx):
    path = xlsx(f'<row r="1">{cell("A1")}</row>', **{"xl/sharedStrings.xml": b"0" * (3 << 20)})
    with pytest.raises(TableError, match=r"unpacks to more than 1,048,576\. It was not read"):
        formats.read(path, limits=ReadLimits(max_bytes=1 << 20))


def test_a_declared_size_that_is_too_small_is_not_believed(xlsx):
    path = xlsx(f'<row r="1">{cell("A1")}</row>', **{"xl/sharedStrings.xml": b"0" * (3 << 20)})
    content = path.read_bytes()
    path.write_bytes(content.replace(struct.pack("<I", 3 << 20), struct.pack("<I", 10)))
    with pytest.raises(TableError, match="unpacks to more than 1,048,576"):
        formats.read(path, limits=ReadLimits(max_bytes=1 << 20))


def share_text(xlsx, n_rows, n_long, n_characters):
    """A sheet whose first rows share one long text, and the others a short one."""
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}.5</v></c><c r="B{n}" t="s"><v>{int(n <= n_long)}</v></c></row>'
        for n in range(1, n_rows + 1)
    )
    strings = f"<sst><si><t>a</t></si><si><t>{'x' * n_characters}</t></si></sst>"
    return xlsx(rows, **{"xl/sharedStrings.xml": strings})


def test_a_long_text_shared_by_many_cells_is_refused(xlsx):
    with pytest.raises(TableError, match="unpacks to more than 1,048,576"):
        formats.read(share_text(xlsx, 400, 200, 10_000), limits=ReadLimits(max_bytes=1 << 20))


def test_a_long_text_shared_by_few_cells_is_read(xlsx):
    path = share_text(xlsx, 400, 9, 10_000)
    assert formats.read(path, limits=ReadLimits(max_bytes=1 << 20)).num_rows == 399


def test_merged_cells_that_overlap_are_refused(xlsx):
    rows = "".join(f'<row r="{n}">{cell(f"A{n}", n)}{cell(f"B{n}", n)}</row>' for n in range(1, 40))
    merged = "<mergeCells>" + '<mergeCell ref="A1:B39"/>' * 2000 + "</mergeCells>"
    path = xlsx(f"{rows}</sheetData>{merged}<sheetData>")
    with pytest.raises(TableError, match="merged cells of the sheet overlap"):
        formats.read(path)


def test_parts_do_not_end_inside_a_tag():
    content = b'<row r="1"><c r="A1"><v>1</v></c></row>' * 30
    stream = io.BytesIO(content)
    parts = list(split_chunks(iter(lambda: stream.read(7), b"")))
    assert b"".join(parts) == content
    assert all(part.count(b"<") == part.count(b">") for part in parts)
