"""Bounds of the error: mixtures of predictions with the best weights."""

import numpy as np
import pytest

from eddi_benchmarks.decisions.mixtures import METHODS, Split, as_table, compute_bounds


@pytest.fixture
def split():
    """Two methods whose errors cancel, and worse ones; all predict the same before the first answer."""
    random = np.random.default_rng(0)
    truth = random.normal(size=50)
    errors = np.full((len(METHODS), 50, 3), 2.0)
    errors[0], errors[2] = 1.0, -1.0  # ours and GDFS
    means = truth[:, None] + errors
    means[:, :, 0] = 0.0
    return Split(means, truth)


def test_the_error_of_one_method_is_its_rmse(split):
    weights = np.eye(len(METHODS))[0]
    np.testing.assert_allclose(split.errors(weights), [np.sqrt(np.mean(split.truth**2)), 1.0, 1.0])


def test_weights_may_differ_between_steps(split):
    weights = np.repeat(np.eye(len(METHODS))[0][:, None], 3, axis=1)
    weights[:, 2] = np.eye(len(METHODS))[4]
    np.testing.assert_allclose(split.errors(weights)[1:], [1.0, 2.0])


def test_the_best_mixture_lets_errors_cancel(split):
    bounds = compute_bounds("any", [split, split])
    before = split.errors(np.eye(len(METHODS))[0])[0]
    assert bounds.ours == pytest.approx(1.0)
    assert bounds.best_method == pytest.approx(1.0)
    assert bounds.mixture == pytest.approx(before / (before + 2), abs=1e-3)
    assert bounds.mixture_by_step == pytest.approx(bounds.share_before, abs=1e-3)
    assert bounds.mixture <= bounds.equal_mixture


def test_the_table_has_a_row_for_each_dataset_and_the_mean(split):
    table = as_table([compute_bounds(name, [split]) for name in ("first", "second")])
    assert list(table.columns[0].cells) == ["first", "second", "mean"]
