"""Streamed training rows: windows cover every row, and depend on the seed alone."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.errors import TableError
from eddi.model.recipe import PAPER
from eddi.model.training import batches, loop, streaming
from eddi.model.training.streaming import StreamedEvidence
from eddi.table import formats
from eddi.table import streaming as table_streaming
from eddi.table.coding import Coding
from eddi.table.streaming import ParquetStream

SCHEMA = Schema((Variable("place", "real"), Variable("twice", "real")))
IDENTITY_CODING = Coding(np.zeros(2), np.ones(2), np.zeros(2, dtype=bool))
ALL_PLACES = list(range(100))


@pytest.fixture
def stream(tmp_path):
    """A hundred rows with their position and twice their position, in row groups of ten."""
    places = np.arange(100.0)
    table = pa.table({"place": places, "twice": 2 * places, "more": ["x"] * 100})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=10)
    return ParquetStream(tmp_path / "rows.parquet")


def split(stream, n_held_out=0, seed=0):
    return StreamedEvidence.split(stream, SCHEMA, IDENTITY_CODING, n_held_out=n_held_out, seed=seed)


def places(evidence):
    return evidence.values[:, 0].astype(int).tolist()


def window_places(stream, numbers):
    """The positions of the rows of each window."""
    return [places(split(stream).window(number)) for number in numbers]


def flatten(lists):
    return list(chain.from_iterable(lists))


def test_windows_cover_all_rows_before_any_repeats(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 20)
    windows = window_places(stream, range(5))
    assert all(len(window) == 20 for window in windows)
    assert sorted(flatten(windows)) == ALL_PLACES
    assert flatten(windows) != ALL_PLACES


def test_each_epoch_has_another_order(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 20)
    first, second = (window_places(stream, range(start, start + 5)) for start in (0, 5))
    assert sorted(flatten(second)) == ALL_PLACES
    assert first != second


def test_a_window_depends_on_the_seed_and_its_number_alone(stream):
    assert places(split(stream).window(3)) == places(split(stream).window(3))
    assert places(split(stream, seed=1).window(3)) != places(split(stream).window(3))


def test_held_out_rows_are_in_no_window(stream):
    rows = split(stream, n_held_out=12)
    held_out = places(rows.validation())
    assert len(set(held_out)) == 12
    assert sorted(held_out + places(rows.window(0))) == ALL_PLACES


def test_a_row_group_larger_than_a_window_is_sampled(stream, monkeypatch):
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 2 * 4)
    windows = window_places(stream, range(20))
    assert all(len(set(window)) == 4 for window in windows)
    assert len(set(flatten(windows))) > 40


def test_the_values_of_a_row_stay_in_the_same_row(stream):
    values = split(stream).window(0).values
    np.testing.assert_array_equal(values[:, 1], 2 * values[:, 0])


@pytest.fixture
def people_file(tmp_path, people):
    pq.write_table(formats.read(people(600, seed=0)), tmp_path / "people.parquet", row_group_size=60)
    return tmp_path / "people.parquet"


@pytest.fixture
def small_windows(monkeypatch):
    """Two row groups at a time, and other rows after every round."""
    monkeypatch.setattr(streaming, "WINDOW_CELLS", 150 * 8)
    monkeypatch.setattr(batches, "WINDOW_ROUNDS", 1)


def fit(source, people_schema, **settings):
    recipe = replace(PAPER, validation=0.1, patience=20)
    return PartialVAE(people_schema, recipe=recipe, random_state=0, **settings).fit(source)


@pytest.mark.usefixtures("small_windows")
def test_a_model_fitted_to_a_stream_predicts_like_one_fitted_in_memory(
    people_file, people, people_schema
):
    streamed = fit(ParquetStream(people_file), people_schema, max_steps=400)
    in_memory = fit(people_file, people_schema, max_steps=400)
    untrained = fit(people_file, people_schema, max_steps=1)
    held_out = people(200, seed=1)
    assert streamed.n_rows_ == 600
    assert streamed.fitted().training.columns == in_memory.fitted().training.columns
    improvement = in_memory.score(held_out) - untrained.score(held_out)
    assert streamed.score(held_out) == pytest.approx(in_memory.score(held_out), abs=0.2 * improvement)
    np.testing.assert_allclose(streamed.coding_.scale, in_memory.coding_.scale)


@pytest.mark.usefixtures("small_windows")
def test_a_resumed_streamed_fit_ends_with_identical_weights(
    people_file, people_schema, tmp_path, monkeypatch
):
    def interrupt(progress):
        if progress.step == 200:
            raise KeyboardInterrupt

    def fit_stream(**settings):
        return fit(ParquetStream(people_file), people_schema, max_steps=300, **settings)

    monkeypatch.setattr(loop, "SECONDS_BETWEEN_SAVES", 0.0)
    with pytest.raises(KeyboardInterrupt):
        fit_stream(checkpoint=tmp_path / "run", on_progress=interrupt)
    resumed, uninterrupted = fit_stream(checkpoint=tmp_path / "run"), fit_stream()
    ours, theirs = (model.network_.state_dict() for model in (resumed, uninterrupted))
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_a_large_file_is_streamed_automatically(people_file, people_schema, monkeypatch):
    monkeypatch.setattr(table_streaming, "MAX_CELLS_IN_MEMORY", 1_000)
    numbers, window = [], StreamedEvidence.window

    def record_window(self, number):
        numbers.append(number)
        return window(self, number)

    monkeypatch.setattr(StreamedEvidence, "window", record_window)
    fit(people_file, people_schema, max_steps=5)
    assert numbers == [0]


def test_a_stream_with_a_variable_that_is_never_observed_is_refused(tmp_path, people, people_schema):
    table = people(20, seed=0)
    table["weight"] = np.nan
    pq.write_table(formats.read(table), tmp_path / "people.parquet")
    with pytest.raises(TableError, match="'weight' has no observed value"):
        fit(ParquetStream(tmp_path / "people.parquet"), people_schema, max_steps=1)
