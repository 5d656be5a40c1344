"""Sensitivity to values missing not at random."""

from typing import Any

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate.sensitivity import _tilt, analyse_sensitivity, find_variables
from eddi.partial_vae import PartialVAE


def test_tilting_a_normal_distribution_shifts_it_by_delta() -> None:
    draws = np.random.default_rng(0).normal(size=(200_000, 1))
    weights = _tilt(draws, 0.5)
    assert (weights * draws).sum() == pytest.approx(0.5, abs=0.02)
    assert (weights * (draws - 0.5) ** 2).sum() == pytest.approx(1.0, abs=0.03)


def test_higher_missing_values_change_the_prediction(model: PartialVAE, people: Any) -> None:
    table = people(60, seed=5, missing=0.3)
    result = analyse_sensitivity(model, table, "pain", target="age", n_draws=16)
    assert (np.diff(result.values) > 0).all()
    assert (np.diff(result.mean_predictions) > 0).all()  # pain and age rise together
    assert result.predictions.shape == (5, table["pain"].isna().sum())
    assert result.max_changes[2] == 0
    assert result.max_changes[0] > 0


def test_the_target_with_levels_has_a_probability(model: PartialVAE, people: Any) -> None:
    table = people(30, seed=5, missing=0.3)
    result = analyse_sensitivity(model, table, "age", target="smoker", deltas=(0, 1), n_draws=8)
    assert ((result.predictions >= 0) & (result.predictions <= 1)).all()


def test_a_complete_column_needs_no_assumption(model: PartialVAE, people: Any) -> None:
    with pytest.raises(EvaluationError, match="every row has a value of 'age'"):
        analyse_sensitivity(model, people(10, seed=5, missing=0.0), "age", target="smoker")


def test_levels_without_an_order_are_refused(model: PartialVAE, people: Any) -> None:
    with pytest.raises(EvaluationError, match="the levels of 'colour' have no order"):
        analyse_sensitivity(model, people(10, seed=5), "colour", target="age")


def test_the_target_itself_is_refused(model: PartialVAE, people: Any) -> None:
    with pytest.raises(EvaluationError, match="'age' is the target"):
        analyse_sensitivity(model, people(10, seed=5), "age", target="age")


def test_variables_with_missing_values_and_an_order_are_found(model: PartialVAE, people: Any) -> None:
    table = people(40, seed=5, missing=0.3)
    table["weight"] = table["weight"].fillna(70.0)
    found = find_variables(model, table, target="age")
    assert "pain" in found
    assert not {"age", "colour", "weight"} & set(found)


def test_the_result_is_summarized_in_words(model: PartialVAE, people: Any) -> None:
    table = people(40, seed=5, missing=0.3)
    result = analyse_sensitivity(model, table, "pain", target="age", deltas=(0, 2), n_draws=4)
    n_missing = table["pain"].isna().sum()
    assert f"pain: {n_missing} rows have no value. Their mean prediction of age is" in result.summarize()
    assert "differ by up to 2 standard deviations" in result.summarize()
    assert result.to_document()["n_rows"] == n_missing
