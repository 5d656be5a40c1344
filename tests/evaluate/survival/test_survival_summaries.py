"""Curves of survival targets."""

import json

import numpy as np
import pandas as pd

import eddi
from eddi.evaluate.calibration import Calibration
from eddi.evaluate.curves import Curves
from eddi.evaluate.simulation_report import list_metrics, report_document


def test_curves_have_concordances_and_brier_scores(survival_curves):
    n_steps = survival_curves.n_steps
    assert n_steps == 3
    for name in ("concordance", "uno_concordance", "integrated_brier"):
        assert getattr(survival_curves, name).shape == (n_steps + 1,)
    assert survival_curves.accuracy is None


def test_the_rmse_is_the_root_of_the_brier_score(survival_curves):
    assert np.allclose(survival_curves.rmse**2, survival_curves.integrated_brier)


def test_other_targets_have_none_of_them(survival_model, patients):
    curves = eddi.simulate(survival_model, patients(10, seed=1), "age")
    assert curves.concordance is None
    assert curves.integrated_brier is None
    assert "death" not in curves.questions


def test_curves_are_written_as_json(survival_curves):
    document = json.loads(json.dumps(survival_curves.to_document()))
    assert document["concordance"][0] == 0.5
    assert document["survival"]["time"] == "days"


def test_parts_are_joined(survival_model, patients, survival_curves):
    rows = patients(150, seed=3)
    parts = [eddi.simulate(survival_model, part, "death") for part in (rows[:70], rows[70:])]
    joined = Curves.concatenate(parts)
    assert np.allclose(joined.concordance, survival_curves.concordance)


def test_rows_without_an_outcome_do_not_count(survival_model, patients, survival_curves):
    rows = patients(150, seed=3)
    extra = patients(10, seed=4)
    extra[["days", "died"]] = np.nan

    curves = eddi.simulate(survival_model, pd.concat([rows, extra], ignore_index=True), "death")
    assert np.allclose(curves.concordance, survival_curves.concordance)


def test_reports_name_the_metrics_of_survival(survival_curves):
    assert list(list_metrics(survival_curves)) == ["concordance", "integrated_brier"]
    assert report_document({"information": survival_curves})["comparison"][0]["area"] > 0


def test_calibration_is_that_of_the_risk(survival_curves):
    calibration = Calibration.from_curves(survival_curves, survival_curves.n_steps)
    assert (np.diff(calibration.predicted) > 0).all()
