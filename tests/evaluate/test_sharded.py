"""A table simulated in shards gives the curves of the whole, on every engine."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest

from eddi import simulate
from eddi.engine import Engine
from eddi.errors import StopError, TargetError
from eddi.evaluate import sharded
from eddi.evaluate.sharded import joined, simulate_shards
from eddi.evaluate.streaming_curves import Tally
from eddi.strategy import Random
from eddi.strategy.stopping import Stop
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
    monkeypatch.setattr(sharded, "SHARD_ROWS", 12)


def same(a, b, exact=True):
    for field in dataclasses.fields(a):
        one, other = getattr(a, field.name), getattr(b, field.name)
        if isinstance(one, np.ndarray) and not exact:
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
        elif isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
        else:
            assert one == other
    return True


@pytest.mark.parametrize("target", ["weight", "pain"])
def test_the_curves_are_those_of_all_rows_at_once(path, table, model, target):
    assert same(
        simulate_shards(path, table, target, max_steps=3),
        simulate(model, table, target, max_steps=3),
        exact=False,
    )


def test_other_processes_find_the_same_bits_even_in_a_random_order(path, table):
    here, there = (
        simulate_shards(path, table, "weight", strategy_of=Random, max_steps=2, engine=Engine(name, 2))
        for name in ("this", "processes")
    )
    assert same(here, there)


def test_shards_are_not_asked_in_the_same_random_order(path, people):
    rows = formats.read(people(24, seed=5, holes=0.0))
    order = simulate_shards(path, rows, "weight", strategy_of=Random, max_steps=1).order
    assert (order[:12] != order[12:]).any()


def test_rows_that_stopped_early_keep_their_last_prediction(model, people):
    parts = [
        simulate(model, people(4, seed=9), "weight", stop=Stop(after=after), max_steps=3)
        for after in (1, 3)
    ]
    both = joined(parts)
    assert (both.n_rows, both.n_steps) == (8, 3)
    assert (both.order[:4, 1:] == -1).all()
    np.testing.assert_array_equal(both.mean[:4, 1], both.mean[:4, 3])
    np.testing.assert_array_equal(both.mean[4:], parts[1].mean)


@pytest.mark.parametrize("target", ["weight", "pain", "town"])
def test_the_tally_of_a_file_says_what_the_curves_say(path, table, tmp_path, target):
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=7)
    tally = simulate_shards(path, ParquetStream(tmp_path / "people.parquet"), target, max_steps=3)
    curves = simulate_shards(path, table, target, max_steps=3)
    assert isinstance(tally, Tally)
    assert (tally.n_rows, tally.n_known) == (30, curves.known.sum())
    np.testing.assert_allclose(tally.rmse, curves.rmse)
    np.testing.assert_allclose(tally.nll, curves.nll)
    assert tally.auic == pytest.approx(curves.auic)
    np.testing.assert_allclose(tally.standard_error_of("rmse"), curves.standard_error_of("rmse"))
    if curves.accuracy is None:
        assert tally.accuracy is None
    else:
        np.testing.assert_allclose(tally.accuracy, curves.accuracy)
    counts = [(curves.order == place).sum(0) for place in range(len(curves.questions))]
    np.testing.assert_array_equal(tally.asked.T, counts)


def test_a_tallys_document_is_plain_json(path, table, tmp_path):
    import json

    pq.write_table(table, tmp_path / "people.parquet")
    tally = simulate_shards(path, ParquetStream(tmp_path / "people.parquet"), "pain", max_steps=1)
    document = json.loads(json.dumps(tally.to_document(), allow_nan=False))
    assert len(document["rmse"]) == 2
    assert set(document["standard_errors"]) == {"rmse", "draw_rmse", "nll", "accuracy", "brier"}


def test_rows_none_of_which_knows_the_target_are_refused(path, table, tmp_path):
    rows = table.drop_columns(["weight"])
    with pytest.raises(TargetError, match="no row of the table has a value of 'weight'"):
        simulate_shards(path, rows, "weight")
    pq.write_table(rows, tmp_path / "people.parquet")
    with pytest.raises(TargetError, match="no row of the table has a value of 'weight'"):
        simulate_shards(path, ParquetStream(tmp_path / "people.parquet"), "weight", max_steps=0)


def test_a_negative_number_of_steps_is_refused(path, table):
    with pytest.raises(StopError, match="got -1"):
        simulate_shards(path, table, "weight", max_steps=-1)


def test_progress_counts_shards(path, table):
    calls = []
    simulate_shards(path, table, "weight", max_steps=0, on_progress=lambda *call: calls.append(call))
    assert calls == [(1, 3), (2, 3), (3, 3)]
