"""A variable that determines the target is found, whatever the relation; chance is not."""

import numpy as np
import pytest

from eddi.table.checks.leakage import predictive_strength


def test_a_chance_correlation_is_not_a_leak():
    random = np.random.default_rng(1)
    noise = random.normal(size=(2, 400))
    is_high = (noise[1] > 0).astype(float)
    is_late = (np.arange(400) > 200).astype(float)
    assert predictive_strength(noise[0], noise[1], has_levels=False) < 0.1
    assert predictive_strength(noise[0], is_high, has_levels=True) < 0.2
    assert predictive_strength(np.arange(400.0), is_late, has_levels=True) > 0.95
    assert predictive_strength(np.full(400, np.nan), noise[1], has_levels=False) == 0


@pytest.mark.parametrize("threshold", [-2.0, 0.0, 1.3, 2.0])
def test_a_threshold_of_a_quantity_is_found_wherever_it_is(threshold):
    x = np.random.default_rng(0).normal(size=600)
    assert predictive_strength(x, (x > threshold).astype(float), has_levels=True) == pytest.approx(1)
    assert predictive_strength(-x, (x > threshold).astype(float), has_levels=True) == pytest.approx(1)


def test_a_strong_predictor_is_not_a_leak():
    random = np.random.default_rng(0)
    x = random.normal(size=600)
    y = (x + random.normal(size=600) > 1.3).astype(float)
    assert predictive_strength(x, y, has_levels=True) < 0.9


def test_bands_of_a_quantity_are_found():
    x = np.random.default_rng(0).normal(size=600)
    bands = np.digitize(x, [-1.5, 1.5]).astype(float)
    assert predictive_strength(x, bands, has_levels=True) == pytest.approx(1)
    assert predictive_strength(np.abs(x), bands, has_levels=True) < 0.9


def test_two_rows_at_one_end_are_chance():
    x = np.arange(100.0)
    y = (x > 97).astype(float)
    assert predictive_strength(x, y, has_levels=True) < 0.97
