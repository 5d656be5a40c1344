"""Windows over a file show every row in turn, the same ones whenever they are asked."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.errors import TableError
from eddi.model.recipe import PAPER
from eddi.model.training import loop, streaming
from eddi.model.training.streaming import Windows
from eddi.table import formats
from eddi.table import streaming as stream_module
from eddi.table.coding import Coding
from eddi.table.streaming import ParquetStream

SCHEMA = Schema((Variable("place", "real"), Variable("twice", "real")))
PLAIN = Coding(np.zeros(2), np.ones(2), np.zeros(2, dtype=bool))


@pytest.fixture
def stream(tmp_path):
    """A hundred rows that say where they stand, in row groups of ten."""
    places = np.arange(100.0)
    table = pa.table({"place": places, "twice": 2 * places, "more": ["x"] * 100})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=10)
    return ParquetStream(tmp_path / "rows.parquet")


def places(evidence):
    return evidence.values[:, 0].astype(int).tolist()


def flat(lists):
    return [one for some in lists for one in some]


def of(stream, n_held_out=0, seed=0):
    return Windows.of(stream, SCHEMA, PLAIN, n_held_out=n_held_out, seed=seed)


def test_windows_show_all_rows_before_any_comes_again(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 20)
    seen = [places(of(stream).window(number)) for number in range(5)]
    assert all(len(window) == 20 for window in seen)
    assert sorted(flat(seen)) == list(range(100))
    assert flat(seen) != list(range(100))


def test_the_next_time_round_the_order_is_another(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 20)
    first, second = ([places(of(stream).window(k)) for k in range(s, s + 5)] for s in (0, 5))
    assert sorted(flat(second)) == list(range(100))
    assert first != second


def test_a_window_is_the_same_whoever_asks_and_whenever(stream):
    assert places(of(stream).window(3)) == places(of(stream).window(3))
    assert places(of(stream, seed=1).window(3)) != places(of(stream).window(3))


def test_rows_held_out_are_in_no_window(stream):
    some = of(stream, n_held_out=12)
    held_out = places(some.validation())
    assert len(set(held_out)) == 12
    assert sorted(held_out + places(some.window(0))) == list(range(100))


def test_of_a_group_larger_than_a_window_some_rows_are_shown(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 4)
    shown = [places(of(stream).window(number)) for number in range(20)]
    assert all(len(set(window)) == 4 for window in shown)
    assert len(set(flat(shown))) > 40


def test_both_columns_stay_together(stream):
    values = of(stream).window(0).values
    np.testing.assert_array_equal(values[:, 1], 2 * values[:, 0])


@pytest.fixture
def people_file(tmp_path, people):
    pq.write_table(formats.read(people(600, seed=0)), tmp_path / "people.parquet", row_group_size=60)
    return tmp_path / "people.parquet"


def fit(source, people_schema, **settings):
    small = replace(PAPER, validation=0.1, patience=20)
    return PartialVAE(people_schema, recipe=small, random_state=0, **settings).fit(source)


def test_a_model_fitted_to_a_file_predicts_like_one_fitted_in_memory(
    people_file, people, people_schema, monkeypatch
):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 150 * 8)  # two row groups at a time
    monkeypatch.setattr(loop, "ROUNDS_A_WINDOW", 1)
    streamed = fit(ParquetStream(people_file), people_schema, max_steps=400)
    whole = fit(people_file, people_schema, max_steps=400)
    fresh = fit(people_file, people_schema, max_steps=1)
    held_out = people(200, seed=1)
    assert streamed.n_rows_ == 600
    assert streamed.columns_ == whole.columns_
    gained = whole.score(held_out) - fresh.score(held_out)
    assert streamed.score(held_out) == pytest.approx(whole.score(held_out), abs=0.2 * gained)
    np.testing.assert_allclose(streamed.coding_.scale, whole.coding_.scale)


def test_a_streamed_fit_that_is_taken_up_again_ends_with_the_same_bits(
    people_file, people_schema, tmp_path, monkeypatch
):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 150 * 8)
    monkeypatch.setattr(loop, "ROUNDS_A_WINDOW", 1)

    def stop(progress):
        if progress.step == 200:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "SECONDS_BETWEEN_SAVES", 0.0)
    with pytest.raises(KeyboardInterrupt):
        fit(
            ParquetStream(people_file),
            people_schema,
            max_steps=300,
            checkpoint=tmp_path / "c",
            on_progress=stop,
        )
    resumed = fit(ParquetStream(people_file), people_schema, max_steps=300, checkpoint=tmp_path / "c")
    at_once = fit(ParquetStream(people_file), people_schema, max_steps=300)
    ours, theirs = (model.network_.state_dict() for model in (resumed, at_once))
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_large_file_is_streamed_by_itself(people_file, people_schema, monkeypatch):
    monkeypatch.setattr(stream_module, "MAX_CELLS_IN_MEMORY", 1_000)
    seen, window = [], Windows.window

    def watched(self, number):
        seen.append(number)
        return window(self, number)

    monkeypatch.setattr(Windows, "window", watched)
    fit(people_file, people_schema, max_steps=5)
    assert seen == [0]


def test_a_file_in_which_a_variable_is_never_known_is_refused(tmp_path, people, people_schema):
    table = people(20, seed=0)
    table["weight"] = np.nan
    pq.write_table(formats.read(table), tmp_path / "people.parquet")
    with pytest.raises(TableError, match="no value of 'weight' was ever observed"):
        fit(ParquetStream(tmp_path / "people.parquet"), people_schema, max_steps=1)
