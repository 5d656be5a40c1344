"""Uploaded files are read in a process with limits: a hostile file ends that process, not the server."""

import logging
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import TableError
from eddi.service.analyst.data import upload as module
from eddi.service.analyst.data.upload import UploadLimits, UploadReader
from eddi.table.files.limits import ReadLimits


@pytest.fixture
def read(tmp_path):
    """A function that reads content under limits, and returns what was found."""

    def read_content(name, content, limits=None):
        path = tmp_path / "upload"
        path.write_bytes(content)
        with UploadReader(limits).read(name, path) as upload:
            return upload.facts, pq.read_table(upload.rows)

    return read_content


def write_sheet(path, rows, strings=""):
    """A workbook with one sheet, whose rows and shared strings are XML."""
    book = pd.DataFrame({"a": ["x"]})
    book.to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    head, _, tail = members["xl/worksheets/sheet1.xml"].decode().partition("<sheetData>")
    members["xl/worksheets/sheet1.xml"] = f"{head}<sheetData>{rows}{tail[tail.index('</sheetData>') :]}"
    if strings:
        members["xl/sharedStrings.xml"] = f"<sst>{strings}</sst>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path.read_bytes()


def test_a_table_is_read_with_facts_about_it(read):
    facts, rows = read("people.csv", b"a,a\n1,x\n2,y\n3,x\n4,y\n")
    assert facts["rows"] == rows.num_rows == 4
    assert facts["columns"] == rows.column_names == ["a", "a (2)"]
    assert facts["notes"] == ["the table has two columns 'a'; the later one is now 'a (2)'."]
    assert [profile["distinct"] for profile in facts["profiles"]] == [4, 2]


def test_notes_have_the_name_of_the_uploaded_file(read):
    facts, _ = read("C:\\data\\people.csv", b"a,b\n1,caf\xe9\n2,th\xe9\n3,th\xe9\n")
    assert facts["notes"] == [
        "'people.csv' is not UTF-8; read as Windows-1252. Save it as UTF-8 to be sure."
    ]


def test_two_cells_at_opposite_corners_of_a_sheet_are_refused(read, tmp_path):
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    content = write_sheet(tmp_path / "t.xlsx", rows)
    with pytest.raises(TableError, match="the table has 16,384 columns; at most 2,000 are read"):
        read("t.xlsx", content)


def test_one_long_text_repeated_in_every_row_is_refused(read, tmp_path):
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 62_000, pa.int32()), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"text": texts}), tmp_path / "t", compression="zstd", store_schema=False)
    with pytest.raises(TableError, match=r"'long.parquet' has \d+ bytes but unpacks to more than 1,"):
        read("long.parquet", (tmp_path / "t").read_bytes())


def test_a_table_that_is_too_large_is_refused(read, tmp_path):
    pd.DataFrame({"a": range(100), "b": range(100)}).to_parquet(tmp_path / "t")
    content = (tmp_path / "t").read_bytes()
    with pytest.raises(TableError, match="100 rows and 2 columns; at most 199 cells"):
        read("t.parquet", content, UploadLimits(table=ReadLimits(max_cells=199)))
    with pytest.raises(TableError, match="2 columns; at most 1"):
        read("t.parquet", content, UploadLimits(table=ReadLimits(max_columns=1)))


def test_a_file_that_needs_too_much_memory_is_refused(read):
    content = b"a,b\n" + b"1,x\n" * 4_000_000
    with pytest.raises(TableError, match=r"'t.csv' .*memory"):
        read("t.csv", content, UploadLimits(max_memory=600_000_000))


def test_a_process_that_ends_without_a_result_is_an_error_of_the_file(read, monkeypatch):
    monkeypatch.setattr(module, "WORKER", "this")  # a module that does something else
    with pytest.raises(
        TableError,
        match=r"'t.csv' cannot be read within 120 seconds and 4 GB of memory\. It may be damaged",
    ):
        read("t.csv", b"a,b\n1,x\n")


def test_one_long_text_shared_by_all_cells_is_refused(read, tmp_path):
    # 300 kB of XML and strings would become 10 GB.
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 1001))
    content = write_sheet(tmp_path / "t.xlsx", cells, f"<si><t>{'x' * 10_000_000}</t></si>")
    assert len(content) < 40_000
    with pytest.raises(TableError, match=r"'long.xlsx' has [\d,]+ bytes but unpacks to more than"):
        read("long.xlsx", content)


def test_a_file_that_takes_too_long_is_refused(read):
    content = b"a,b\n" + b"1,x\n" * 12_000_000
    with pytest.raises(TableError, match="cannot be read within 1 seconds"):
        read("t.csv", content, UploadLimits(max_seconds=1))


def test_names_and_levels_that_are_too_long_are_refused(read, monkeypatch):
    monkeypatch.setattr(module, "MAX_FACTS_BYTES", 100)
    with pytest.raises(TableError, match="the names and levels of the table are too long"):
        read("t.csv", b"a,b\n1,x\n2,y\n3,x\n")


def test_an_unexpected_error_is_logged_without_its_message(caplog):
    result = {"unexpected": {"type": "KeyError", "trace": ["x.py:1 f"]}}
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(TableError, match=r"'t.csv' cannot be read"),
    ):
        module._find_facts(result, "table.csv", "t.csv")
    assert caplog.records[0].fields == {"error": result["unexpected"]}


def test_the_process_knows_no_secrets(monkeypatch):
    monkeypatch.setenv("EDDI_SECRET", "hidden")
    assert "hidden" not in module._make_environment().values()
