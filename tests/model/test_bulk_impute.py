"""Imputation shard by shard gives the same values on every engine, in memory and on disk."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddi.engine import Engine
from eddi.errors import ModelFileError
from eddi.model import bulk_impute
from eddi.model.bulk_impute import BulkImputation
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
def test_best_guesses_are_those_of_transform(path, table, model):
    (filled,) = BulkImputation(path).fill_table(table)
    assert filled.equals(model.transform(table))


@pytest.mark.usefixtures("small_shards")
def test_draws_are_the_same_in_this_process_and_in_other_processes(path, table):
    own, other = (
        BulkImputation(path, n_draws=2, seed=7, engine=Engine(name, 2)).fill_table(table)
        for name in ("this", "processes")
    )
    assert all(a.equals(b) for a, b in zip(own, other, strict=True))
    assert not own[0].equals(own[1])


def test_another_seed_gives_other_draws(path, table):
    first, second = (BulkImputation(path, n_draws=1, seed=seed).fill_table(table)[0] for seed in (0, 1))
    assert not first.equals(second)


def test_shards_have_different_draws(path, people, monkeypatch):
    row = (
        formats.read(people(1, seed=3))
        .drop_columns(["age"])
        .append_column("age", pa.nulls(1, pa.float64()))
    )
    monkeypatch.setattr(bulk_impute, "SHARD_CELLS", 8)
    ages = (
        BulkImputation(path, n_draws=1)
        .fill_table(pa.concat_tables([row] * 4))[0]
        .column("age")
        .to_pylist()
    )
    assert len(set(ages)) == 4


@pytest.mark.usefixtures("small_shards")
def test_a_file_is_filled_like_a_table_in_memory(path, table, tmp_path):
    table = table.drop_columns(["visits"]).append_column(
        "visits", table.column("visits").cast(pa.int32())
    )
    pq.write_table(table, tmp_path / "incomplete.parquet", row_group_size=33)
    out = tmp_path / "filled.parquet"
    BulkImputation(path).fill_file(ParquetStream(tmp_path / "incomplete.parquet"), [out])
    (in_memory,) = BulkImputation(path).fill_table(table)
    assert formats.read(out).equals(in_memory)
    assert ParquetStream(out).group_sizes == [50, 50, 20]


@pytest.mark.usefixtures("small_shards")
def test_a_missing_value_in_the_last_row_changes_the_type_of_the_whole_column(
    path, people, model, tmp_path
):
    table = formats.read(people(120, seed=5, missing=0.0))
    ages = [*map(int, table.column("age").to_pylist()[:-1]), None]
    table = table.set_column(1, "age", pa.array(ages, pa.int64()))
    pq.write_table(table, tmp_path / "incomplete.parquet")
    out = tmp_path / "filled.parquet"
    BulkImputation(path).fill_file(ParquetStream(tmp_path / "incomplete.parquet"), [out])
    assert formats.read(out).equals(model.transform(table))
    assert formats.read(out).schema.field("age").type == pa.float64()


@pytest.mark.usefixtures("small_shards")
def test_progress_counts_shards(path, table):
    calls = []
    BulkImputation(path, on_progress=lambda *call: calls.append(call)).fill_table(table)
    assert calls == [(1, 3), (2, 3), (3, 3)]


def test_a_missing_model_file_is_an_error(tmp_path, table):
    with pytest.raises(ModelFileError, match="no model file"):
        BulkImputation(tmp_path / "missing.eddi").fill_table(table)


def test_observed_values_do_not_change(path, table):
    (filled,) = BulkImputation(path).fill_table(table)
    before, after = (np.array(t.column("age").to_numpy()) for t in (table, filled))
    observed = ~np.isnan(before)
    np.testing.assert_array_equal(after[observed], before[observed])
    assert not np.isnan(after).any()
