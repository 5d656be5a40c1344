"""A streamed Parquet file gives the same results as one read into memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import TableError
from eddi.table import formats, streaming
from eddi.table.columns import table_to_numbers
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream, iter_batches, open_table, open_writer


@pytest.fixture
def path(tmp_path, people):
    """The example people in a Parquet file with row groups of different sizes."""
    table = formats.read(people(230, seed=1))
    with pq.ParquetWriter(tmp_path / "people.parquet", table.schema) as writer:
        for start, stop in ((0, 100), (100, 103), (103, 230)):
            writer.write_table(table.slice(start, stop - start))
    return tmp_path / "people.parquet"


def test_batches_contain_the_rows_in_order_regardless_of_row_groups(path):
    table, batches = formats.read(path), list(ParquetStream(path).iter_batches(40))
    assert [batch.num_rows for batch in batches] == [40, 40, 40, 40, 40, 30]
    assert pa.concat_tables(batches).equals(table)


def test_a_single_row_group_can_be_read(path):
    (batch,) = ParquetStream(path).iter_batches(1_000, row_groups=[1])
    assert batch.equals(formats.read(path).slice(100, 3))


def test_the_size_comes_from_the_metadata(path):
    stream = ParquetStream(path)
    assert (stream.n_rows, stream.n_columns) == (230, 9)
    assert stream.group_sizes == [100, 3, 127]


def test_the_schema_is_that_of_the_table_in_memory(path, monkeypatch):
    whole = Schema.infer(path)
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 100)
    assert isinstance(open_table(path), ParquetStream)
    assert Schema.infer(path) == whole


def test_the_numbers_are_those_of_the_table_in_memory(path, people_schema, monkeypatch):
    monkeypatch.setattr(streaming, "CELLS_PER_BATCH", 300)
    batches = list(ParquetStream(path).iter_numbers(people_schema))
    assert len(batches) > 1
    whole = table_to_numbers(formats.read(path), people_schema)
    np.testing.assert_array_equal(np.concatenate(batches), whole)


def test_a_small_file_is_read_into_memory(path):
    assert isinstance(open_table(path), pa.Table)


def test_a_stored_pandas_index_is_not_a_column(tmp_path, people):
    people(10, seed=0).iloc[::2].to_parquet(tmp_path / "odd.parquet")
    assert ParquetStream(tmp_path / "odd.parquet").columns.names == list(people(1, seed=0).columns)


def test_repeated_column_names_are_rejected(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    pq.write_table(table, tmp_path / "repeated.parquet")
    with pytest.raises(TableError, match=r"two columns 'age'.*rename one of them"):
        _ = ParquetStream(tmp_path / "repeated.parquet").columns


def test_a_file_that_is_not_parquet_is_rejected(tmp_path):
    (tmp_path / "not.parquet").write_text("a,b\n")
    with pytest.raises(TableError, match="cannot read"):
        _ = ParquetStream(tmp_path / "not.parquet").n_rows


def test_columns_with_missing_values_are_known_from_the_metadata(path):
    assert ParquetStream(path).has_missing("age")
    assert not ParquetStream(path).has_missing("name")


def test_every_written_table_becomes_a_row_group(tmp_path):
    table = pa.table({"a": [1, 2, 3, 4, 5]})
    with open_writer(tmp_path / "out.parquet", table.schema) as writer:
        for batch in iter_batches(table, 2):
            writer.write(batch)
    assert ParquetStream(tmp_path / "out.parquet").group_sizes == [2, 2, 1]
    assert formats.read(tmp_path / "out.parquet").equals(table)


def test_an_interrupted_write_leaves_no_file(tmp_path):
    table = pa.table({"a": [1]})

    def fail():
        with open_writer(tmp_path / "out.parquet", table.schema) as writer:
            writer.write(table)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []
