"""Tables come in several formats, are kept as they came, and are corrected by one at a time."""

import zipfile

import pandas as pd
import pytest

from eddi.errors import TableError
from eddi.service.analyst import tables as module
from eddi.service.analyst.blob_store import NotOnShelfError
from eddi.service.analyst.tables import TableMovedError, TableNotFoundError


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_a_table_comes_in_any_format(workshop, people, tmp_path, ending):
    frame = people(30, seed=1)
    path = tmp_path / "upload"  # a temporary file has no ending: the name given with it says it
    if ending == ".parquet":
        frame.to_parquet(path)
    elif ending == ".xlsx":
        frame.to_excel(tmp_path / "a.xlsx", index=False)
        path = tmp_path / "a.xlsx"
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")
    kept = workshop.tables.add(f"C:\\data\\people{ending}", path)
    assert (kept.name, kept.title, kept.n_rows) == (f"people{ending}", "people", 30)
    assert kept.columns == tuple(frame.columns)
    assert set(kept.schema.names) | {one.name for one in kept.schema.set_aside} == set(frame.columns)
    rows = workshop.tables.rows(kept.seal)
    assert rows.num_rows == 30
    assert rows.column("age").null_count == frame["age"].isna().sum()
    assert workshop.tables.get(kept.key) == kept
    assert workshop.tables.all() == [kept]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "people.docx",
            b"text",
            "'people.docx' is of no format that can be uploaded. Send one of: .csv",
        ),
        ("people.csv.gz", b"\x1f\x8b", "is of no format that can be uploaded"),
        ("people.parquet", b"no parquet at all", "'people.parquet' is damaged"),
        ("people.xlsx", b"no zip", "'people.xlsx' cannot be read as Excel"),
        ("people.csv", b"", "'people.csv' is empty"),
        ("people.csv", b"a,b\n", "has column names and no rows"),
        ("people.csv", b"a\n1\n1\n1\n", "nothing is left to model"),
    ],
)
def test_what_is_no_table_is_refused_by_its_own_name(workshop, tmp_path, name, content, words):
    path = tmp_path / "upload"
    path.write_bytes(content)
    with pytest.raises(TableError, match=words.replace(".", r"\.")):
        workshop.tables.add(name, path)
    assert workshop.tables.all() == []


def test_what_would_be_too_large_is_refused_before_it_is_unpacked(workshop, tmp_path, monkeypatch):
    path = tmp_path / "upload"
    pd.DataFrame({"a": range(100), "b": range(100)}).to_parquet(path)
    monkeypatch.setattr(module, "MAX_CELLS", 199)
    with pytest.raises(TableError, match="100 rows and 2 columns; at most 199 cells"):
        workshop.tables.add("t.parquet", path)
    monkeypatch.setattr(module, "MAX_COLUMNS", 1)
    with pytest.raises(TableError, match="2 columns; at most 1"):
        workshop.tables.add("t.parquet", path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sheet.xml", b"0" * (30 << 20))
    with pytest.raises(TableError, match="unpacks to far more than its size"):
        workshop.tables.add("t.xlsx", path)


def test_what_was_repaired_is_told(workshop, tmp_path):
    path = tmp_path / "upload"
    path.write_text("a,a\n1,2\n3,4\n5,6.5\n")
    kept = workshop.tables.add("t.csv", path)
    assert kept.notes == ("the table has two columns 'a'; the later one is now 'a (2)'.",)


def test_a_schema_is_corrected_by_one_at_a_time(workshop, kept):
    schema = kept.schema.with_question("age", text="How old are you?")
    corrected = workshop.tables.correct(kept.key, schema, after=kept.version)
    assert corrected.schema.question("age").text == "How old are you?"
    assert corrected.version == kept.version + 1
    with pytest.raises(TableMovedError, match="was corrected meanwhile"):
        workshop.tables.correct(kept.key, schema, after=kept.version)


def test_a_forgotten_table_is_gone_with_its_rows(workshop, kept, people_csv):
    same = workshop.tables.add("again.csv", people_csv)
    workshop.tables.forget(kept.key)
    with pytest.raises(TableNotFoundError, match=f"there is no table '{kept.key}'"):
        workshop.tables.get(kept.key)
    assert workshop.tables.rows(same.seal).num_rows == 120  # another table has the same rows
    workshop.tables.forget(same.key)
    with pytest.raises(NotOnShelfError):
        workshop.tables.rows(same.seal)
    assert workshop.tables.all() == []
    with pytest.raises(TableNotFoundError):
        workshop.tables.get("../etc")
