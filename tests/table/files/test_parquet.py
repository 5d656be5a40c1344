"""Parquet files are decoded up to a limit, and their text is checked."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import TableError
from eddi.table import formats
from eddi.table.files import parquet
from eddi.table.files.limits import ReadLimits


def repeat_text(path, n_rows, n_characters):
    """A file in which every row refers to one long text, which is stored once."""
    texts = pa.array(["x" * n_characters])
    column = pa.DictionaryArray.from_arrays(pa.array([0] * n_rows, pa.int32()), texts)
    pq.write_table(pa.table({"text": column}), path, compression="zstd", store_schema=False)


def test_a_long_text_repeated_in_every_row_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    repeat_text(path, 62_000, 100_000)
    assert path.stat().st_size < 2000
    with pytest.raises(
        TableError, match=r"'t.parquet' has \d+ bytes but unpacks to more than 1,073,741,824"
    ):
        formats.read(path)


def test_a_text_repeated_in_a_list_counts_every_time(tmp_path):
    path = tmp_path / "t.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 500, pa.int32()), pa.array(["x" * 10_000]))
    lists = pa.ListArray.from_arrays(pa.array([0, 250, 500], pa.int32()), texts)
    pq.write_table(pa.table({"lists": lists}), path, store_schema=False)
    with pytest.raises(TableError, match="unpacks to more than 1,000,000"):
        formats.read(path, limits=ReadLimits(max_bytes=1_000_000))


def test_values_that_decode_to_too_much_are_refused_by_their_declared_size(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": pa.array(range(300_000))}), path, use_dictionary=False)
    with pytest.raises(TableError, match="unpacks to more than 1,000,000"):
        formats.read(path, limits=ReadLimits(max_bytes=1_000_000))


def test_text_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    column = pa.array([b"fine", b"\xff\xfe", b"fine"]).view(pa.string())
    pq.write_table(pa.table({"a": column, "b": [1, 2, 3]}), path)
    with pytest.raises(TableError, match=r"'t.parquet' is damaged or not a .parquet file: .*UTF8"):
        formats.read(path)


def test_types_are_kept(tmp_path):
    table = pa.table(
        {
            "text": ["a", None, "a"],
            "large": pa.array(["a", "b", None], pa.large_string()),
            "category": pa.array(["x", "y", "x"]).dictionary_encode(),
            "lists": [["a", "b"], None, ["a"]],
            "records": [{"a": "x"}, None, {"a": "y"}],
            "bytes": [b"1", b"2", None],
            "number": [1, 2, 3],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    found = parquet.read(tmp_path / "t.parquet", ReadLimits())
    assert found.schema.types == table.schema.types
    assert found.to_pydict() == table.to_pydict()


def test_a_table_with_too_many_cells_is_refused_before_it_is_read(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="2 rows and 2 columns; at most 3 cells are read"):
        formats.read(tmp_path / "t.parquet", limits=ReadLimits(max_cells=3))


def test_a_file_without_rows_keeps_its_columns(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.string())}), tmp_path / "t.parquet")
    assert formats.read(tmp_path / "t.parquet").column_names == ["a"]
