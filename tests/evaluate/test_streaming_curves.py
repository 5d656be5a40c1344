"""Curves from running sums equal curves of all rows."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from eddi import Stop, simulate
from eddi.evaluate import sharded_simulation
from eddi.evaluate.curves import Curves
from eddi.evaluate.sharded_simulation import simulate_shards
from eddi.evaluate.streaming_curves import StreamingCurves
from eddi.table import formats
from eddi.table.streaming import ParquetStream


@pytest.fixture
def simulate_both(model, people, tmp_path, monkeypatch):
    """Simulate a table in memory, and the same table as a stream."""
    monkeypatch.setattr(sharded_simulation, "SHARD_ROWS", 12)
    model.save(tmp_path / "people.eddi")
    table = formats.read(people(30, seed=5))
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=7)
    stream = ParquetStream(tmp_path / "people.parquet")

    def run(target, max_steps):
        return tuple(
            simulate_shards(tmp_path / "people.eddi", source, target, max_steps=max_steps)
            for source in (table, stream)
        )

    return run


@pytest.mark.parametrize("target", ["weight", "pain", "town"])
def test_a_streamed_table_has_the_metrics_of_a_table_in_memory(simulate_both, target):
    curves, streaming = simulate_both(target, max_steps=3)
    assert isinstance(streaming, StreamingCurves)
    assert (streaming.n_rows, streaming.n_known) == (30, curves.known.sum())
    np.testing.assert_allclose(streaming.rmse, curves.rmse)
    np.testing.assert_allclose(streaming.nll, curves.nll)
    assert streaming.auic == pytest.approx(curves.auic)
    for metric in ("rmse", "nll"):
        error = curves.standard_error_of(metric)
        np.testing.assert_allclose(streaming.standard_error_of(metric), error)
    if curves.accuracy is None:
        assert streaming.accuracy is None
    else:
        np.testing.assert_allclose(streaming.accuracy, curves.accuracy)
    counts = [(curves.order == k).sum(0) for k in range(len(curves.questions))]
    np.testing.assert_array_equal(streaming.asked.T, counts)


def test_curves_of_different_lengths_add_up_as_if_they_were_concatenated(model, people):
    parts = [simulate(model, people(6, seed=9), "weight", stop=Stop(after=n)) for n in (1, 3)]
    whole = Curves.concatenate(parts)
    total = StreamingCurves.concatenate(StreamingCurves.from_curves(part) for part in parts)
    assert (total.n_rows, total.n_steps) == (12, 3)
    np.testing.assert_allclose(total.rmse, whole.rmse)
    np.testing.assert_allclose(total.standard_error_of("rmse"), whole.standard_error)
    np.testing.assert_array_equal(total.asked, whole.asked)


def test_a_single_row_has_a_standard_error_of_zero(curves_with_errors):
    streaming = StreamingCurves.from_curves(curves_with_errors([[2.0, 1.0]]))
    assert streaming.standard_error_of("rmse").tolist() == [0.0, 0.0]


def test_the_document_is_plain_json(simulate_both):
    _, streaming = simulate_both("pain", max_steps=1)
    document = json.loads(json.dumps(streaming.to_document(), allow_nan=False))
    metrics = {"rmse", "draw_rmse", "nll", "accuracy", "brier"}
    assert set(document) == metrics | {
        *("target", "unit", "questions", "n_rows", "n_known", "asked", "standard_errors", "auic"),
    }
    assert set(document["standard_errors"]) == metrics
    assert len(document["rmse"]) == 2
