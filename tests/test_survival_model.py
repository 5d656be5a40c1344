"""Models with a survival target: fit, predict, save, interview."""

import numpy as np
import pytest

import eddi
from eddi.errors import AnswerError, SchemaError, StopError, TableError, TrainingError
from eddi.model.concordance import concordance


def test_predicted_times_order_new_patients(survival_model, patients):
    rows = patients(200, seed=1)
    prediction = survival_model.predict(rows, "death")
    assert concordance(-prediction.mean, rows.days.values, rows.died.values) > 0.65


def test_predictions_are_curves(survival_model, patients):
    prediction = survival_model.predict(patients(20, seed=1), "death")
    survival = prediction.curve.survival
    assert survival.shape == (20, survival_model.schema_["death"].n_levels)
    assert (np.diff(survival) <= 0).all()
    assert np.allclose(prediction.risk(50), 1 - prediction.curve.at(50))


def test_the_repr_of_a_row_shows_median_and_risks(survival_model, patients):
    assert "risk " in repr(survival_model.predict(patients(3, seed=1), "death")[0])
    assert "up to 50" in repr(survival_model.predict(patients(3, seed=1), "death")[0])


def test_another_kind_has_no_curve(survival_model, patients):
    with pytest.raises(eddi.EddiError, match="'age' is real and has no survival curve"):
        _ = survival_model.predict(patients(3, seed=1), "age").curve


def test_the_outcome_in_the_table_has_no_effect(survival_model, patients):
    rows = patients(20, seed=1)
    evidence = survival_model.evidence(rows)
    assert evidence.observed[:, survival_model.schema_.position("death")].all()
    with_outcome = survival_model.fitted().predict_evidence(evidence, ["age", "death"])
    without = survival_model.predict(rows.drop(columns=["days", "died"]), ["death"])["death"]
    assert np.allclose(with_outcome["death"].bin_probabilities, without.bin_probabilities)


def test_without_evidence_the_curve_is_near_that_of_kaplan_and_meier(survival_model):
    model = survival_model.fitted()
    head, _ = model.network.marginals.head_of(model.schema.position("death"))
    base = np.exp(-np.exp(head.likelihood.log_base[0].numpy()).cumsum())
    predicted = eddi.Interview(survival_model, "death").predict().curve.survival[1:]
    assert np.abs(predicted - base).max() < 0.1


def test_an_interview_asks_the_informative_questions_first(survival_model):
    rewards = eddi.Interview(survival_model, "death").rewards()
    assert min(rewards, key=rewards.get) == "weight"
    assert "death" not in rewards


def test_answers_narrow_the_band(survival_model):
    interview = eddi.Interview(survival_model, "death")
    before = float(interview.predict().log_hazard_sd)
    for question, answer in {"age": 60, "stage": "II", "weight": 75}.items():
        interview.tell(question, answer)
    assert float(interview.predict().log_hazard_sd) < 0.7 * before


def test_nobody_can_tell_the_outcome(survival_model):
    with pytest.raises((AnswerError, SchemaError), match="death"):
        eddi.Interview(survival_model, "death").tell("death", 3)


def test_a_model_file_gives_the_same_curves(survival_model, patients, tmp_path):
    survival_model.save(tmp_path / "patients.eddi")
    loaded = eddi.load(tmp_path / "patients.eddi")
    rows = patients(20, seed=1)
    expected, found = (m.predict(rows, "death").bin_probabilities for m in (survival_model, loaded))
    assert np.allclose(expected, found)


def test_the_quality_is_the_concordance(survival_model, patients):
    quality = survival_model.measure_quality(patients(200, seed=2))["death"]
    assert 0.65 < quality.metrics["concordance"] < 0.85
    assert any("concordance" in line for line in quality.describe())


def test_imputation_leaves_times_and_events_alone(survival_model, patients):
    rows = patients(5, seed=1)
    rows.loc[0, ["days", "died"]] = np.nan
    rows.loc[1, "age"] = np.nan
    filled = survival_model.transform(rows)
    assert filled.days.isna().tolist() == rows.days.isna().tolist()
    assert not filled.age.isna().any()


def test_a_risk_of_wrong_decisions_is_no_rule_for_a_time(survival_model):
    with pytest.raises(StopError, match="'death' is a time"):
        eddi.Interview(survival_model, "death", stop=eddi.Stop(risk=0.1))


def test_a_table_without_events_cannot_be_fitted(patients):
    rows = patients(40, seed=0).assign(died=0)
    schema = eddi.Schema.infer(rows, survival={"death": ("days", "died")})
    with pytest.raises(TableError, match="no events: all 40 rows"):
        eddi.PartialVAE(schema, "death").fit(rows)


def test_the_recipe_of_the_paper_has_no_survival_targets(patients):
    rows = patients(40, seed=0)
    schema = eddi.Schema.infer(rows, survival={"death": ("days", "died")})
    with pytest.raises(TrainingError, match=r"'death' is a survival target.*Use recipe=\"default\""):
        eddi.PartialVAE(schema, "death", recipe="paper").fit(rows)
