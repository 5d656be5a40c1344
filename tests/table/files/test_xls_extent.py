"""The last cell of an old Excel workbook is known before memory is allocated for the cells before it."""

import pytest

from eddi.errors import TableError
from eddi.table import formats

CELLS = {(row, column): 10.0 * row + column for row in range(3) for column in range(2)}


@pytest.mark.parametrize("n_padding", [0, 5000])
def test_an_old_workbook_is_read(xls, n_padding):
    table = formats.read(xls(CELLS, n_padding))
    assert table.to_pydict() == {"0.0": [10, 20], "1.0": [11, 21]}


@pytest.mark.parametrize("n_padding", [0, 5000])
def test_a_cell_far_away_is_refused(xls, n_padding):
    path = xls({(0, 0): 1.0, (65535, 65535): 2.0}, n_padding)
    with pytest.raises(
        TableError, match="the last cell of the sheet is in row 65,536 and column 65,536"
    ):
        formats.read(path)


@pytest.mark.parametrize("position", [30, 48, 60, 76, 512, 516, 1024 + 116, 1024 + 244])
@pytest.mark.parametrize("value", [b"\0\0\0\0", b"\x01\0\0\0", b"\x7f\xff\xff\x7f", b"\xff\xff\xff\xff"])
def test_a_damaged_structure_is_a_table_error_or_does_not_matter(xls, position, value):
    path = xls(CELLS)
    content = bytearray(path.read_bytes())
    content[position : position + 4] = value
    path.write_bytes(content)
    try:
        n_rows = formats.read(path).num_rows
    except TableError:
        return
    assert n_rows == 2
