"""Predictions in the units and levels of the table."""

import numpy as np
import pytest

from eddi import Variable
from eddi.model.prediction import Prediction, Predictions

AGE = Prediction(
    Variable("age", "real"),
    mean=np.array([40.0, 50.0]),
    sd=np.array([5.0, 6.0]),
    interval=np.array([[30.0, 50.0], [41.0, 59.0]]),
)
TOWN = Prediction(
    Variable("town", "category", levels=("Aber", "Bala", "Conwy")),
    mean=np.full(2, np.nan),
    sd=np.full(2, np.nan),
    interval=np.full((2, 2), np.nan),
    probabilities=np.array([[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]]),
)


def test_the_best_guess_of_a_quantity_is_its_mean():
    assert AGE.value.tolist() == [40.0, 50.0]


def test_the_best_guess_of_levels_is_the_most_likely_level():
    assert TOWN.value.tolist() == ["Bala", "Aber"]


def test_levels_keep_their_type():
    probabilities = np.array([[0.1, 0.9]])
    zero = np.zeros(1)
    for levels, best in [((False, True), True), ((1, 2), 2), (("a", 1), 1)]:
        variable = Variable("v", "category", levels=levels)
        found = Prediction(variable, zero, zero, zero, probabilities).value[0]
        assert found == best
        assert isinstance(found.item() if hasattr(found, "item") else found, type(best))


def test_one_row_of_a_prediction_is_a_prediction():
    row = TOWN[1]
    assert row.value == "Aber"
    assert row.probabilities.tolist() == [0.7, 0.2, 0.1]
    assert AGE[0].interval.tolist() == [30.0, 50.0]
    assert AGE[0].sd == 5.0


def test_a_prediction_has_the_length_and_shape_of_its_rows():
    assert len(AGE) == 2
    assert AGE.shape == (2,)
    assert AGE[[1, 0, 1]].shape == (3,)


def test_a_prediction_as_an_array_has_the_best_guesses():
    assert np.asarray(AGE).tolist() == [40.0, 50.0]
    assert np.asarray(AGE, dtype=np.float32).dtype == np.float32
    assert np.asarray(TOWN).tolist() == ["Bala", "Aber"]


def test_changing_the_array_does_not_change_the_prediction():
    np.array(AGE)[0] = 0
    assert AGE.mean[0] == 40.0


def test_predictions_are_found_by_name_in_order():
    both = Predictions({"age": AGE, "town": TOWN})
    assert list(both) == ["age", "town"]
    assert both["town"] is TOWN
    assert len(both) == 2
    with pytest.raises(KeyError, match="risk"):
        both["risk"]


def test_numbers_next_to_text_stay_numbers_in_an_array():
    both = np.asarray(Predictions({"age": AGE, "town": TOWN}))
    assert both.tolist() == [[40.0, "Bala"], [50.0, "Aber"]]


def test_numbers_alone_are_floats_in_an_array():
    assert np.asarray(Predictions({"a": AGE, "b": AGE})).dtype == np.float64
