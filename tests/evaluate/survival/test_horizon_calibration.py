"""Calibration of the risk at a horizon."""

import numpy as np

from eddi.evaluate.survival.horizon_calibration import HorizonCalibration


def compute(risk, scale=1.0):
    """Calibration at time 1 of rows whose events happen with ``scale`` times the predicted risk."""
    random = np.random.default_rng(0)
    times = np.where(random.random(len(risk)) < scale * risk, 0.5, 2.0)
    return HorizonCalibration.compute(risk, times, (times < 1).astype(float), horizon=1.0)


def test_groups_go_from_low_to_high_risk():
    result = compute(np.random.default_rng(1).random(400))
    assert len(result.predicted) == 5
    assert (np.diff(result.predicted) > 0).all()
    assert result.n_rows.sum() == 400


def test_correct_risks_have_a_small_error():
    assert compute(np.random.default_rng(1).random(4000)).error < 0.03


def test_risks_that_are_twice_too_high_have_a_large_error():
    assert compute(np.random.default_rng(1).random(4000), scale=0.5).error > 0.2


def test_few_rows_are_one_group():
    assert len(compute(np.full(15, 0.5)).predicted) == 1
