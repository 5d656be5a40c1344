"""Metrics of simulated interviews over time."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from eddi import Variable
from eddi.evaluate.series.series_curves import SeriesCurves, average_precision


def make_curves(truth, predicted):
    truth, predicted = np.asarray(truth, dtype=float), np.asarray(predicted, dtype=float)
    counts = np.arange(truth.size).reshape(truth.shape)
    return SeriesCurves(
        Variable("x", "real"), counts * 1.0, truth, predicted, counts, counts * 2.0, 4, 1
    )


def test_average_precision_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    is_positive, scores = random.random(200) < 0.3, random.random(200).round(1)
    assert average_precision(scores, is_positive) == pytest.approx(
        average_precision_score(is_positive, scores)
    )
    assert np.isnan(average_precision(scores, np.zeros(200, dtype=bool)))


def test_metrics_are_those_of_one_decision_or_of_all():
    truth, predicted = [[0, 1], [1, 1], [0, 0]], [[0.2, 0.4], [0.1, 0.9], [0.3, 0.6]]
    curves = make_curves(truth, predicted)
    assert curves.auroc(0) == roc_auc_score([0, 1, 0], [0.2, 0.1, 0.3])
    assert curves.auroc() == roc_auc_score(np.ravel(truth), np.ravel(predicted))
    assert curves.auprc(1) == pytest.approx(average_precision_score([1, 1, 0], [0.4, 0.9, 0.6]))


def test_missing_truths_and_decisions_do_not_count():
    curves = make_curves([[1, np.nan], [3, 4]], [[2, 5], [3, np.nan]])
    assert curves.rmse() == pytest.approx(np.sqrt(0.5))


def test_the_share_of_choices_that_were_not_recorded():
    curves = make_curves([[1, 2]], [[1, 2]])
    assert curves.unrecorded_share == 0.25
    assert curves.measurements_per_person == 1
