"""Item parameters are recovered from simulated answers."""

import numpy as np
import pytest

from eddi.errors import TrainingError
from eddi.model.item_bank import Item, Trait, calibrate
from eddi.table.evidence import Evidence


def draw_answers(items, n_rows, seed=0):
    random = np.random.default_rng(seed)
    theta = random.standard_normal(n_rows)
    below = [item.probabilities(theta).cumsum(1) for item in items]
    levels = [(part < random.random((n_rows, 1))).sum(1) for part in below]
    values = np.stack(levels, axis=1).astype(np.float64)
    values[random.random(values.shape) < 0.1] = np.nan
    return Evidence.of(values)


def test_calibration_recovers_the_parameters_of_simulated_items():
    names = ("p", "q", "r", "s")
    true = [Item(n, a, (-1.0, 0.0, 1.2)) for n, a in zip(names, (0.8, 1.5, 2.2, 1.2), strict=True)]
    found = calibrate(draw_answers(true, 2_000), range(4), names, Trait())
    for item, expected in zip(found, true, strict=True):
        assert item.discrimination == pytest.approx(expected.discrimination, rel=0.2)
        assert item.thresholds == pytest.approx(expected.thresholds, abs=0.2)


def test_an_item_whose_answers_do_not_differ_cannot_be_calibrated():
    with pytest.raises(TrainingError, match="'q' do not differ"):
        calibrate(Evidence.of(np.array([[0.0, 1.0], [1.0, 1.0]])), range(2), ("p", "q"), Trait())
