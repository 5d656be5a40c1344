"""The model as users hold it: fill, draw, predict, score."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eddi import PartialVAE, Schema
from eddi.errors import TableError
from eddi.table.evidence import Evidence


@pytest.fixture(scope="module")
def holes(people):
    return people(40, 9, holes=0.4)


@pytest.fixture(scope="module")
def whole(people):
    return people(40, 9, holes=0.0)


# Filling holes


def test_filling_leaves_no_hole_and_touches_nothing_observed(model, holes):
    filled = model.transform(holes)
    assert not filled.isna().any().any()
    assert filled.where(holes.notna()).equals(holes)


def test_filling_keeps_pandas_with_its_dtypes_and_index(model, holes):
    given = holes.astype({"town": "category", "visits": "Int64"}).set_index(np.arange(40)[::-1] + 7)
    filled = model.transform(given)
    assert filled.dtypes.equals(given.dtypes)
    assert filled.index.equals(given.index)
    assert list(filled.columns) == list(given.columns)


def test_filling_keeps_polars(model, holes):
    given = pl.from_pandas(holes)
    filled = model.transform(given)
    assert isinstance(filled, pl.DataFrame)
    assert filled.schema == given.schema
    assert filled.null_count().sum_horizontal().item() == 0


def test_filling_keeps_arrow(model, holes):
    filled = model.transform(pa.Table.from_pandas(holes, preserve_index=False))
    assert isinstance(filled, pa.Table)
    assert sum(column.null_count for column in filled.columns) == 0


def test_filling_keeps_arrays():
    numbers = np.random.default_rng(0).random((30, 3))
    numbers[3, 1] = np.nan
    filled = PartialVAE(max_steps=20, random_state=0).fit(numbers).transform(numbers)
    assert isinstance(filled, np.ndarray)
    assert filled.dtype == np.float64
    assert np.array_equal(np.isnan(numbers) | (filled == numbers), np.ones((30, 3), bool))
    assert np.isfinite(filled[3, 1])


def test_filling_is_the_same_in_every_container(model, holes):
    filled = model.transform(holes)
    from_polars = model.transform(pl.from_pandas(holes)).to_pandas()
    assert np.array_equal(from_polars["age"], filled["age"])
    assert from_polars["town"].tolist() == filled["town"].tolist()


def test_columns_set_aside_pass_through(model, holes):
    given = holes.assign(note=[f"note {place}" for place in range(40)])
    filled = model.transform(given)
    assert filled["name"].tolist() == given["name"].tolist()
    assert filled["note"].tolist() == given["note"].tolist()


def test_columns_are_found_by_name_in_any_order(model, holes):
    turned = model.transform(holes[holes.columns[::-1]])
    assert turned[holes.columns].equals(model.transform(holes))


def test_filled_cells_are_of_their_kind(model, people_schema, holes):
    filled = model.transform(holes)
    assert (filled["visits"] % 1 == 0).all()
    assert (filled["visits"] >= 0).all()
    for name in ("smoker", "pain", "town", "colour", "stage"):
        assert set(filled[name]) <= set(people_schema[name].levels)


def test_a_filled_cell_is_the_best_guess_of_its_prediction(model, holes):
    filled, beliefs = model.transform(holes), model.predict(holes)
    for name in ("age", "pain", "town"):
        hole = holes[name].isna().to_numpy()
        expected = beliefs[name].value[hole]
        found = filled[name][hole].to_numpy()
        close = np.allclose(found, expected) if name == "age" else found.tolist() == expected.tolist()
        assert close


def test_numbers_far_from_zero_are_filled_exactly():
    random = np.random.default_rng(0)
    table = {"when": 1.7e9 + random.normal(size=60), "x": random.normal(size=60)}
    model = PartialVAE(Schema.infer(table), max_steps=50, random_state=0).fit(table)
    table["when"][0] = np.nan
    guess = model.transform(table)["when"][0]
    assert abs(guess - 1.7e9) < 5
    assert guess % 16 != 0  # float32 would only hold multiples of 128


def test_no_rows_are_filled_with_no_rows(model, holes):
    assert model.transform(holes[:0]).shape == (0, 9)
    assert len(model.predict(holes[:0], "age")) == 0
    assert model.impute(holes[:0], n_draws=2)[1].shape == (0, 9)


def test_an_array_given_to_a_model_of_a_frame_is_read_in_the_order_of_fit():
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
def tables(model, holes):
    return model.impute(holes, n_draws=200, random_state=0)


def test_there_are_as_many_tables_as_asked(model, holes, tables):
    assert len(tables) == 200
    assert len(model.impute(holes)) == 5


def test_imputing_touches_nothing_observed(holes, tables):
    assert all(table.where(holes.notna()).equals(holes) for table in tables[:20])
    assert not any(table.isna().any().any() for table in tables[:20])


def test_tables_differ_only_in_what_was_hidden(holes, tables):
    first, second = tables[:2]
    differ = (first != second).to_numpy()
    hidden = holes.isna().to_numpy()
    assert not differ[~hidden].any()
    age = holes.columns.get_loc("age")
    assert differ[:, age][hidden[:, age]].all()


def test_drawn_cells_are_of_their_kind(people_schema, tables):
    for table in tables[:20]:
        assert (table["visits"] % 1 == 0).all()
        assert (table["visits"] >= 0).all()
        for name in ("smoker", "pain", "town", "colour", "stage"):
            assert set(table[name]) <= set(people_schema[name].levels)


def test_the_spread_between_tables_is_the_predictive_sd(people_schema, people, holes):
    # Drawn one after the other: what beliefs say as far as they agree, which takes rows and training.
    model = PartialVAE(people_schema, max_steps=800, random_state=0).fit(people(3_000, 0))
    tables = model.impute(holes, n_draws=200, random_state=0)
    hole = holes["age"].isna().to_numpy()
    drawn = np.array([table["age"].to_numpy()[hole] for table in tables])
    belief = model.predict(holes)["age"]
    assert np.allclose(drawn.std(0), belief.sd[hole], rtol=0.25)
    assert np.allclose(drawn.mean(0), belief.mean[hole], atol=0.3 * belief.sd.max())


def test_drawn_levels_have_the_predicted_probabilities(model, people_schema, holes, tables):
    hole = holes["town"].isna().to_numpy()
    drawn = np.array([table["town"].to_numpy()[hole] for table in tables])
    chances = model.predict(holes)["town"].probabilities[hole]
    for place, level in enumerate(people_schema["town"].levels):
        assert (drawn == level).mean() == pytest.approx(chances[:, place].mean(), abs=0.04)


def test_imputing_repeats_for_a_seed_and_differs_for_another(model, holes):
    one, same, other = (model.impute(holes, n_draws=1, random_state=s)[0] for s in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)


def test_no_draws_are_refused(model, holes):
    with pytest.raises(TableError, match="n_draws must be at least 1, got 0"):
        model.impute(holes, n_draws=0)


# Predictions


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_probabilities_are_told_for_every_variable_of_levels_and_sum_to_one(
    people_model, people_schema, holes, recipe
):
    beliefs = people_model(recipe=recipe).predict(holes)
    for variable in people_schema.variables:
        chances = beliefs[variable.name].probabilities
        if variable.kind.has_levels:
            assert chances.shape == (40, variable.n_levels)
            assert np.allclose(chances.sum(-1), 1, atol=1e-5)
            assert (chances >= 0).all()
        else:
            assert chances is None


def test_the_interval_of_a_real_contains_its_mean(model, holes):
    belief = model.predict(holes)["age"]
    assert (belief.interval[:, 0] <= belief.mean).all()
    assert (belief.mean <= belief.interval[:, 1]).all()


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_an_interval_holds_nine_in_ten_of_the_models_own_draws(people_model, holes, recipe):
    model = people_model(recipe=recipe)
    evidence = model.evidence(holes)
    drawn = model.draw_tables(evidence, 400, seed=1)[..., 0]  # age
    low, high = model.predict_evidence(evidence, ["age"])["age"].interval.T
    inside = ((drawn >= low) & (drawn <= high))[:, ~evidence.observed[:, 0]]
    assert inside.mean() == pytest.approx(0.9, abs=0.05)  # the interval is calibrated, draws are not


def test_an_interval_of_counts_and_levels_is_of_whole_numbers_that_hold_enough(model, holes):
    evidence = model.evidence(holes)
    drawn = model.draw_tables(evidence, 400, seed=1)
    for place, name in [(1, "visits"), (2, "smoker"), (3, "pain")]:
        ends = model.predict_evidence(evidence, [name])[name].interval
        assert np.array_equal(ends, np.rint(ends))
        inside = (drawn[..., place] >= ends[:, 0]) & (drawn[..., place] <= ends[:, 1])
        assert inside[:, ~evidence.observed[:, place]].mean() > 0.85


def test_a_category_has_probabilities_and_no_mean(model, holes):
    belief = model.predict(holes, "town")
    assert np.isnan(belief.mean).all()
    assert np.isnan(belief.interval).all()


def test_the_target_is_hidden_even_when_the_table_shows_it(model, whole):
    told = model.predict(whole, "age")
    untold = model.predict(whole.assign(age=np.nan), "age")
    absent = model.predict(whole.drop(columns="age"), "age")
    assert np.array_equal(told.mean, untold.mean)
    assert np.array_equal(told.mean, absent.mean)


def test_without_a_target_what_is_shown_counts(model, whole):
    shown, hidden = model.predict(whole)["age"], model.predict(whole, "age")
    assert np.allclose(shown.mean, whole["age"], rtol=1e-5)
    assert (shown.sd == 0).all()
    assert (hidden.sd > 0).all()
    town = model.predict(whole)["town"]
    assert np.array_equal(town.value, whole["town"])
    assert (town.probabilities.max(1) == 1).all()


def test_a_declared_target_is_what_predict_predicts(people_model, whole):
    model = people_model(target="pain")
    belief = model.predict(whole.drop(columns="pain"))
    assert belief.variable.name == "pain"
    assert np.array_equal(belief.probabilities, model.predict(whole, "pain").probabilities)


def test_another_target_than_the_declared_one_can_be_predicted(people_model, whole):
    model = people_model(target="pain")
    assert list(model.predict(whole, ["age", "town"])) == ["age", "town"]


def test_evidence_makes_predictions_surer(model, whole):
    nothing = model.predict_evidence(Evidence.empty(40, 8), ["age"])["age"]
    assert model.predict(whole, "age").sd.mean() < 0.97 * nothing.sd.mean()
    assert np.ptp(nothing.mean) == 0


def test_a_table_that_lacks_columns_is_refused_unless_they_are_the_target(model, whole):
    with pytest.raises(TableError, match=r"the table has no column 'age', which the schema expects"):
        model.predict(whole.drop(columns="age"))
    with pytest.raises(TableError, match="has no column 'age'"):
        model.predict(whole.drop(columns="age"), "pain")


def test_rows_beyond_a_chunk_are_predicted_the_same(model, whole, monkeypatch):
    expected = model.predict(whole)
    monkeypatch.setattr("eddi.partial_vae.CHUNK_CELLS", 128 * 128 * 3)
    found = model.predict(whole)
    assert np.allclose(found["age"].mean, expected["age"].mean, atol=1e-4)
    assert np.allclose(found["town"].probabilities, expected["town"].probabilities, atol=1e-5)
    assert model.transform(whole).equals(whole)


# Scores


def test_a_trained_model_scores_higher_than_a_fresh_one(people_model, whole):
    assert people_model().score(whole) > people_model(max_steps=1).score(whole) + 0.1


def test_a_score_is_in_the_tables_units(whole):
    numbers = whole[["age", "weight"]]
    scores = [
        PartialVAE(max_steps=100, random_state=0).fit(numbers * scale).score(numbers * scale)
        for scale in (1, 1000)
    ]
    assert scores[0] - scores[1] == pytest.approx(np.log(1000), abs=1e-3)


def test_log_prob_of_levels_is_that_of_their_probability(model, whole):
    evidence = model.evidence(whole)
    seen = evidence.hide([4])
    truth = evidence.values[:, 4].astype(int)
    chances = model.predict_evidence(seen, ["town"])["town"].probabilities
    expected = np.log(chances[np.arange(40), truth])
    assert np.allclose(model.log_prob(seen, evidence)[:, 4], expected, atol=1e-4)


# As an object


def test_a_pickled_model_predicts_the_same_and_is_not_larger_than_its_weights(model, holes):
    content = pickle.dumps(model)
    again = pickle.loads(content)  # noqa: S301  # joblib does the same
    n_weights = sum(weight.numel() for weight in model.network_.parameters())
    assert np.array_equal(again.predict(holes, "age").mean, model.predict(holes, "age").mean)
    assert len(content) < 1.5 * 4 * n_weights + 20_000


def test_fitting_again_forgets_the_first_table():
    random = np.random.default_rng(0)
    model = PartialVAE(max_steps=10, random_state=0).fit(
        pd.DataFrame(random.random((20, 2)), columns=["a", "b"])
    )
    model.fit(random.random((20, 3)))
    assert model.schema_.names == ("x0", "x1", "x2")
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 3
