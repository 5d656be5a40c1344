"""The estimator: imputation, prediction, scores and files."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import eddi
from eddi import PartialVAE, Schema, Stop
from eddi.errors import EddiWarning, TableError, TrainingDataWarning
from eddi.strategy.stopping import ConfidenceThreshold


@pytest.fixture(scope="module")
def incomplete(people):
    return people(40, 9, missing=0.4)


@pytest.fixture(scope="module")
def complete(people):
    return people(40, 9, missing=0.0)


# Imputation


def test_transform_fills_all_missing_values_and_keeps_observed_ones(model, incomplete):
    filled = model.transform(incomplete)
    assert not filled.isna().any().any()
    assert filled.where(incomplete.notna()).equals(incomplete)


def test_transform_keeps_the_dtypes_and_index_of_pandas(model, incomplete):
    table = incomplete.astype({"town": "category", "visits": "Int64"})
    table = table.set_index(np.arange(40)[::-1] + 7)
    filled = model.transform(table)
    assert filled.dtypes.equals(table.dtypes)
    assert filled.index.equals(table.index)
    assert list(filled.columns) == list(table.columns)


def test_transform_returns_polars_for_polars(model, incomplete):
    table = pl.from_pandas(incomplete)
    filled = model.transform(table)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == table.schema
    assert filled.null_count().sum_horizontal().item() == 0


def test_transform_returns_arrow_for_arrow(model, incomplete):
    filled = model.transform(pa.Table.from_pandas(incomplete, preserve_index=False))
    assert isinstance(filled, pa.Table)
    assert sum(column.null_count for column in filled.columns) == 0


def test_transform_returns_an_array_for_an_array():
    numbers = np.random.default_rng(0).random((30, 3))
    numbers[3, 1] = np.nan
    filled = PartialVAE(max_steps=20, random_state=0).fit(numbers).transform(numbers)
    assert isinstance(filled, np.ndarray)
    assert filled.dtype == np.float64
    assert np.array_equal(np.isnan(numbers) | (filled == numbers), np.ones((30, 3), bool))
    assert np.isfinite(filled[3, 1])


def test_transform_gives_the_same_values_for_every_type_of_table(model, incomplete):
    filled = model.transform(incomplete)
    from_polars = model.transform(pl.from_pandas(incomplete)).to_pandas()
    assert np.array_equal(from_polars["age"], filled["age"])
    assert from_polars["town"].tolist() == filled["town"].tolist()


def test_columns_that_are_not_modelled_are_passed_through(model, incomplete):
    table = incomplete.assign(note=[f"note {place}" for place in range(40)])
    filled = model.transform(table)
    assert filled["name"].tolist() == table["name"].tolist()
    assert filled["note"].tolist() == table["note"].tolist()


def test_columns_are_found_by_name_in_any_order(model, incomplete):
    reversed_columns = model.transform(incomplete[incomplete.columns[::-1]])
    assert reversed_columns[incomplete.columns].equals(model.transform(incomplete))


def test_filled_values_are_valid_for_their_kind(model, people_schema, incomplete):
    filled = model.transform(incomplete)
    assert (filled["visits"] % 1 == 0).all()
    assert (filled["visits"] >= 0).all()
    for name in ("smoker", "pain", "town", "colour", "stage"):
        assert set(filled[name]) <= set(people_schema[name].levels)


@pytest.mark.parametrize("name", ["age", "pain", "town"])
def test_a_filled_value_is_the_best_guess_of_its_prediction(model, incomplete, name):
    is_missing = incomplete[name].isna().to_numpy()
    expected = model.predict(incomplete)[name].value[is_missing]
    found = model.transform(incomplete)[name][is_missing].to_numpy()
    if name == "age":
        assert np.allclose(found, expected)
    else:
        assert found.tolist() == expected.tolist()


def test_numbers_far_from_zero_are_filled_precisely():
    random = np.random.default_rng(0)
    table = {"when": 1.7e9 + random.normal(size=60), "x": random.normal(size=60)}
    model = PartialVAE(Schema.infer(table), max_steps=50, random_state=0).fit(table)
    table["when"][0] = np.nan
    guess = model.transform(table)["when"][0]
    assert abs(guess - 1.7e9) < 5
    assert guess % 16 != 0  # in float32 it would be a multiple of 128


def test_an_empty_table_gives_empty_results(model, incomplete):
    assert model.transform(incomplete[:0]).shape == (0, 9)
    assert len(model.predict(incomplete[:0], "age")) == 0
    assert model.impute(incomplete[:0], n_draws=2)[1].shape == (0, 9)


def test_an_array_has_the_columns_of_the_frame_given_to_fit():
    numbers = np.random.default_rng(0).random((30, 3))
    frame = pd.DataFrame(numbers, columns=["a", "b", "c"])
    model = PartialVAE(max_steps=20, random_state=0).fit(frame)
    numbers[0, 1] = np.nan
    frame.loc[0, "b"] = np.nan
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        filled = model.transform(numbers)
    assert np.array_equal(filled, model.transform(frame).to_numpy())


# Multiple imputation


@pytest.fixture(scope="module")
def draws(model, incomplete):
    return model.impute(incomplete, n_draws=200, random_state=0)


def test_impute_returns_the_requested_number_of_tables(model, incomplete, draws):
    assert len(draws) == 200
    assert len(model.impute(incomplete)) == 5


def test_impute_fills_all_missing_values_and_keeps_observed_ones(incomplete, draws):
    assert all(table.where(incomplete.notna()).equals(incomplete) for table in draws[:20])
    assert not any(table.isna().any().any() for table in draws[:20])


def test_imputed_tables_differ_in_the_missing_values_alone(incomplete, draws):
    first, second = draws[:2]
    is_different = (first != second).to_numpy()
    is_missing = incomplete.isna().to_numpy()
    assert not is_different[~is_missing].any()
    age = incomplete.columns.get_loc("age")
    assert is_different[:, age][is_missing[:, age]].all()


def test_imputed_values_are_valid_for_their_kind(people_schema, draws):
    for table in draws[:20]:
        assert (table["visits"] % 1 == 0).all()
        assert (table["visits"] >= 0).all()
        for name in ("smoker", "pain", "town", "colour", "stage"):
            assert set(table[name]) <= set(people_schema[name].levels)


@pytest.mark.slow
def test_imputed_quantities_have_the_predicted_mean_and_sd(
    people_schema, people, small_recipe, incomplete
):
    # Values are drawn one after another, so this holds as far as the model's conditional predictions
    # are consistent. That takes more rows than the shared model has.
    model = PartialVAE(people_schema, recipe=small_recipe, max_steps=300, random_state=0).fit(
        people(1_500, 0)
    )
    tables = model.impute(incomplete, n_draws=200, random_state=0)
    is_missing = incomplete["age"].isna().to_numpy()
    drawn = np.array([table["age"].to_numpy()[is_missing] for table in tables])
    prediction = model.predict(incomplete)["age"]
    assert np.allclose(drawn.std(0), prediction.sd[is_missing], rtol=0.25)
    assert np.allclose(drawn.mean(0), prediction.mean[is_missing], atol=0.3 * prediction.sd.max())


def test_imputed_levels_have_the_predicted_probabilities(model, people_schema, incomplete, draws):
    is_missing = incomplete["town"].isna().to_numpy()
    drawn = np.array([table["town"].to_numpy()[is_missing] for table in draws])
    probabilities = model.predict(incomplete)["town"].probabilities[is_missing]
    for place, level in enumerate(people_schema["town"].levels):
        assert (drawn == level).mean() == pytest.approx(probabilities[:, place].mean(), abs=0.04)


def test_impute_depends_on_the_random_state(model, incomplete):
    first, again, other = (
        model.impute(incomplete, n_draws=1, random_state=seed)[0] for seed in (1, 1, 2)
    )
    assert first.equals(again)
    assert not first.equals(other)


def test_fewer_than_one_draw_is_refused(model, incomplete):
    with pytest.raises(TableError, match="n_draws must be at least 1, got 0"):
        model.impute(incomplete, n_draws=0)


# Predictions


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_all_variables_with_levels_have_probabilities_that_sum_to_one(
    people_model, people_schema, incomplete, recipe
):
    predictions = people_model(recipe=recipe).predict(incomplete)
    for variable in people_schema.variables:
        probabilities = predictions[variable.name].probabilities
        if variable.kind.has_levels:
            assert probabilities.shape == (40, variable.n_levels)
            assert np.allclose(probabilities.sum(-1), 1, atol=1e-5)
            assert (probabilities >= 0).all()
        else:
            assert probabilities is None


def test_the_interval_of_a_real_variable_contains_its_mean(model, incomplete):
    prediction = model.predict(incomplete)["age"]
    assert (prediction.interval[:, 0] <= prediction.mean).all()
    assert (prediction.mean <= prediction.interval[:, 1]).all()


def test_a_category_has_probabilities_and_no_mean(model, incomplete):
    prediction = model.predict(incomplete, "town")
    assert np.isnan(prediction.mean).all()
    assert np.isnan(prediction.interval).all()


def test_the_value_of_the_target_in_the_table_is_ignored(model, complete):
    given = model.predict(complete, "age")
    missing = model.predict(complete.assign(age=np.nan), "age")
    absent = model.predict(complete.drop(columns="age"), "age")
    assert np.array_equal(given.mean, missing.mean)
    assert np.array_equal(given.mean, absent.mean)


def test_without_a_target_observed_values_are_predicted_with_certainty(model, complete):
    observed, hidden = model.predict(complete)["age"], model.predict(complete, "age")
    assert np.allclose(observed.mean, complete["age"], rtol=1e-5)
    assert (observed.sd == 0).all()
    assert (hidden.sd > 0).all()
    town = model.predict(complete)["town"]
    assert np.array_equal(town.value, complete["town"])
    assert (town.probabilities.max(1) == 1).all()


def test_predict_predicts_the_declared_target(people_model, complete):
    model = people_model(target="pain")
    prediction = model.predict(complete.drop(columns="pain"))
    assert prediction.variable.name == "pain"
    assert np.array_equal(prediction.probabilities, model.predict(complete, "pain").probabilities)


def test_predict_can_predict_other_variables_than_the_declared_target(people_model, complete):
    model = people_model(target="pain")
    assert list(model.predict(complete, ["age", "town"])) == ["age", "town"]


def test_an_absent_column_is_not_observed(model, complete):
    with pytest.warns(EddiWarning, match=r"1 column is absent \('age'\)"):
        absent = model.predict(complete.drop(columns="age"), "pain")
    missing = model.predict(complete.assign(age=np.nan), "pain")
    np.testing.assert_array_equal(absent.probabilities, missing.probabilities)


def test_an_absent_target_needs_no_warning(model, complete):
    model.predict(complete.drop(columns="age"), "age")


def test_a_strict_model_refuses_a_table_without_a_column(model, complete):
    strict = clone(model).set_params(unknown="error")
    strict.model_ = model.model_
    with pytest.raises(TableError, match=r"the table has no column 'age', which the schema expects"):
        strict.predict(complete.drop(columns="age"), "pain")


def test_a_table_without_any_known_column_is_refused(model):
    with pytest.raises(TableError, match="Is this the wrong schema for the table"):
        model.predict(pd.DataFrame({"height": [1.0]}), "pain")


def test_cross_validation_survives_a_level_that_only_one_row_has(complete):
    table = complete[["age", "weight"]].assign(grade=[9] + [1, 2, 3] * 13)
    with pytest.warns(EddiWarning, match="'grade' 1: '9'"):
        scores = cross_val_score(PartialVAE(max_steps=5, random_state=0), table, cv=4)
    assert np.isfinite(scores).all()


def test_the_content_of_a_hidden_target_is_ignored(model, complete):
    expected = model.predict(complete, "town")
    garbled = model.predict(complete.assign(town="Atlantis"), "town")
    np.testing.assert_array_equal(garbled.probabilities, expected.probabilities)
    model.predict(complete.assign(age="very old"), "age")


# Scores


def test_a_trained_model_scores_higher_than_a_new_one(people_model, complete):
    assert people_model().score(complete) > people_model(max_steps=1).score(complete) + 0.1


@pytest.mark.slow
def test_the_score_is_the_log_likelihood_of_the_declared_target(people_model, complete):
    model = people_model(target="smoker")
    prediction = model.predict(complete)
    places = [prediction.variable.levels.index(level) for level in complete["smoker"]]
    expected = np.log(prediction.probabilities[np.arange(len(places)), places]).mean()
    assert model.score(complete) == pytest.approx(expected, abs=1e-4)
    shuffled = complete.assign(smoker=complete["smoker"].to_numpy()[::-1])
    assert model.score(shuffled) < model.score(complete)


def test_the_score_takes_a_target_that_is_not_in_the_table(complete):
    table, y = complete.drop(columns="smoker"), complete["smoker"]
    model = PartialVAE(target="smoker", max_steps=20, random_state=0).fit(table, y)
    assert model.score(table, y) == model.score(complete) < 0


@pytest.mark.slow
def test_a_score_is_in_the_units_of_the_table(complete):
    numbers = complete[["age", "weight"]]
    scores = [
        PartialVAE(max_steps=100, random_state=0).fit(numbers * scale).score(numbers * scale)
        for scale in (1, 1000)
    ]
    assert scores[0] - scores[1] == pytest.approx(np.log(1000), abs=1e-3)


# Files and copies


def test_a_pickled_model_makes_the_same_predictions_and_contains_its_weights_once(model, incomplete):
    content = pickle.dumps(model)
    again = pickle.loads(content)  # noqa: S301  # joblib does the same
    n_weights = sum(weight.numel() for weight in model.network_.parameters())
    assert np.array_equal(again.predict(incomplete, "age").mean, model.predict(incomplete, "age").mean)
    assert len(content) < 1.5 * 4 * n_weights + 20_000


def test_the_saved_file_of_a_declared_target_with_levels_has_a_certificate(people_model, tmp_path):
    model = people_model(target="stage")
    model.save(tmp_path / "people.eddi")
    loaded = eddi.load(tmp_path / "people.eddi")
    (certificate,) = loaded.certificates_.values()
    assert certificate.target == ("stage",)
    assert certificate.strategy == {"type": "Information", "reward": None, "n_draws": 50, "seed": 0}
    is_known = model.fitted().validation_rows.observed[:, model.schema_.position("stage")]
    assert certificate.n_rows == is_known.sum()
    risk = certificate.smallest_risk(0.5) + 1e-6
    interview = eddi.Interview(loaded, stop=Stop(risk=risk, confidence=0.5))
    threshold = ConfidenceThreshold(certificate.threshold(risk, 0.5))
    assert threshold in interview.rules.stop.resolved.rules


@pytest.mark.parametrize("target", [None, "weight"])
def test_a_saved_file_without_a_declared_target_with_levels_has_no_certificate(
    people_model, tmp_path, target
):
    people_model(target=target, max_steps=1).save(tmp_path / "people.eddi")
    assert eddi.load(tmp_path / "people.eddi").certificates_ == {}


def test_fitting_again_replaces_everything_learned():
    random = np.random.default_rng(0)
    model = PartialVAE(max_steps=10, random_state=0).fit(
        pd.DataFrame(random.random((20, 2)), columns=["a", "b"])
    )
    model.fit(random.random((20, 3)))
    assert model.schema_.names == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3


def test_fit_raises_one_warning_about_the_training_table(people):
    table = people(40, seed=0).assign(twin=lambda rows: rows["age"])
    model = PartialVAE(target="age", max_steps=5, random_state=0)
    with pytest.warns(TrainingDataWarning) as caught:
        model.fit(table)
    [warning] = caught
    assert warning.message.args == model.fitted().training.warnings
    assert str(warning.message).startswith(
        "'twin': Holds the same values as 'age'. Leave it out.\nThe table"
    )
    assert warning.filename == __file__


@pytest.mark.slow
def test_cross_validation_raises_one_warning_per_fit(people):
    table = people(40, seed=0)[["age", "weight", "visits"]]
    model = PartialVAE(target="age", max_steps=2, random_state=0)
    with pytest.warns(TrainingDataWarning, match="The table has only 30 rows") as caught:
        cross_val_score(model, table, cv=4)
    assert len(caught) == 4


def test_a_variable_that_is_constant_in_the_table_has_finite_predictions_and_can_be_saved(tmp_path):
    """Its schema may come from another table."""
    random = np.random.default_rng(0)
    names = ("x", "constant", "y")
    schema = Schema(variables=tuple(eddi.Variable(name, "real") for name in names))
    x = random.normal(size=60)
    table = pd.DataFrame({"x": x, "constant": 0.0, "y": x + 0.1 * random.normal(size=60)})
    fitted = PartialVAE(schema=schema, target="y", max_steps=300, random_state=0, device="cpu").fit(
        table
    )
    fitted.save(tmp_path / "model.eddi")
    loaded = eddi.load(tmp_path / "model.eddi")
    prediction = loaded.predict(table.drop(columns="constant"), ["constant"])["constant"]
    assert np.isfinite(prediction.interval).all()
    np.testing.assert_allclose(prediction.mean, 0.0, atol=1e-3)
