"""The estimator follows the conventions of scikit-learn."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from eddi import Interview, PartialVAE, PartialVAEClassifier, PartialVAERegressor, Schema, load
from eddi.errors import EddiWarning, TableError, TargetError
from eddi.model.prediction import Prediction
from eddi.recipes import DEFAULT

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32, folds=0)
"""Checks fit many models, whose quality does not matter."""

RETURNS_MAPPING = "without a target, predict returns a mapping of predictions, which rows do not index"


def expected_failures(estimator):
    if isinstance(estimator, PartialVAE) and estimator.target is None:
        return {"check_methods_sample_order_invariance": RETURNS_MAPPING}
    return {}


@parametrize_with_checks(
    [
        PartialVAE(max_steps=20, recipe=SMALL),
        PartialVAE(max_steps=20, recipe=SMALL, target="x0"),
        PartialVAEClassifier(max_steps=20, recipe=SMALL, random_state=0),
        PartialVAERegressor(max_steps=20, recipe=SMALL, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore:y is not used:eddi.EddiWarning")
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def draw_array(n_rows=60, seed=0):
    random = np.random.default_rng(seed)
    table = random.normal(size=(n_rows, 1)) + 0.5 * random.normal(size=(n_rows, 3))
    table[random.random(table.shape) < 0.2] = np.nan
    return table


def draw_frame(n_rows=60):
    levels = np.array(["low", "high", None], dtype=object)[np.arange(n_rows) % 3]
    return pd.DataFrame(draw_array(n_rows), columns=["a", "b", "c"]).assign(d=levels)


def test_it_imputes_for_the_next_step_of_a_pipeline():
    table = draw_array()
    target = np.nansum(table, axis=1)
    pipeline = make_pipeline(PartialVAE(max_steps=200, random_state=0), StandardScaler(), Ridge())
    assert pipeline.fit(table, target).score(table, target) > 0.5


def test_a_pipeline_can_be_cross_validated():
    pipeline = make_pipeline(PartialVAE(max_steps=20, random_state=0), Ridge())
    assert np.isfinite(cross_val_score(pipeline, draw_array(), np.arange(60), cv=2)).all()


def test_a_grid_search_over_set_encoders_uses_the_score():
    grid = {"set_encoder": ["zi", "zi-m", "pn", "pnp"]}
    search = GridSearchCV(PartialVAE(max_steps=20, recipe=SMALL, random_state=0), grid, cv=2).fit(
        draw_array()
    )
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(set(scores)) == 4
    assert search.best_params_["set_encoder"] == grid["set_encoder"][int(scores.argmax())]


def test_a_clone_is_unfitted_and_has_the_same_settings():
    fitted = PartialVAE(max_steps=5, set_encoder="pn", target="x1", random_state=3).fit(draw_array())
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "model_")


def test_a_clone_with_a_schema_learns_the_same_model():
    model = PartialVAE(Schema.infer(draw_array()), max_steps=20, random_state=0)
    assert np.array_equal(
        clone(model).fit_transform(draw_array()), model.fit(draw_array()).transform(draw_array())
    )


def test_feature_names_out_are_those_of_the_table():
    assert list(PartialVAE(max_steps=5).fit(draw_frame()).get_feature_names_out()) == [
        "a",
        "b",
        "c",
        "d",
    ]
    assert list(PartialVAE(max_steps=5).fit(draw_array()).get_feature_names_out()) == ["x0", "x1", "x2"]


@pytest.mark.parametrize("source", [draw_array, draw_frame, lambda: pl.from_pandas(draw_frame())])
@pytest.mark.parametrize(
    ("library", "frame_class"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)]
)
def test_set_output_returns_the_requested_type(source, library, frame_class):
    table = source()
    model = PartialVAE(max_steps=5, random_state=0).fit(table)
    plain = model.transform(table)
    framed = model.set_output(transform=library).transform(table)
    assert isinstance(framed, frame_class)
    assert list(framed.columns) == list(model.get_feature_names_out())
    assert np.array_equal(np.asarray(framed), np.asarray(plain))


def test_set_output_keeps_the_index():
    table = draw_frame().set_index(np.arange(60) + 100)
    model = PartialVAE(max_steps=5, random_state=0).set_output(transform="pandas")
    assert model.fit_transform(table).index.equals(table.index)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_keeps_the_names_of_columns_in_another_order(library):
    table = draw_frame()
    model = PartialVAE(max_steps=5, random_state=0).fit(table)
    expected = model.transform(table)
    reordered = table[["d", "c", "b", "a"]].assign(extra=1)
    with config_context(transform_output=library):
        found = model.transform(reordered if library == "pandas" else pl.from_pandas(reordered))
    assert list(found.columns) == ["a", "b", "c", "d"]
    for name in "abcd":
        assert found[name].to_list() == expected[name].to_list()


def test_set_output_refuses_a_table_without_a_column_of_the_training_table():
    table = draw_frame().assign(name=[f"person {place}" for place in range(60)])
    model = PartialVAE(max_steps=5, random_state=0).fit(table).set_output(transform="pandas")
    with pytest.raises(
        TableError, match=r"no column 'name', which the table given to fit had and set_out"
    ):
        model.transform(table.drop(columns="name"))


def test_metrics_accept_a_prediction():
    table = draw_array(200)
    observed = ~np.isnan(table[:, 0])
    model = PartialVAE(max_steps=300, target="x0", random_state=0).fit(table)
    assert r2_score(table[observed, 0], model.predict(table[observed])) > 0.3


def draw_people(n_rows=90, seed=0):
    """A raw table: text, missing values, and a town that occurs once, so that a fold has an unseen level."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    table = pd.DataFrame(
        {
            "age": 50 + 10 * z + 3 * random.normal(size=n_rows),
            "town": np.where(z + random.normal(size=n_rows) > 0, "Aber", "Bala").astype(object),
            "pay": [f"${1000 + 200 * value:,.0f}" for value in z],
            "ill": np.where(z + 0.3 * random.normal(size=n_rows) > 0, "yes", "no"),
            "risk": 3 * z + 0.5 * random.normal(size=n_rows),
        }
    )
    table.loc[0, "town"] = "Conwy"
    for name in ("age", "town", "pay"):
        table.loc[random.random(n_rows) < 0.1, name] = None
    return table


def classifier(**settings):
    return PartialVAEClassifier(max_steps=40, recipe=SMALL, random_state=0, **settings)


def regressor(**settings):
    return PartialVAERegressor(max_steps=40, recipe=SMALL, random_state=0, **settings)


def test_a_classifier_predicts_arrays_and_probabilities_of_its_classes():
    table = draw_people()
    model = classifier().fit(table.drop(columns=["ill", "risk"]), table["ill"])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.target_name_ == "ill"
    probabilities = model.predict_proba(table)
    assert probabilities.shape == (90, 2)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    assert model.predict(table).tolist() == model.classes_[probabilities.argmax(1)].tolist()
    assert model.score(table, table["ill"]) == (model.predict(table) == table["ill"]).mean() > 0.7


def test_a_regressor_predicts_the_mean_and_scores_it():
    table = draw_people()
    model = regressor().fit(table.drop(columns=["ill", "risk"]), table["risk"])
    assert model.predict(table).dtype == np.float64
    assert model.score(table, table["risk"]) == r2_score(table["risk"], model.predict(table)) > 0.5


def test_the_full_distribution_has_its_own_name():
    table = draw_people()
    prediction = regressor(target="risk").fit(table).predict_distribution(table)
    assert isinstance(prediction, Prediction)
    assert prediction.interval.shape == (90, 2)


def test_the_target_is_never_an_input():
    table = draw_people()
    model = classifier().fit(table, table["ill"])
    assert "ill" not in model.feature_names_in_
    reversed_target = table.assign(ill=np.where(table["ill"] == "yes", "no", "yes"))
    np.testing.assert_array_equal(model.predict_proba(table), model.predict_proba(reversed_target))


def test_the_target_may_be_a_column_and_have_missing_values():
    table = draw_people()
    table.loc[:20, "ill"] = None
    model = classifier(target="ill").fit(table)
    assert model.classes_.tolist() == ["no", "yes"]
    known = table["ill"].notna()
    assert model.score(table) == (model.predict(table) == table["ill"])[known].mean()


def test_classes_keep_their_type_and_an_order_of_the_schema_is_used():
    table = draw_people()
    stage = pd.cut(table["risk"], [-np.inf, -2, 2, np.inf], labels=["low", "medium", "high"]).astype(str)
    schema = Schema.infer(table.drop(columns=["ill", "risk"]).assign(stage=stage))
    model = classifier(schema=schema).fit(table.drop(columns=["ill", "risk"]), stage.rename("stage"))
    assert model.fitted().schema["stage"].levels == ("low", "medium", "high")
    assert model.classes_.tolist() == ["high", "low", "medium"]
    wanted = model.fitted().schema["stage"].levels.index("high")
    distribution = model.predict_distribution(table).probabilities
    np.testing.assert_allclose(model.predict_proba(table)[:, 0], distribution[:, wanted], rtol=1e-5)
    numbers = classifier().fit(table[["age"]], (table["ill"] == "yes").to_numpy().astype(int) + 3)
    assert numbers.classes_.tolist() == [3, 4]
    assert numbers.predict(table[["age"]]).dtype.kind == "i"


def test_errors_about_the_target_say_what_to_do():
    table = draw_people()
    with pytest.raises(TargetError, match="requires y to be passed"):
        classifier().fit(table)
    with pytest.raises(TargetError, match="no column 'iil', which is the target"):
        classifier(target="iil").fit(table)
    with pytest.raises(TargetError, match=r"one class, \['yes'\]; a classifier needs at least two"):
        classifier().fit(table, ["yes"] * 90)
    with pytest.raises(TargetError, match=r"must hold numbers, got .* Use PartialVAEClassifier"):
        regressor().fit(table, table["ill"])
    with pytest.raises(TableError, match="no columns except the target 'age'"):
        regressor(target="age").fit(table[["age"]])


@pytest.mark.filterwarnings("ignore:some rows differ:eddi.EddiWarning")
def test_raw_tables_are_cross_validated_although_folds_have_unseen_levels():
    table = draw_people()
    inputs = table.drop(columns=["ill", "risk"])
    assert cross_val_score(regressor(), inputs, table["risk"], cv=3).mean() > 0.4
    assert cross_val_score(classifier(), inputs, table["ill"], cv=3).mean() > 0.7
    assert cross_val_score(classifier(), inputs, table["ill"], cv=3, scoring="roc_auc").mean() > 0.8
    probabilities = cross_val_predict(classifier(), inputs, table["ill"], cv=3, method="predict_proba")
    assert probabilities.shape == (90, 2)
    assert (probabilities.argmax(1) == (table["ill"] == "yes")).mean() > 0.7


@pytest.mark.filterwarnings("ignore:some rows differ:eddi.EddiWarning")
def test_a_grid_search_over_a_pipeline_uses_the_accuracy_of_the_target():
    table = draw_people()
    pipeline = make_pipeline(FunctionTransformer(lambda frame: frame.drop(columns="pay")), classifier())
    grid = {"partialvaeclassifier__set_encoder": ["zi", "precision"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(table.drop(columns=["ill", "risk"]), table["ill"])
    assert 0.5 < search.best_score_ <= 1
    assert search.predict(table.head(3)).shape == (3,)


def test_calibration_of_a_classifier_can_be_displayed():
    table = draw_people()
    model = classifier().fit(table.drop(columns=["ill", "risk"]), table["ill"])
    display = CalibrationDisplay.from_estimator(model, table, table["ill"], pos_label="yes", n_bins=3)
    assert display.prob_true.max() > display.prob_true.min()
    pyplot.close(display.figure_)


def test_a_classifier_can_interview_and_be_saved(tmp_path):
    table = draw_people()
    model = classifier().fit(table.drop(columns=["ill", "risk"]), table["ill"])
    assert Interview(model).ask().name in ("age", "town", "pay")
    model.save(tmp_path / "people.eddi")
    loaded = load(tmp_path / "people.eddi").predict(table)
    np.testing.assert_allclose(loaded.probabilities, model.predict_proba(table), rtol=1e-5)


def test_y_is_joined_as_the_declared_target_or_reported_as_unused():
    table = draw_people().drop(columns=["ill"])
    inputs, risk = table.drop(columns="risk"), table["risk"]
    model = PartialVAE(target="risk", max_steps=5, recipe=SMALL, random_state=0)
    joined, whole = model.fit(inputs, risk).predict(inputs), clone(model).fit(table).predict(inputs)
    np.testing.assert_array_equal(joined.mean, whole.mean)
    with pytest.warns(EddiWarning, match="y is not used.*PartialVAEClassifier or PartialVAERegressor"):
        PartialVAE(max_steps=5, recipe=SMALL).fit(inputs, risk)
