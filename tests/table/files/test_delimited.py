"""Text files with any delimiter and encoding are read; tables are written as text files."""

import gzip

import pyarrow as pa
import pytest

from eddi.errors import EddiWarning, TableError
from eddi.table import formats
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema


def test_a_csv_file_has_typed_columns_with_null_for_missing_values(file):
    table = formats.read(file("people.csv", "age,name\n61,Ann\n,Bo\n"))
    assert table.to_pydict() == {"age": [61, None], "name": ["Ann", "Bo"]}


def test_missing_markers_are_recognized_even_in_quotes(file):
    table = formats.read(file("t.csv", 'a,b\n1,x\n?,"NA"\n3,n/a\n'))
    assert table.to_pydict() == {"a": [1, None, 3], "b": ["x", None, None]}


def test_the_text_none_is_a_value(file):
    assert formats.read(file("t.csv", "eye\nNone\nOpen\n"))["eye"].to_pylist() == ["None", "Open"]


def test_a_word_in_a_late_row_makes_the_whole_column_text(file):
    body = "".join(f"{n},{n}\n" for n in range(300_000)) + "x,5\n"
    table = formats.read(file("t.csv", "a,b\n" + body))
    assert table["a"].to_pylist()[-1] == "x"
    assert table["b"].type == pa.int64()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_detected(file, delimiter):
    text = "name,age,city\nAnn,61,Rome\n".replace(",", delimiter)
    assert formats.read(file("t.csv", text)).column_names == ["name", "age", "city"]


def test_a_delimiter_inside_quotes_is_text(file):
    table = formats.read(file("t.csv", 'name,age\n"Doe; J; K, Jr",5\n"Roe; J; L",6\n'))
    assert table["name"].to_pylist() == ["Doe; J; K, Jr", "Roe; J; L"]


def test_a_line_break_inside_quotes_is_text(file):
    table = formats.read(file("t.csv", 'note,age\n"two\nlines",5\nx,6\n'))
    assert table["note"].to_pylist() == ["two\nlines", "x"]


def test_a_number_with_a_decimal_comma_remains_text_for_the_number_format_of_its_variable(file):
    path = file("t.csv", "height;age\n1,75;61\n1,80;\n1,62;50\n")
    assert formats.read(path).to_pydict() == {"height": ["1,75", "1,80", "1,62"], "age": [61, None, 50]}
    schema = Schema.infer(path)
    assert table_to_numbers(formats.read(path), schema)[:, 0].tolist() == [1.75, 1.8, 1.62]


def test_codes_with_leading_zeros_remain_text(file):
    table = formats.read(file("t.csv", "zip,n\n02139,1\n10001,2\n"))
    assert table.to_pydict() == {"zip": ["02139", "10001"], "n": [1, 2]}


@pytest.mark.parametrize("values", [("true", "false"), ("True", "False"), ("TRUE", "FALSE")])
def test_true_and_false_are_booleans(file, values):
    table = formats.read(file("t.csv", "a,b\n{},1\n{},2\n,3\n".format(*values)))
    assert table["a"].to_pylist() == [True, False, None]


def test_a_tsv_file_is_split_only_at_tabs(file):
    assert formats.read(file("t.tsv", "a,b\tc\n1\t2\n")).column_names == ["a,b", "c"]


def test_a_compressed_csv_file_is_read(file):
    table = formats.read(file("t.csv.gz", gzip.compress(b"a,b\n1,2\n")))
    assert table.to_pydict() == {"a": [1], "b": [2]}


def test_a_byte_order_mark_is_not_part_of_the_first_name(file):
    assert formats.read(file("t.csv", "\ufeffåge,b\n1,2\n")).column_names == ["åge", "b"]


def test_a_utf16_file_is_read(file):
    assert formats.read(file("t.txt", "åge\tb\n1\t2\n".encode("utf-16"))).column_names == [
        "åge",
        "b",
    ]


def test_a_windows_file_is_read_with_a_warning(file):
    path = file("old.csv", "name,fee\nJosé,5 €\n“Bo”,7 €\n".encode("cp1252"))
    with pytest.warns(EddiWarning, match=r"'old.csv' is not UTF-8; read as Windows-1252"):
        table = formats.read(path)
    assert table.to_pydict() == {"name": ["José", "“Bo”"], "fee": ["5 €", "7 €"]}


def test_a_byte_without_a_character_in_windows_1252_does_not_stop_the_reader(file):
    with pytest.warns(EddiWarning, match="read as Windows-1252"):
        table = formats.read(file("t.csv", b"a,b\n\x81\xe9,1\n"))
    assert table["a"].to_pylist() == ["\x81é"]


def test_empty_lines_before_the_header_are_skipped(file):
    assert formats.read(file("t.csv", "\n\na,b\n1,2\n")).to_pydict() == {"a": [1], "b": [2]}


def test_a_file_of_empty_lines_is_rejected_as_empty(file):
    with pytest.raises(TableError, match=r"'t.csv' is empty"):
        formats.read(file("t.csv", "\n\n"))


def test_spaces_around_column_names_are_removed(file):
    assert formats.read(file("t.csv", "a, b ,c\n1,2,3\n")).column_names == ["a", "b", "c"]


def test_windows_line_endings_are_not_part_of_a_cell(file):
    assert formats.read(file("t.csv", "a,b\r\n1,x\r\n"))["b"].to_pylist() == ["x"]


def test_an_empty_line_in_a_file_with_one_column_is_a_missing_value(file):
    assert formats.read(file("t.csv", "a\n1\n\n3\n"))["a"].to_pylist() == [1, None, 3]


def test_a_line_with_too_many_cells_is_rejected_by_number(file):
    with pytest.raises(TableError, match=r"line 3 of 't.csv' has 3 cells, but the header has 2"):
        formats.read(file("t.csv", "a,b\n1,2\n1,2,3\n"))


@pytest.mark.parametrize(
    "lines_above", ["Survey 2025,,\n", "Survey 2025,,\n,Household,\n", ",,\nSurvey 2025,,\n\n"]
)
def test_names_below_a_title_or_merged_cells_are_rejected_with_the_number_of_their_line(
    file, lines_above
):
    number = lines_above.count("\n") + 1
    path = file("t.csv", f"{lines_above}id,age,home town\n1,30,Rome\n2,40,Oslo\n")
    with pytest.raises(
        TableError, match=rf"no name for \d of 3 columns. Line {number} seems to have the names: delete"
    ):
        formats.read(path)


@pytest.mark.parametrize("header", [",,", "id,,", ",age,", ",age,town"])
def test_columns_without_a_name_are_read(file, header):
    path = file("t.csv", f"{header}\n1,30,Rome\n2,40,Oslo\n")
    assert formats.read(path).num_rows == 2


def test_the_error_about_a_title_without_delimiters_says_to_delete_it(file):
    path = file("t.csv", "Survey of 2025\nid,age,town\n1,30,Rome\n2,40,Oslo\n")
    with pytest.raises(TableError, match=r"the header has 1\..*delete a title above it"):
        formats.read(path)


def test_an_empty_file_is_rejected(file):
    with pytest.raises(TableError, match=r"'t.csv' is empty. Expected a line of column names"):
        formats.read(file("t.csv", ""))


def test_a_file_without_rows_is_rejected(file):
    with pytest.raises(TableError, match=r"'t.csv' has column names and no rows"):
        formats.read(file("t.csv", "a,b\n"))


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.csv.gz"])
def test_a_written_table_is_read_back_unchanged(tmp_path, name):
    table = pa.table({"a": [1, None, 3], "b": ["x, y", 'say "hi"', None], "c": [0.1, None, 1e-300]})
    formats.write(table, tmp_path / name)
    assert formats.read(tmp_path / name).equals(table)


def test_dictionaries_are_written_as_their_values(tmp_path):
    formats.write(pa.table({"a": pa.array(["x", "y"]).dictionary_encode()}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a\nx\ny\n"
