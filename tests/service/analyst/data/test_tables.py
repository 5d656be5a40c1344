"""Tables are uploaded in several formats, stored unchanged, and corrected by one analyst at a time."""

import pytest

from eddi.errors import TableError
from eddi.service.analyst.data.blob_store import BlobNotFoundError
from eddi.service.analyst.data.tables import TableMovedError, TableNotFoundError


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_a_table_can_be_uploaded_in_any_format(workshop, people, tmp_path, extension):
    frame = people(30, seed=1)
    path = tmp_path / "upload"  # a temporary file has no extension: the original name has it
    if extension == ".parquet":
        frame.to_parquet(path)
    elif extension == ".xlsx":
        frame.to_excel(tmp_path / "a.xlsx", index=False)
        path = tmp_path / "a.xlsx"
    else:
        frame.to_csv(path, index=False, sep="\t" if extension == ".tsv" else ",")
    table = workshop.tables.add(f"C:\\data\\people{extension}", path)
    assert (table.name, table.title, table.n_rows) == (f"people{extension}", "people", 30)
    assert table.columns == tuple(frame.columns)
    set_aside = {column.name for column in table.schema.set_aside}
    assert set(table.schema.names) | set_aside == set(frame.columns)
    rows = workshop.tables.rows(table.digest)
    assert rows.num_rows == 30
    assert rows.column("age").null_count == frame["age"].isna().sum()
    assert workshop.tables.get(table.key) == table
    assert workshop.tables.all() == [table]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "people.docx",
            b"text",
            "'people.docx' is not in a supported format. Upload one of: .csv",
        ),
        ("people.csv.gz", b"\x1f\x8b", "is not in a supported format"),
        ("people.parquet", b"no parquet at all", "'people.parquet' is damaged"),
        ("people.xlsx", b"no zip", "'people.xlsx' cannot be read as Excel"),
        ("people.csv", b"", "'people.csv' is empty"),
        ("people.csv", b"a,b\n", "has column names and no rows"),
        ("people.csv", b"a\n1\n1\n1\n", "nothing is left to model"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_with_its_own_name(
    workshop, tmp_path, name, content, message
):
    path = tmp_path / "upload"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message.replace(".", r"\.")):
        workshop.tables.add(name, path)
    assert workshop.tables.all() == []


def test_repairs_are_listed_in_the_notes(workshop, tmp_path):
    path = tmp_path / "upload"
    path.write_text("a,a\n1,2\n3,4\n5,6.5\n")
    table = workshop.tables.add("t.csv", path)
    assert table.notes == ("the table has two columns 'a'; the later one is now 'a (2)'.",)


def test_a_correction_of_an_outdated_schema_is_refused(workshop, table):
    schema = table.schema.with_question("age", text="How old are you?")
    corrected = workshop.tables.correct(table.key, schema, after=table.version)
    assert corrected.schema.question("age").text == "How old are you?"
    assert corrected.version == table.version + 1
    with pytest.raises(TableMovedError, match="was changed in the meantime"):
        workshop.tables.correct(table.key, schema, after=table.version)


def test_a_forgotten_table_is_erased_with_its_rows(workshop, table, people_csv):
    copy = workshop.tables.add("again.csv", people_csv)
    workshop.tables.forget(table.key)
    with pytest.raises(TableNotFoundError, match=f"there is no table '{table.key}'"):
        workshop.tables.get(table.key)
    assert workshop.tables.rows(copy.digest).num_rows == 120  # another table has the same rows
    workshop.tables.forget(copy.key)
    with pytest.raises(BlobNotFoundError):
        workshop.tables.rows(copy.digest)
    assert workshop.tables.all() == []
    with pytest.raises(TableNotFoundError):
        workshop.tables.get("../etc")
