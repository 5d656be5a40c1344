"""A simulation in shards equals a simulation of the whole table, on every engine."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest

from eddi import simulate
from eddi.engine import Engine
from eddi.errors import StopError, TargetError
from eddi.evaluate import sharded_simulation
from eddi.evaluate.sharded_simulation import simulate_shards
from eddi.strategy import Random
from eddi.table import formats
from eddi.table.streaming import ParquetStream


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "people.eddi")
    return tmp_path / "people.eddi"


@pytest.fixture
def table(people):
    return formats.read(people(30, seed=5))


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(sharded_simulation, "SHARD_ROWS", 12)


def assert_equal_curves(a, b, *, rtol=0.0, atol=0.0):
    for field in dataclasses.fields(a):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_allclose(left, right, rtol=rtol, atol=atol)
        else:
            assert left == right


@pytest.mark.parametrize("target", ["weight", "pain"])
def test_shards_give_the_curves_of_the_whole_table(path, table, model, target):
    shards = simulate_shards(path, table, target, max_steps=3)
    assert_equal_curves(shards, simulate(model, table, target, max_steps=3), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_another_process_gives_identical_results_even_in_random_order(path, table):
    this, other = (
        simulate_shards(path, table, "weight", make_strategy=Random, max_steps=2, engine=Engine(name, 1))
        for name in ("this", "processes")
    )
    assert_equal_curves(this, other)


def test_every_shard_has_a_random_order_of_its_own(path, people):
    rows = formats.read(people(24, seed=5, missing=0.0))
    order = simulate_shards(path, rows, "weight", make_strategy=Random, max_steps=1).order
    assert (order[:12] != order[12:]).any()


def test_rows_without_a_target_value_are_an_error(path, table, tmp_path):
    rows = table.drop_columns(["weight"])
    with pytest.raises(TargetError, match="no row of the table has a value of 'weight'"):
        simulate_shards(path, rows, "weight")
    pq.write_table(rows, tmp_path / "people.parquet")
    with pytest.raises(TargetError, match="no row of the table has a value of 'weight'"):
        simulate_shards(path, ParquetStream(tmp_path / "people.parquet"), "weight", max_steps=0)


def test_a_negative_number_of_steps_is_an_error(path, table):
    with pytest.raises(StopError, match="got -1"):
        simulate_shards(path, table, "weight", max_steps=-1)


def test_progress_counts_shards(path, table):
    calls = []
    simulate_shards(path, table, "weight", max_steps=0, on_progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]
