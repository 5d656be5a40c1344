"""Metrics of survival predictions at every step."""

import numpy as np
import pytest

from eddi.evaluate.survival.survival_metrics import SurvivalMetrics
from eddi.model.concordance import concordance


@pytest.fixture(scope="module")
def metrics(survival_curves):
    """Metrics of interviews with patients."""
    return survival_curves.survival_metrics


def test_questions_raise_the_concordance(metrics):
    assert metrics.harrell[0] == 0.5
    assert metrics.harrell[-1] > 0.65
    assert metrics.uno[-1] > 0.65


def test_questions_lower_the_brier_score(metrics):
    assert metrics.integrated_brier[-1] < metrics.integrated_brier[0]


def test_the_concordance_is_that_of_mean_times(survival_curves, metrics):
    expected = concordance(-survival_curves.mean[:, -1], survival_curves.truth, survival_curves.events)
    assert metrics.harrell[-1] == pytest.approx(expected)


def test_calibration_is_compared_at_horizons(metrics):
    errors = metrics.calibration_error((50.0, 150.0))
    assert errors.shape == metrics.harrell.shape
    assert (errors < 0.3).all()


def test_a_horizon_after_the_last_event_is_replaced_by_it(metrics):
    end = float(metrics.edges[-1])
    assert np.allclose(metrics.calibration_error((1e9,)), metrics.calibration_error((end,)))


@pytest.mark.slow
def test_concordances_agree_with_scikit_survival():
    sksurv = pytest.importorskip("sksurv.metrics")
    random = np.random.default_rng(1)
    score = random.normal(size=300)
    death, end = random.exponential(np.exp(-score)), random.uniform(0.2, 3, 300)
    times, events = np.minimum(death, end), death <= end
    survival = np.exp(-np.array([0, 0.5, 1, 1.5]) * np.exp(score)[:, None])
    probabilities = np.concatenate([-np.diff(survival), survival[:, -1:]], axis=1)
    edges = np.array([0.5, 1, 1.5])
    metrics = SurvivalMetrics(edges, times, events.astype(float), probabilities[:, None])
    outcome = np.array(list(zip(events, times, strict=True)), dtype=[("event", bool), ("time", float)])
    harrell = sksurv.concordance_index_censored(events, times, score)[0]
    uno = sksurv.concordance_index_ipcw(outcome, outcome, score, tau=1.5)[0]
    assert metrics.harrell[0] == pytest.approx(harrell, abs=1e-6)
    assert metrics.uno[0] == pytest.approx(uno, abs=1e-3)
