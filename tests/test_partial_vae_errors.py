"""Invalid input raises an error that says what to do; unusual but valid input works."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from eddi import PartialVAE, Schema, Variable
from eddi.errors import EddiWarning, SchemaError, TableError, TargetError, TrainingError
from eddi.model.recipe import DEFAULT
from eddi.model.training import calibration


def fit(table, **settings):
    return PartialVAE(**{"max_steps": 20, "random_state": 0, **settings}).fit(table)


def frame(n_rows=30, names="ab"):
    return pd.DataFrame(np.random.default_rng(0).random((n_rows, len(names))), columns=list(names))


REALS = Schema((Variable("a", "real"), Variable("b", "real")))


def test_a_table_without_columns_is_refused():
    with pytest.raises(TableError, match=r"the table has no columns. Pass a table with at least one"):
        fit(pd.DataFrame())


def test_a_table_without_rows_is_refused():
    with pytest.raises(TableError, match="the table has no rows"):
        fit(frame(0))
    with pytest.raises(
        TableError, match=r"a table with no rows has no variation to learn from. Give at"
    ):
        fit(frame(0), schema=REALS)


def test_an_array_without_rows_raises_the_error_of_scikit_learn():
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        fit(np.zeros((0, 3)))


def test_one_row_is_refused():
    with pytest.raises(TableError, match=r"the table has one row.*Give it more rows"):
        fit(frame(1))
    with pytest.raises(
        TableError, match=r"a table with one row has no variation to learn from. Give at"
    ):
        fit(frame(1), schema=REALS)


def test_two_rows_are_enough_to_train():
    assert np.isfinite(fit(frame(2), schema=REALS).predict(frame(2), "a").mean).all()


@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
def test_one_column_is_enough_to_train(set_encoder):
    model = fit(frame(60, "a"), set_encoder=set_encoder)
    prediction = model.predict(frame(5, "a"), "a")
    assert np.isfinite(prediction.mean).all()
    assert np.ptp(prediction.mean) < 1e-6  # rows differ by rounding alone


def test_a_table_without_any_observed_value_is_refused():
    empty = pd.DataFrame({"a": [np.nan] * 9, "b": [np.nan] * 9})
    with pytest.raises(TableError, match=r"nothing is left to model.*'a': every value is missing"):
        fit(empty)
    with pytest.raises(
        TableError, match="every cell of the table is missing; there is nothing to learn"
    ):
        fit(empty, schema=REALS)


def test_a_column_without_any_observed_value_is_named():
    with pytest.raises(TableError, match=r"'b' has no observed value. Exclude the variable"):
        fit(frame().assign(b=np.nan), schema=REALS)


def test_a_row_without_any_observed_value_is_filled():
    table = frame()
    table.loc[3] = np.nan
    assert not fit(table).transform(table).isna().any().any()


@pytest.mark.parametrize("schema", [None, REALS])
def test_an_infinite_value_is_refused_with_the_name_of_its_column(schema):
    table = frame()
    table.loc[3, "b"] = np.inf
    with pytest.raises(TableError, match=r"'b' holds an infinite value; numbers must be finite"):
        fit(table, schema=schema)


def test_an_infinite_value_in_an_array_raises_the_error_of_scikit_learn():
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fit(np.array([[1.0, np.inf], [2.0, 3.0]]))


def test_an_infinite_value_is_refused_after_training_as_well():
    table = frame()
    model = fit(table)
    table.loc[0, "a"] = -np.inf
    with pytest.raises(TableError, match="'a' holds an infinite value"):
        model.transform(table)


def test_text_among_numbers_is_refused_with_the_text():
    table = frame().astype(object)
    table.loc[3, "a"] = "plenty"
    with pytest.raises(TableError, match=r"'a' is real and must hold numbers, got 'plenty'.*a category"):
        fit(table, schema=REALS)


def test_a_column_of_mixed_types_has_levels():
    table = frame().assign(mixed=[1, "two", 3.5] * 10)
    model = fit(table)
    assert model.schema_["mixed"].levels == ("1", "3.5", "two")
    assert not model.transform(table.assign(a=np.nan)).isna().any().any()


def test_an_array_of_text_is_refused_with_the_text():
    with pytest.raises(ValueError, match="could not convert string to float: 'red'"):
        fit(np.array([["red", "1"], ["blue", "2"]] * 5, dtype=object))


def test_a_level_that_training_did_not_see_is_not_observed_and_stays_in_the_table():
    table = frame().assign(town=["Aber", "Bala", "Conwy"] * 10)
    model = fit(table)
    table.loc[4, ["town", "a"]] = "Denbigh", np.nan
    with pytest.warns(EddiWarning, match=r"1 unknown value is treated.*\('town' 1: 'Denbigh'\)"):
        filled = model.transform(table)
    assert filled.loc[4, "town"] == "Denbigh"
    assert (
        filled.loc[4, "a"] == model.transform(table.assign(town=table.town.where(table.index != 4))).a[4]
    )


def test_a_strict_model_refuses_a_level_that_training_did_not_see():
    table = frame().assign(town=["Aber", "Bala", "Conwy"] * 10)
    model = fit(table, unknown="error")
    table.loc[4, "town"] = "Denbigh"
    with pytest.raises(TableError, match=r"'town' has the level 'Denbigh'.*levels: Aber, Bala, Conwy"):
        model.transform(table)


def test_an_unknown_rule_for_unknown_values_is_refused():
    model = fit(frame(), unknown="keep")
    with pytest.raises(TableError, match="unknown must be 'ignore' or 'error', got 'keep'"):
        model.transform(frame())


def test_a_count_that_is_not_whole_is_refused():
    schema = Schema((Variable("a", "count"), Variable("b", "real")))
    with pytest.raises(TableError, match="'a' is count and must hold whole numbers from 0 up, got 0"):
        fit(frame(), schema=schema)


@pytest.mark.parametrize("schema", [None, REALS])
def test_a_target_that_is_not_in_the_table_is_refused_by_fit(schema):
    with pytest.raises(TargetError, match=r"the target 'risk' is not a (column|variable).*'a', 'b'"):
        fit(frame(), target="risk", schema=schema)


def test_a_target_that_is_not_in_the_table_is_refused_by_predict():
    with pytest.raises(TargetError, match="the target 'risk' is not a variable of this schema"):
        fit(frame()).predict(frame(), "risk")


def test_a_constant_target_is_refused_with_the_reason():
    with pytest.raises(TargetError, match=r"the target 'b' cannot be modelled: constant"):
        fit(frame().assign(b=1.0), target="b")


def test_the_schema_of_another_table_is_refused():
    with pytest.raises(TableError, match=r"no column 'a', 'b'.*Is this the wrong schema for the table"):
        fit(frame(names="xy"), schema=REALS)


def test_an_unknown_recipe_is_refused():
    with pytest.raises(SchemaError, match=r"recipe must be one of 'default', 'paper'.*got 'soup'"):
        fit(frame(), recipe="soup")


def test_an_unknown_set_encoder_is_refused():
    with pytest.raises(
        SchemaError, match="set_encoder must be one of 'zi', 'zi-m', 'pn', 'pnp', 'precision', got 'rnn'"
    ):
        fit(frame(), set_encoder="rnn")


def test_an_unknown_device_is_refused():
    with pytest.raises(TrainingError, match="device 'quantum' is not available on this machine"):
        fit(frame(), device="quantum")


@pytest.mark.parametrize("max_steps", [0, -3])
def test_fewer_than_one_step_is_refused(max_steps):
    with pytest.raises(TrainingError, match=f"max_steps must be at least 1, got {max_steps}"):
        fit(frame(), max_steps=max_steps)


@pytest.mark.parametrize("method", ["transform", "impute", "predict", "score", "evidence"])
def test_a_model_that_was_not_fitted_raises_the_error_of_scikit_learn(method):
    with pytest.raises(NotFittedError, match="This PartialVAE instance is not fitted yet"):
        getattr(PartialVAE(), method)(frame())


def test_a_model_that_was_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        PartialVAE().save(tmp_path / "nothing.eddi")
    assert not list(tmp_path.iterdir())


def test_an_object_that_is_not_a_table_is_refused():
    with pytest.raises(TableError, match=r"there is no file 'people\.csv'"):
        fit("people.csv")
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fit(np.arange(5.0))


def test_sparse_matrices_raise_the_error_of_scikit_learn():
    from scipy.sparse import csr_array, dok_array

    for array_class in (csr_array, dok_array):
        with pytest.raises(TypeError, match="dense data is required"):
            fit(array_class(np.eye(4)))


def test_a_variable_that_hardly_varies_can_be_predicted():
    table = frame().assign(b=1e9 + np.arange(30) * 1e-3)
    prediction = fit(table, schema=REALS).predict(table, "b")
    assert np.isfinite(prediction.mean).all()
    assert np.abs(prediction.mean - 1e9).max() < 10


def test_an_extreme_outlier_does_not_break_training():
    table = frame(200)
    table.loc[0, "a"] = 1e30
    model = fit(table, max_steps=200)
    assert np.isfinite(model.predict(table, "b").mean).all()


@pytest.mark.slow
def test_five_thousand_columns_train_in_reasonable_time(monkeypatch):
    monkeypatch.setattr(calibration, "N_ITERATIONS", 10)  # of 100: each takes a constant time
    random = np.random.default_rng(0)
    numbers = random.normal(size=(60, 1)) + random.normal(size=(60, 5000))
    numbers[random.random(numbers.shape) < 0.3] = np.nan
    started_at = time.monotonic()
    model = fit(numbers, recipe=replace(DEFAULT, batch_size=16, term=16, hidden=(32, 32)))
    assert np.isfinite(model.transform(numbers[:2])).all()
    assert time.monotonic() - started_at < 60
