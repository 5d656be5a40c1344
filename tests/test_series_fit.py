"""Fitting repeated measurements: rows of one person stay together."""

import numpy as np
import pytest

import eddi
from eddi.errors import TableError
from eddi.table.series.decision_rows import decision_rows


def test_a_model_is_fitted_to_decision_rows(series_model):
    assert series_model.n_rows_ == 150 * 3
    assert "pulse 1-4 h ago" in series_model.schema_.names


def test_held_out_rows_are_one_of_each_person(series_model):
    held_out = series_model.fitted().validation_rows
    assert len(held_out) == 15
    assert len(set(held_out.groups)) == 15


def test_predictions_of_a_series_are_those_of_its_decision_rows(series_model, series, series_schema):
    others = series(20, seed=1)
    rows = decision_rows(others, series_schema)
    of_series = series_model.predict(others, "ill")
    np.testing.assert_array_equal(
        of_series.probabilities, series_model.predict(rows, "ill").probabilities
    )
    without_target = rows.drop_columns(["ill"])
    np.testing.assert_array_equal(
        of_series.probabilities, series_model.predict(without_target, "ill").probabilities
    )
    is_ill = np.array(rows["ill"].to_pylist()) == "yes"
    assert of_series.probabilities[is_ill, 1].mean() > of_series.probabilities[~is_ill, 1].mean() + 0.3


def test_a_model_of_series_survives_a_file(series_model, series, tmp_path):
    series_model.save(tmp_path / "series.eddi")
    loaded = eddi.load(tmp_path / "series.eddi")
    assert loaded.schema_ == series_model.schema_
    expected, found = (model.predict(series(5, seed=2), "ill") for model in (series_model, loaded))
    np.testing.assert_array_equal(found.probabilities, expected.probabilities)


def test_a_series_needs_a_schema_with_time(series):
    with pytest.raises(TableError, match=r"a Series needs a schema with a section \[time\]"):
        eddi.PartialVAE().fit(series(5, seed=0))
