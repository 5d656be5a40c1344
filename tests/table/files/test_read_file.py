"""Whatever a file contains, the error is a short `TableError` that says what to do."""

import gzip
import time
import warnings

import pandas as pd
import pyarrow as pa
import pytest

from eddi.errors import EddiWarning, TableError
from eddi.table import formats
from eddi.table.files import read_file as module
from eddi.table.files.limits import ReadLimits

LONG_CELL = "more than 131,072 characters. Cells of a table are short"
UNCLOSED = "more than 131,072 characters. A quotation mark is not closed"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "t.csv",
            b"a,b\n" + b"x" * 140_000 + b",1\n",
            LONG_CELL,
        ),
        (
            "t.csv",
            b'a,b\n1,"' + b"2\n3,4" * 50_000,
            UNCLOSED,
        ),
        ("t.csv", b"\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8", "'t.csv' starts as UTF-16 text but is not"),
        ("t.csv", b"\xff\xfea\x00,\x00b", "'t.csv' starts as UTF-16 text but is not"),
        ("t.csv.gz", b"\x1f\x8b\x08\x00" + b"\x00" * 40, "'t.csv.gz' is damaged or not a .csv file"),
        ("t.parquet", b"PAR1" + b"\x00" * 40 + b"PAR1", "'t.parquet' is damaged or not a .parquet file"),
        ("t.xlsx", b"PK\x03\x04" + b"\x00" * 60, "'t.xlsx' cannot be read as Excel"),
        (
            "t.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600,
            "'t.xls' cannot be read as Excel",
        ),
    ],
)
def test_a_damaged_file_is_a_table_error(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TableError, match=message.replace(".", r"\.")):
        formats.read(path)


@pytest.mark.parametrize("extension", [".parquet", ".xlsx"])
def test_a_file_with_changed_bytes_is_a_table_error_or_a_table(tmp_path, extension):
    path = tmp_path / f"t{extension}"
    frame = pd.DataFrame({"a": range(50), "b": [f"text {n}" for n in range(50)]})
    frame.to_parquet(path) if extension == ".parquet" else frame.to_excel(path, index=False)
    content = path.read_bytes()
    for position in range(4, len(content), len(content) // 60):
        damaged = bytearray(content)
        damaged[position] ^= 0xFF
        path.write_bytes(damaged)
        try:
            formats.read(path).to_pydict()
        except TableError:
            continue


def test_any_other_exception_of_a_reader_becomes_a_table_error(tmp_path, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(module.parquet, "read", fail)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        TableError, match=r"not a .parquet file: ZeroDivisionError\. Open it in the program"
    ):
        formats.read(tmp_path / "t.parquet")


def test_a_compressed_file_that_unpacks_to_too_much_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 1_000_000))
    with pytest.raises(TableError, match=r"bytes but unpacks to more than 1,000,000\. It was not read"):
        formats.read(path, limits=ReadLimits(max_bytes=1_000_000))


def test_names_of_many_equal_columns_are_made_unique_in_linear_time():
    table = pa.Table.from_arrays([pa.array([1])] * 20_000, ["a"] * 20_000)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        names = formats.read(table).column_names
    assert time.process_time() - start < 1
    assert names[::19_999] == ["a", "a (20000)"]
    assert len(caught) == 6
    assert str(caught[-1].message) == "19,994 more columns with repeated names were renamed, too."
    assert issubclass(caught[-1].category, EddiWarning)


def test_a_file_with_too_many_columns_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("," * 200_000 + "\n1")
    with pytest.raises(TableError, match="the table has 200,001 columns; at most 100,000 are read"):
        formats.read(path)


def test_a_message_with_a_very_long_name_is_short(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2,3\n")
    long = TableError(f"the column {'x' * 1_000_000!r} is odd. Rename it.")
    assert len(str(long)) < 1000
    assert str(long).endswith(" Rename it.")
