"""Models of beliefs: without data, and with a few rows of data."""

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.errors import StopError, TableError, TrainingError
from eddi.estimator_input import count_prior_rows
from eddi.model.files.model_card import model_card
from eddi.table.beliefs.prior_rows import draw_prior_rows

TEXT = """\
targets = ["risk"]
[variables]
age = { kind = "real", low = 18, high = 90 }
income = { kind = "real", low = 0 }
smoking = { kind = "binary", levels = ["no", "yes"] }
town = { kind = "category", levels = ["Aber", "Bala", "Corris"] }
risk = { kind = "ordinal", levels = ["low", "medium", "high"] }

[beliefs]
income = { typical = 30, spread = 5 }
smoking = { shares = [0.7, 0.3] }

[[relations]]
of = "smoking"
to = "risk"
strength = "strong"
[[relations]]
of = "age"
to = "income"
strength = "strong"
"""
SCHEMA = eddi.Schema.from_toml(TEXT)


def make_model(**settings):
    return eddi.PartialVAE(SCHEMA, "risk", random_state=0, device="cpu", **{"max_steps": 100} | settings)


def make_table(n_rows, seed=0):
    """Rows in which, against the beliefs, risk does not depend on smoking."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.uniform(20, 80, n_rows),
            "income": random.normal(25, 3, n_rows),
            "smoking": random.choice(["no", "yes"], n_rows),
            "town": random.choice(["Aber", "Bala", "Corris"], n_rows),
            "risk": random.choice(["low", "medium", "high"], n_rows),
        }
    )


@pytest.fixture(scope="module")
def believed():
    """A model without data."""
    return make_model(max_steps=200).fit(None)


def probability_of_high_risk(model, smoking):
    interview = eddi.Interview(model, "risk")
    interview.tell("smoking", smoking)
    return interview.predict().probabilities[2]


def test_relations_determine_predictions(believed):
    assert probability_of_high_risk(believed, "yes") > probability_of_high_risk(believed, "no") + 0.2


def test_the_question_with_the_strongest_relation_is_asked_first(believed):
    assert eddi.Interview(believed, "risk").ask().name == "smoking"


def test_intervals_cover_rows_that_are_drawn_from_the_beliefs(believed):
    rows = draw_prior_rows(SCHEMA, 1_000, seed=99)
    evidence = believed.fitted().coding.encode(rows)
    hidden = np.random.default_rng(0).random(rows.shape) < 0.5
    covered = []
    for name in ("age", "income"):
        place = SCHEMA.position(name)
        hidden[:, place] = True
        prediction = believed.fitted().predict_evidence(evidence.hide(hidden), (name,))[name]
        low, high = prediction.interval.T
        covered.append(((rows[:, place] >= low) & (rows[:, place] <= high)).mean())
    assert 0.85 <= np.mean(covered) <= 0.95


def test_the_model_says_that_no_data_were_used(believed):
    assert believed.n_rows_ == 0
    assert set(believed.n_answers_) == {count_prior_rows(None, SCHEMA, has_table=False)}
    assert "No data were used" in model_card(believed.fitted())
    assert "trained on beliefs alone" in repr(believed.fitted())


def test_a_model_without_data_is_saved_and_loaded(believed, tmp_path):
    believed.save(tmp_path / "m.eddi")
    loaded = eddi.load(tmp_path / "m.eddi")
    assert loaded.schema_ == SCHEMA
    assert loaded.fitted().training == believed.fitted().training
    expected = probability_of_high_risk(believed, "yes")
    assert probability_of_high_risk(loaded, "yes") == pytest.approx(expected, abs=1e-5)


def test_rows_of_beliefs_guarantee_no_risk(believed):
    with pytest.raises(StopError, match="needs rows that training did not see"):
        eddi.Interview(believed, "risk", stop=eddi.Stop(risk=0.2))


@pytest.mark.slow
def test_rows_of_data_take_over(believed):
    table = make_table(60)
    model = make_model(prior_rows=5).fit(table)
    difference = [
        probability_of_high_risk(m, "yes") - probability_of_high_risk(m, "no") for m in (believed, model)
    ]
    assert abs(difference[1]) < difference[0] / 2
    assert model.n_rows_ == 60
    assert "60, and beliefs that count as 5 rows" in model_card(model.fitted())


@pytest.mark.slow
def test_from_ten_rows_on_only_data_are_held_out():
    table = make_table(10)
    model = make_model(prior_rows=5, max_steps=1).fit(table).fitted()
    held_out = np.concatenate([model.coding.decode(rows.values) for _, rows in model.folds])
    assert np.sort(held_out[:, 0]) == pytest.approx(np.sort(table["age"]), rel=1e-4)


@pytest.mark.slow
def test_the_answer_to_a_question_that_nobody_was_asked_changes_no_prediction():
    names = ("asked", "new", "result")
    schema = eddi.Schema(tuple(eddi.Variable(name, "real", low=-8, high=8) for name in names))
    asked, noise = np.random.default_rng(0).standard_normal((2, 120))
    table = pd.DataFrame({"asked": asked, "new": np.nan, "result": asked - 4 + noise})
    model = eddi.PartialVAE(schema, "result", prior_rows=20, max_steps=200, random_state=0).fit(table)
    rows = pd.DataFrame({"asked": [-1.0, 0.0, 1.0] * 2, "new": [np.nan] * 3 + [1.0] * 3})
    evidence = model.fitted().evidence(rows, optional=("result",))
    prediction = model.fitted().predict_evidence(evidence, ("result",))["result"]
    np.testing.assert_allclose(prediction.mean[3:], prediction.mean[:3], atol=0.2)
    interview = eddi.Interview(model, "result")
    interview.tell("asked", 1.0)
    assert interview.rewards()["new"] < 0.05


def test_fewer_rows_are_trained_on_but_not_held_out():
    model = make_model(prior_rows=5, max_steps=1).fit(make_table(9)).fitted()
    assert model.training.n_rows == 9
    assert (model.validation_rows, model.folds) == (None, [])


@pytest.mark.slow
def test_a_variable_without_data_is_predicted_from_beliefs():
    table = make_table(40).assign(income=np.nan)
    model = make_model(prior_rows=20, max_steps=100).fit(table)
    assert eddi.Interview(model, "risk").predict("income").mean == pytest.approx(30, abs=3)


def test_neither_a_table_nor_a_schema_is_explained():
    with pytest.raises(TableError, match="there is neither a table nor a schema"):
        eddi.PartialVAE().fit(None)


def test_a_negative_number_of_prior_rows_is_refused():
    with pytest.raises(TrainingError, match="prior_rows must be 0 or more rows, got -1"):
        make_model(prior_rows=-1).fit(make_table(10))


@pytest.mark.slow
def test_intervals_of_every_quantity_cover_simulated_truths():
    model = make_model(max_steps=None).fit(None).fitted()
    for name in ("age", "income"):
        place, covered = SCHEMA.position(name), []
        for seed in range(20):
            rows = draw_prior_rows(SCHEMA, 200, seed=1_000 + seed)
            hidden = np.random.default_rng(seed).random(rows.shape) < 0.5
            hidden[:, place] = True
            evidence = model.coding.encode(rows).hide(hidden)
            low, high = model.predict_evidence(evidence, (name,))[name].interval.T
            covered.append(((rows[:, place] >= low) & (rows[:, place] <= high)).mean())
        assert 0.85 <= np.mean(covered) <= 0.95


@pytest.mark.parametrize(
    ("schema", "given", "expected"),
    [(SCHEMA, None, 20), (SCHEMA.without("smoking", "income"), None, 0), (SCHEMA, 3, 3), (SCHEMA, 0, 0)],
)
def test_beliefs_count_as_twenty_rows_if_there_are_any(schema, given, expected):
    assert count_prior_rows(given, schema, has_table=True) == expected
