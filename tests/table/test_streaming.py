"""A Parquet file that stays on disk says the same as one that is read whole."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.errors import TableError
from eddi.table import formats, streaming
from eddi.table.coding import Coding, Spread, logarithmic
from eddi.table.columns import table_numbers
from eddi.table.schema import Schema
from eddi.table.streaming import Stream, batches_of, opened, written


@pytest.fixture
def path(tmp_path, people):
    """People in a Parquet file of uneven row groups."""
    table = formats.read(people(230, seed=1))
    with pq.ParquetWriter(tmp_path / "people.parquet", table.schema) as writer:
        for start, stop in ((0, 100), (100, 103), (103, 230)):
            writer.write_table(table.slice(start, stop - start))
    return tmp_path / "people.parquet"


def test_its_batches_are_its_rows_in_order_whatever_its_row_groups(path):
    table, batches = formats.read(path), list(Stream(path).batches(40))
    assert [batch.num_rows for batch in batches] == [40, 40, 40, 40, 40, 30]
    assert pa.concat_tables(batches).equals(table)


def test_some_row_groups_can_be_read_alone(path):
    (batch,) = Stream(path).batches(1_000, groups=[1])
    assert batch.equals(formats.read(path).slice(100, 3))


def test_it_knows_its_size_without_being_read(path):
    file = Stream(path)
    assert (file.n_rows, file.n_columns, file.group_rows) == (230, 9, [100, 3, 127])


def test_its_schema_is_that_of_the_table_in_memory(path, monkeypatch):
    whole = Schema.infer(path)
    monkeypatch.setattr(streaming, "LARGE", 100)
    assert isinstance(opened(path), Stream)
    assert Schema.infer(path) == whole


@pytest.mark.parametrize("scaling", ["standard", "unit"])
def test_its_coding_is_that_of_the_table_in_memory_but_for_rounding(path, people_schema, scaling):
    whole = Coding.fit(people_schema, table_numbers(formats.read(path), people_schema), scaling)
    numbers = (table_numbers(batch, people_schema) for batch in Stream(path).batches(7))
    spread = Spread.of_batches(numbers, logarithmic(people_schema, scaling))
    parts = Coding.of(people_schema, spread, scaling)
    np.testing.assert_allclose(parts.shift, whole.shift, rtol=1e-12)
    np.testing.assert_allclose(parts.scale, whole.scale, rtol=1e-12)
    np.testing.assert_array_equal(parts.logarithmic, whole.logarithmic)


def test_a_batch_in_which_nothing_is_known_changes_no_spread():
    bends = np.zeros(2, dtype=bool)
    known = Spread.of(np.array([[1.0, 5.0], [3.0, 7.0]]), bends)
    nothing = Spread.of(np.full((3, 2), np.nan), bends)
    for both in (known.plus(nothing), nothing.plus(known)):
        for field in ("n", "mean", "sd", "low", "high"):
            np.testing.assert_array_equal(getattr(both, field), getattr(known, field))


def test_a_small_file_is_read_whole(path):
    assert isinstance(opened(path), pa.Table)


def test_the_index_of_a_pandas_frame_is_no_column(tmp_path, people):
    people(10, seed=0).iloc[::2].to_parquet(tmp_path / "odd.parquet")
    assert Stream(tmp_path / "odd.parquet").columns.names == list(people(1, seed=0).columns)


def test_two_columns_of_one_name_are_refused(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(TableError, match="two columns 'age'"):
        _ = Stream(tmp_path / "twice.parquet").columns


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "not.parquet").write_text("a,b\n")
    with pytest.raises(TableError, match="cannot read"):
        _ = Stream(tmp_path / "not.parquet").n_rows


def test_it_knows_which_columns_have_holes(path):
    assert Stream(path).has_holes("age")
    assert not Stream(path).has_holes("name")


def test_a_file_is_written_a_row_group_at_a_time(tmp_path):
    table = pa.table({"a": [1, 2, 3, 4, 5]})
    with written(tmp_path / "out.parquet", table.schema) as writer:
        for batch in batches_of(table, 2):
            writer.add(batch)
    assert Stream(tmp_path / "out.parquet").group_rows == [2, 2, 1]
    assert formats.read(tmp_path / "out.parquet").equals(table)


def test_a_file_whose_writing_fails_is_not_there(tmp_path):
    table = pa.table({"a": [1]})

    def fail():
        with written(tmp_path / "out.parquet", table.schema) as writer:
            writer.add(table)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []
