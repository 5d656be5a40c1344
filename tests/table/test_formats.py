"""Tables of any format are read as Arrow tables and converted to their container."""

import subprocess
import sys

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import EddiWarning, MissingExtraError, TableError
from eddi.table import formats


def test_a_path_may_be_a_string(file):
    assert formats.read(str(file("people.csv", "age\n61\n5\n"))).num_rows == 2


def test_a_file_that_does_not_exist_is_rejected_by_name(tmp_path):
    with pytest.raises(TableError, match=r"there is no file '.*nowhere.csv'. Check the name"):
        formats.read(tmp_path / "nowhere.csv")


def test_a_folder_is_rejected(tmp_path):
    with pytest.raises(TableError, match=r"is a folder, not a table. Name a file: CSV"):
        formats.read(tmp_path)


def test_an_unknown_extension_is_rejected_with_a_list_of_formats(file):
    with pytest.raises(TableError, match=r"'t.docx' is not in a supported format. Expected CSV"):
        formats.read(file("t.docx", "x"))


def test_a_file_name_that_is_too_long_is_rejected_with_a_message():
    with pytest.raises(TableError, match="cannot read 'aaa"):
        formats.read("a" * 5000 + ".csv")


def test_a_parquet_file_is_read_without_the_pandas_index(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 9])).to_parquet(path)
    assert formats.read(path).to_pydict() == {"a": [1, 2]}


def test_folders_named_like_partitions_do_not_add_columns(tmp_path):
    path = tmp_path / "year=2020" / "t.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"a": [1]}), path)
    assert formats.read(path).column_names == ["a"]


def test_a_damaged_parquet_file_is_rejected(file):
    with pytest.raises(TableError, match=r"'t.parquet' is damaged or not a .parquet file"):
        formats.read(file("t.parquet", "nonsense"))


@pytest.fixture
def sheet(tmp_path):
    """A function that writes rows to an Excel file and returns its path."""

    def write(rows):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return write


def test_an_excel_sheet_is_read_with_its_missing_values(sheet):
    table = formats.read(sheet([["age", "name", "ok"], [61, "Ann", True], [None, "Bo", False]]))
    assert table.to_pydict() == {"age": [61.0, None], "name": ["Ann", "Bo"], "ok": [True, False]}


def test_an_excel_column_of_mixed_cells_becomes_text(sheet):
    table = formats.read(sheet([["code", "n"], [12, 1], ["A7", 2]]))
    assert table["code"].to_pylist() == ["12", "A7"]


def test_an_empty_excel_sheet_is_rejected(sheet):
    with pytest.raises(TableError, match=r"'t.xlsx' is empty"):
        formats.read(sheet([]))


def test_a_damaged_excel_file_is_rejected(file):
    with pytest.raises(TableError, match=r"'t.xlsx' cannot be read as Excel"):
        formats.read(file("t.xlsx", "nonsense"))


def test_reading_excel_without_the_extra_says_what_to_install(sheet, monkeypatch):
    path = sheet([["a"], [1]])
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"pip install eddi-ml\[excel\]"):
        formats.read(path)


def test_a_pandas_frame_is_read_without_its_index():
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", None]}, index=["p", "q"])
    assert formats.read(frame).to_pydict() == {"a": [1.5, None], "b": ["x", None]}


def test_pandas_labels_become_text():
    assert formats.read(pd.DataFrame([[1, 2]])).column_names == ["0", "1"]


def test_labels_of_a_multi_index_are_joined():
    frame = pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("blood", "ldl")]))
    assert formats.read(frame).column_names == ["blood ldl"]


def test_a_repeated_name_gets_a_number_with_a_warning():
    frame = pd.DataFrame([[1, 2, 3]], columns=["age", "age", "age (2)"])
    with pytest.warns(EddiWarning, match=r"two columns 'age'; the later one is now 'age \(3\)'"):
        table = formats.read(frame)
    assert table.column_names == ["age", "age (3)", "age (2)"]


def test_a_column_without_a_name_is_named_by_its_number(file):
    assert formats.read(file("t.csv", "a,,b\n1,2,3\n")).column_names == ["a", "Unnamed: 1", "b"]


@pytest.mark.parametrize("label", [None, np.nan, pd.NA, pd.NaT, ""])
def test_a_missing_label_is_replaced_by_the_name_that_pandas_gives(label):
    assert formats.read(pd.DataFrame([[1]], columns=[label])).column_names == ["Unnamed: 0"]


def test_a_pandas_column_of_mixed_types_becomes_text():
    frame = pd.DataFrame({"a": pd.Series([1, "x", None, 2.0, 2.5], dtype=object)})
    assert formats.read(frame)["a"].to_pylist() == ["1", "x", None, "2", "2.5"]


def test_pandas_booleans_with_missing_values_remain_booleans():
    values = pd.Series([True, None, False], dtype=object)
    frame = pd.DataFrame({"a": values, "b": values.astype("boolean")})
    assert formats.read(frame).to_pydict() == {"a": [True, None, False], "b": [True, None, False]}


def test_nullable_integers_with_missing_values_remain_integers():
    table = formats.read(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}))
    assert table["a"].type == pa.int64()


def test_an_ordered_categorical_keeps_its_order():
    values = pd.Categorical(["b", "a"], categories=["b", "a", "c"], ordered=True)
    column = formats.read(pd.DataFrame({"a": values}))["a"]
    assert column.type.ordered
    assert column.chunk(0).dictionary.to_pylist() == ["b", "a", "c"]


def test_categories_that_are_intervals_become_ordered_text():
    column = formats.read(pd.DataFrame({"a": pd.cut([1, 25], [0, 10, 20, 30])}))["a"]
    assert column.type.ordered
    assert column.chunk(0).dictionary.to_pylist() == ["(0, 10]", "(10, 20]", "(20, 30]"]


def test_numbers_too_large_for_arrow_become_text():
    table = formats.read(pd.DataFrame({"a": pd.Series([10**30, 1], dtype=object)}))
    assert table["a"].to_pylist() == [str(10**30), "1"]


def test_periods_become_text():
    frame = pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})
    assert formats.read(frame)["a"].to_pylist() == ["2020-01", "2020-02"]


def test_polars_frames_eager_and_lazy_are_read():
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "y"]})
    assert formats.read(frame).to_pydict() == formats.read(frame.lazy()).to_pydict()
    assert formats.read(frame)["a"].to_pylist() == [1, None]


def test_polars_categories_become_plain_strings():
    frame = pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Categorical), "b": ["x", "y"]})
    table = formats.read(frame)
    assert table["a"].type.value_type == table["b"].type == pa.large_string()


def test_arrow_tables_batches_and_streams_are_read():
    table = pa.table({"a": [1, 2]})
    batch = table.to_batches()[0]
    for source in (table, batch, table.to_reader()):
        assert formats.read(source).to_pydict() == {"a": [1, 2]}


def test_a_dict_of_columns_is_read():
    assert formats.read({"a": [1, None], "b": np.array([0.5, np.nan])}).to_pydict() == {
        "a": [1, None],
        "b": [0.5, None],
    }


def test_columns_of_different_lengths_are_rejected():
    with pytest.raises(TableError, match=r"different lengths: \[1, 2\]"):
        formats.read({"a": [1], "b": [1, 2]})


def test_a_single_value_is_not_a_column():
    with pytest.raises(TableError, match="the column 'a' must be a list or array, got 5"):
        formats.read({"a": 5})


def test_array_columns_are_named_x0_and_x1():
    table = formats.read(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert table.to_pydict() == {"x0": [1.0, 3.0], "x1": [None, 4.0]}


def test_masked_cells_of_an_array_are_missing():
    array = np.ma.masked_array([[1.0, 2.0]], mask=[[False, True]])
    assert formats.read(array).to_pydict() == {"x0": [1.0], "x1": [None]}


def test_an_array_of_objects_keeps_its_text():
    table = formats.read(np.array([["a", 1], [None, 2]], dtype=object))
    assert table.to_pydict() == {"x0": ["a", None], "x1": [1, 2]}


def test_a_structured_array_keeps_its_names():
    array = np.array([(1, 2.5)], dtype=[("age", int), ("ldl", float)])
    assert formats.read(array).to_pydict() == {"age": [1], "ldl": [2.5]}


def test_a_list_of_rows_is_read():
    assert formats.read([[1, "a"], [None, "b"]]).to_pydict() == {"x0": [1, None], "x1": ["a", "b"]}


def test_a_list_of_dicts_may_have_missing_keys():
    assert formats.read([{"a": 1}, {"b": 2}]).to_pydict() == {"a": [1, None], "b": [None, 2]}


def test_rows_of_different_lengths_are_rejected():
    with pytest.raises(TableError, match=r"rows have different lengths: \[1, 2\]"):
        formats.read([[1], [1, 2]])


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2))])
def test_an_array_must_have_two_dimensions(array):
    with pytest.raises(TableError, match=f"2 dimensions.*this array has {array.ndim}"):
        formats.read(array)


@pytest.mark.parametrize("source", [5, None, pd.Series([1.0])])
def test_an_object_that_is_not_a_table_is_rejected_by_its_type(source):
    with pytest.raises(TableError, match=f"a {type(source).__name__} is not a table"):
        formats.read(source)


def test_a_flat_list_is_rejected():
    with pytest.raises(TableError, match="a table needs rows and columns"):
        formats.read([1, 2, 3])


def test_excel_files_cannot_be_written(tmp_path):
    with pytest.raises(TableError, match=r"'t.xlsx': tables are written as .csv, .tsv or .parquet"):
        formats.write(pa.table({"a": [1]}), tmp_path / "t.xlsx")


def test_writing_to_a_folder_that_does_not_exist_is_rejected(tmp_path):
    with pytest.raises(TableError, match=r"cannot write '.*t.csv'"):
        formats.write(pa.table({"a": [1]}), tmp_path / "nowhere" / "t.csv")


def test_pandas_keeps_index_labels_and_dtypes():
    frame = pd.DataFrame(
        {
            0: np.array([1.5, 2.5], np.float32),
            1: np.array([1, 2], np.int16),
            2: pd.Categorical(["a", "b"], categories=["b", "a"], ordered=True),
            3: pd.array([True, None], dtype="boolean"),
            4: ["x", None],
            5: pd.Series([1, "x"], dtype=object),
        }
    ).set_index(pd.Index([7, 9], name="person"))
    pd.testing.assert_frame_equal(formats.convert_like(formats.read(frame), frame), frame)


def test_a_filled_pandas_column_keeps_its_dtype():
    frame = pd.DataFrame(
        {"a": np.array([1.5, np.nan], np.float32), "b": pd.Categorical(["y", None], ["x", "y"])}
    )
    converted = formats.convert_like(pa.table({"a": [1.5, 0.1], "b": ["y", "x"]}), frame)
    assert converted.dtypes.to_list() == frame.dtypes.to_list()
    assert converted["b"].to_list() == ["y", "x"]


def test_a_dtype_that_cannot_hold_the_values_is_replaced():
    frame = pd.DataFrame({"a": [1, 2], "b": pd.Categorical(["x", "y"])})
    converted = formats.convert_like(pa.table({"a": [1.5, 2.0], "b": ["x", "z"]}), frame)
    assert converted["a"].to_list() == [1.5, 2.0]
    assert converted["b"].to_list() == ["x", "z"]


def test_unchanged_cells_of_an_object_column_remain_the_same_objects():
    frame = pd.DataFrame({"a": pd.Series([True, None, "x", 2], dtype=object)})
    converted = formats.convert_like(pa.table({"a": ["True", "yes", "x", "2"]}), frame)
    assert converted["a"].to_list() == [True, "yes", "x", 2]


def test_repeated_pandas_labels_are_restored():
    frame = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    with pytest.warns(EddiWarning):
        table = formats.read(frame)
    pd.testing.assert_frame_equal(formats.convert_like(table, frame), frame)


def test_a_table_with_other_rows_and_columns_becomes_a_plain_frame():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["p", "q"])
    converted = formats.convert_like(pa.table({"a": [1.0], "sd": [0.5]}), frame)
    assert converted.to_dict("list") == {"a": [1.0], "sd": [0.5]}


def test_a_polars_frame_keeps_its_dtypes():
    frame = pl.DataFrame(
        {"a": [1, None], "b": ["x", None], "c": [0.5, None]},
        schema={"a": pl.Int16, "b": pl.Enum(["x", "y"]), "c": pl.Float32},
    )
    converted = formats.convert_like(pa.table({"a": [1, 2], "b": ["x", "y"], "c": [0.5, 0.1]}), frame)
    assert converted.schema == frame.schema
    assert converted["a"].to_list() == [1, 2]


def test_polars_integers_filled_with_fractions_become_floats():
    converted = formats.convert_like(pa.table({"a": [1.0, 2.5]}), pl.DataFrame({"a": [1, None]}))
    assert converted["a"].to_list() == [1.0, 2.5]


def test_a_lazy_frame_remains_lazy():
    frame = pl.LazyFrame({"a": [1]})
    assert formats.convert_like(formats.read(frame), frame).collect()["a"].to_list() == [1]


@pytest.mark.parametrize("original", [np.zeros((2, 2)), [[0, 0], [0, 0]]])
def test_arrays_and_lists_become_float_arrays(original):
    converted = formats.convert_like(pa.table({"x0": [1, None], "x1": [True, False]}), original)
    assert converted.dtype == np.float64
    np.testing.assert_array_equal(converted, [[1, 1], [np.nan, 0]])


def test_an_array_with_text_becomes_an_array_of_objects():
    converted = formats.convert_like(
        pa.table({"x0": ["a", None], "x1": [1, 2]}), np.empty((2, 2), object)
    )
    assert converted.tolist() == [["a", 1], [None, 2]]


def test_a_dict_becomes_a_dict():
    assert formats.convert_like(pa.table({"a": [1]}), {"a": [None]}) == {"a": [1]}


def test_for_a_path_the_result_is_an_arrow_table():
    table = pa.table({"a": [1]})
    assert formats.convert_like(table, "people.csv") is table


def test_reading_needs_neither_pandas_nor_polars_nor_torch():
    code = """if True:
        import sys

        class Absent:
            def find_spec(self, name, *_):
                if name in ("pandas", "polars", "torch"):
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Absent())
        from eddi.table import formats
        print(formats.read({'a': [1, None]}).to_pydict())
    """
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "{'a': [1, None]}"


@pytest.mark.parametrize("dtype", [">f8", ">i4", "float16", "uint64"])
def test_numbers_of_any_memory_layout_are_read(dtype):
    column = formats.read(pd.DataFrame({"age": np.array([61, 5], dtype=dtype)})).column("age")
    assert [float(cell) for cell in column.to_pylist()] == [61.0, 5.0]
