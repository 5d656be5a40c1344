"""Holes filled shard by shard are filled the same on every engine, in memory and on disk."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.engine import Engine
from eddi.errors import ModelFileError
from eddi.model import bulk_impute
from eddi.model.bulk_impute import Filling
from eddi.table import formats
from eddi.table.streaming import ParquetStream


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "people.eddi")
    return tmp_path / "people.eddi"


@pytest.fixture
def table(people):
    return formats.read(people(120, seed=5))


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(bulk_impute, "SHARD_CELLS", 50 * 8)


@pytest.mark.usefixtures("small_shards")
def test_guesses_are_those_of_transform_whatever_the_shards(path, table, model):
    (filled,) = Filling(path).tables(table)
    assert filled.equals(model.transform(table))


@pytest.mark.usefixtures("small_shards")
def test_draws_are_the_same_in_this_process_and_in_others(path, table):
    here, there = (
        Filling(path, n_draws=2, seed=7, engine=Engine(name, 2)).tables(table)
        for name in ("this", "processes")
    )
    assert all(a.equals(b) for a, b in zip(here, there, strict=True))
    assert not here[0].equals(here[1])


def test_another_seed_draws_other_numbers(path, table):
    first, second = (Filling(path, n_draws=1, seed=seed).tables(table)[0] for seed in (0, 1))
    assert not first.equals(second)


def test_shards_do_not_repeat_each_others_draws(path, people, monkeypatch):
    one = (
        formats.read(people(1, seed=3))
        .drop_columns(["age"])
        .append_column("age", pa.nulls(1, pa.float64()))
    )
    monkeypatch.setattr(bulk_impute, "SHARD_CELLS", 8)
    ages = Filling(path, n_draws=1).tables(pa.concat_tables([one] * 4))[0].column("age").to_pylist()
    assert len(set(ages)) == 4


@pytest.mark.usefixtures("small_shards")
def test_a_file_is_filled_as_a_table_in_memory_is(path, table, tmp_path):
    table = table.drop_columns(["visits"]).append_column(
        "visits", table.column("visits").cast(pa.int32())
    )
    pq.write_table(table, tmp_path / "holes.parquet", row_group_size=33)
    out = tmp_path / "filled.parquet"
    Filling(path).files(ParquetStream(tmp_path / "holes.parquet"), [out])
    (whole,) = Filling(path).tables(table)
    assert formats.read(out).equals(whole)
    assert ParquetStream(out).group_sizes == [50, 50, 20]


@pytest.mark.usefixtures("small_shards")
def test_a_hole_in_a_late_row_decides_a_columns_type_in_all(path, people, model, tmp_path):
    table = formats.read(people(120, seed=5, holes=0.0))
    ages = [*map(int, table.column("age").to_pylist()[:-1]), None]
    table = table.set_column(1, "age", pa.array(ages, pa.int64()))
    pq.write_table(table, tmp_path / "holes.parquet")
    out = tmp_path / "filled.parquet"
    Filling(path).files(ParquetStream(tmp_path / "holes.parquet"), [out])
    assert formats.read(out).equals(model.transform(table))
    assert formats.read(out).schema.field("age").type == pa.float64()


@pytest.mark.usefixtures("small_shards")
def test_progress_counts_shards(path, table):
    calls = []
    Filling(path, on_progress=lambda *call: calls.append(call)).tables(table)
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_a_model_that_is_not_there_is_told(tmp_path, table):
    with pytest.raises(ModelFileError, match="no model file"):
        Filling(tmp_path / "nobody.eddi").tables(table)


def test_what_was_observed_is_untouched(path, table):
    (filled,) = Filling(path).tables(table)
    old, new = (np.array(each.column("age").to_numpy()) for each in (table, filled))
    known = ~np.isnan(old)
    np.testing.assert_array_equal(new[known], old[known])
    assert not np.isnan(new).any()
