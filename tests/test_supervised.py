"""The classifier and the regressor predict one target, from raw tables."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from eddi import Interview, PartialVAE, PartialVAEClassifier, PartialVAERegressor, Schema, load
from eddi.errors import EddiWarning, TableError, TargetError
from eddi.model.prediction import Prediction
from eddi.recipes import DEFAULT

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=32, folds=0)


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


@pytest.mark.slow
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
