"""Input that cannot work is refused in words to act on; input that only looks bad works."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from eddi import PartialVAE, Schema, Variable
from eddi.errors import SchemaError, TableError, TargetError, TrainingError
from eddi.model.recipe import DEFAULT


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
        TableError, match=r"a table of no rows shows no variation to learn from. Give at"
    ):
        fit(frame(0), schema=REALS)


def test_an_array_without_rows_is_refused_in_scikit_learns_words():
    with pytest.raises(ValueError, match="Found array with 0 sample"):
        fit(np.zeros((0, 3)))


def test_one_row_is_refused():
    with pytest.raises(TableError, match=r"the table has one row.*Give it more rows"):
        fit(frame(1))
    with pytest.raises(
        TableError, match=r"a table of one row shows no variation to learn from. Give at"
    ):
        fit(frame(1), schema=REALS)


def test_two_rows_train():
    assert np.isfinite(fit(frame(2), schema=REALS).predict(frame(2), "a").mean).all()


@pytest.mark.parametrize("set_encoder", ["zi", "zi-m", "pn", "pnp"])
def test_one_column_trains(set_encoder):
    model = fit(frame(60, "a"), set_encoder=set_encoder)
    belief = model.predict(frame(5, "a"), "a")
    assert np.isfinite(belief.mean).all()
    assert np.ptp(belief.mean) < 1e-6  # nothing but rounding is left to tell the rows apart


def test_a_table_of_nothing_but_holes_is_refused():
    holes = pd.DataFrame({"a": [np.nan] * 9, "b": [np.nan] * 9})
    with pytest.raises(TableError, match=r"nothing is left to model.*'a': every value is missing"):
        fit(holes)
    with pytest.raises(
        TableError, match="every cell of the table is missing; there is nothing to learn"
    ):
        fit(holes, schema=REALS)


def test_a_column_of_nothing_but_holes_is_named():
    with pytest.raises(TableError, match=r"no value of 'b' was ever observed. Set the variable aside"):
        fit(frame().assign(b=np.nan), schema=REALS)


def test_a_row_of_nothing_but_holes_trains_and_is_filled():
    table = frame()
    table.loc[3] = np.nan
    assert not fit(table).transform(table).isna().any().any()


@pytest.mark.parametrize("schema", [None, REALS])
def test_an_infinite_value_is_refused_with_its_column(schema):
    table = frame()
    table.loc[3, "b"] = np.inf
    with pytest.raises(TableError, match=r"'b' holds an infinite value; numbers must be finite"):
        fit(table, schema=schema)


def test_an_infinite_value_in_an_array_is_refused_in_scikit_learns_words():
    with pytest.raises(ValueError, match="Input X contains infinity"):
        fit(np.array([[1.0, np.inf], [2.0, 3.0]]))


def test_an_infinite_value_met_later_is_refused_too():
    table = frame()
    model = fit(table)
    table.loc[0, "a"] = -np.inf
    with pytest.raises(TableError, match="'a' holds an infinite value"):
        model.transform(table)


def test_a_word_among_numbers_is_refused_with_the_word():
    table = frame().astype(object)
    table.loc[3, "a"] = "plenty"
    with pytest.raises(TableError, match=r"'a' is real and must hold numbers, got 'plenty'.*a category"):
        fit(table, schema=REALS)


def test_a_column_of_mixed_types_trains_as_levels():
    table = frame().assign(mixed=[1, "two", 3.5] * 10)
    model = fit(table)
    assert model.schema_["mixed"].levels == ("1", "3.5", "two")
    assert not model.transform(table.assign(a=np.nan)).isna().any().any()


def test_an_array_of_words_is_refused_with_the_word():
    with pytest.raises(ValueError, match="could not convert string to float: 'red'"):
        fit(np.array([["red", "1"], ["blue", "2"]] * 5, dtype=object))


def test_a_level_never_seen_in_training_is_refused_with_the_known_ones():
    table = frame().assign(town=["Aber", "Bala", "Conwy"] * 10)
    model = fit(table)
    table.loc[4, "town"] = "Denbigh"
    with pytest.raises(TableError, match=r"'town' has the level 'Denbigh'.*levels: Aber, Bala, Conwy"):
        model.transform(table)


def test_a_count_that_is_not_whole_is_refused():
    schema = Schema((Variable("a", "count"), Variable("b", "real")))
    with pytest.raises(TableError, match="'a' is count and must hold whole numbers from 0 up, got 0"):
        fit(frame(), schema=schema)


@pytest.mark.parametrize("schema", [None, REALS])
def test_a_target_that_is_not_in_the_table_is_refused(schema):
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
        SchemaError, match="set_encoder must be one of 'zi', 'zi-m', 'pn', 'pnp', got 'rnn'"
    ):
        fit(frame(), set_encoder="rnn")


def test_an_unknown_device_is_refused():
    with pytest.raises(TrainingError, match="the device 'quantum' is not to be had here"):
        fit(frame(), device="quantum")


@pytest.mark.parametrize("max_steps", [0, -3])
def test_no_steps_are_refused(max_steps):
    with pytest.raises(TrainingError, match=f"max_steps must be at least 1, got {max_steps}"):
        fit(frame(), max_steps=max_steps)


@pytest.mark.parametrize("verb", ["transform", "impute", "predict", "score", "evidence"])
def test_a_model_that_was_not_fitted_says_so(verb):
    with pytest.raises(NotFittedError, match="This PartialVAE instance is not fitted yet"):
        getattr(PartialVAE(), verb)(frame())


def test_a_model_that_was_not_fitted_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        PartialVAE().save(tmp_path / "nothing.eddi")
    assert not list(tmp_path.iterdir())


def test_what_is_no_table_is_refused_with_what_is_one():
    with pytest.raises(TableError, match=r"there is no file 'people\.csv'"):
        fit("people.csv")
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        fit(np.arange(5.0))


def test_sparse_matrices_are_refused_in_scikit_learns_words():
    from scipy.sparse import csr_array, dok_array

    for kind in (csr_array, dok_array):
        with pytest.raises(TypeError, match="dense data is required"):
            fit(kind(np.eye(4)))


def test_a_variable_that_hardly_varies_trains():
    table = frame().assign(b=1e9 + np.arange(30) * 1e-3)
    belief = fit(table, schema=REALS).predict(table, "b")
    assert np.isfinite(belief.mean).all()
    assert np.abs(belief.mean - 1e9).max() < 10


def test_an_outlier_beyond_reason_does_not_break_training():
    table = frame(200)
    table.loc[0, "a"] = 1e30
    model = fit(table, max_steps=200)
    assert np.isfinite(model.predict(table, "b").mean).all()


def test_five_thousand_columns_train_in_reasonable_time():
    random = np.random.default_rng(0)
    numbers = random.normal(size=(60, 1)) + random.normal(size=(60, 5000))
    numbers[random.random(numbers.shape) < 0.3] = np.nan
    began = time.monotonic()
    model = fit(numbers, recipe=replace(DEFAULT, batch_size=16))
    assert np.isfinite(model.transform(numbers[:2])).all()
    assert time.monotonic() - began < 60
