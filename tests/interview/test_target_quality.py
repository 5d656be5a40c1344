"""The quality of a model is that of its predictions of rows it was not trained on."""

import numpy as np
import pytest

from eddi import PartialVAE, load
from eddi.interview.target_quality import measure_quality
from eddi.recipes import DEFAULT

N_ROWS = 60


@pytest.fixture(scope="module")
def test_table(people):
    return people(N_ROWS, seed=9)


@pytest.fixture(scope="module")
def model(people, people_schema):
    """A cross-validated model with two targets."""
    estimator = PartialVAE(people_schema, ["smoker", "age"], max_steps=30, random_state=0)
    return estimator.fit(people(80, seed=0))


def test_metrics_are_those_of_the_predictions_from_all_values_but_the_targets(model, test_table):
    quality = model.measure_quality(test_table)
    known = test_table["smoker"].notna().to_numpy()
    predicted = model.predict(test_table.assign(age=np.nan), "smoker").value[known]
    truth = test_table["smoker"].to_numpy()[known]
    assert quality["smoker"].metrics["accuracy"] == np.mean(predicted == truth)
    assert quality["smoker"].trivial["accuracy"] == max(quality["smoker"].class_shares.values())
    assert quality["smoker"].n_rows == known.sum()
    known = test_table["age"].notna().to_numpy()
    errors = (
        model.predict(test_table.assign(smoker=None), "age").mean[known]
        - test_table["age"].to_numpy()[known]
    )
    assert quality["age"].metrics["rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-4)
    assert quality["age"].trivial["rmse"] == pytest.approx(np.std(test_table["age"][known]), rel=1e-4)
    assert quality["age"].source == "test rows"


def test_a_cross_validated_model_is_measured_on_the_rows_of_all_folds(model, people):
    quality = model.measure_quality()
    n_known = int(people(80, seed=0)["smoker"].notna().sum())
    assert (quality["smoker"].n_rows, quality["smoker"].source) == (n_known, "cross-validation")
    assert 0 <= quality["smoker"].n_enough <= quality["smoker"].n_questions == 6
    source, folds = model.fitted().held_out()
    assert len(folds) == DEFAULT.folds
    assert all(fold.network is not model.network_ for fold, _ in folds)
    assert measure_quality(folds, "smoker", source, targets=["smoker", "age"]) == quality["smoker"]


def test_rows_without_the_target_tell_nothing(model, test_table):
    rows = model.evidence(test_table.drop(columns="smoker"), optional=["smoker"])
    assert measure_quality([(model.fitted(), rows)], "smoker", "test rows") is None


def test_a_saved_model_has_its_quality_on_the_card(model, test_table, tmp_path):
    expected = model.measure_quality(test_table)
    model.save(tmp_path / "people.eddi")
    loaded = load(tmp_path / "people.eddi").fitted()
    assert loaded.quality == expected
    from eddi.model.files.model_card import model_card

    card = model_card(loaded)
    assert "## Quality of predictions of smoker" in card
    assert expected["smoker"].describe()[1] in card
    assert "The table has only 80 rows" in card


def test_a_variable_that_is_never_asked_does_not_help(people, people_schema, test_table):
    schema = people_schema.with_question("weight", never=True)
    model = PartialVAE(schema, "smoker", max_steps=10, random_state=0).fit(people(300, seed=0))
    known = test_table["smoker"].notna().to_numpy()
    predicted = model.predict(test_table.assign(weight=np.nan), "smoker").value[known]
    truth = test_table["smoker"].to_numpy()[known]
    quality = model.measure_quality(test_table)["smoker"]
    assert quality.metrics["accuracy"] == np.mean(predicted == truth)
    assert quality.n_questions == len(schema.questions) - 2
