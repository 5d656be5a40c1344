"""The loss and the quality of survival predictions."""

import numpy as np

from eddi import Survival
from eddi.model.survival_quality import compare_survival, survival_loss

PROBABILITIES = np.array([[0.2, 0.3, 0.5]])  # risk 0.2 and 0.5 at the ends of two bins


def test_an_event_is_compared_at_all_ends():
    assert np.allclose(survival_loss(PROBABILITIES, np.array([1.1])), (0.2**2 + 0.5**2) / 2)


def test_a_censored_row_is_compared_as_long_as_it_was_seen():
    assert np.allclose(survival_loss(PROBABILITIES, np.array([1 - 0.75])), 0.2**2)
    assert np.allclose(survival_loss(PROBABILITIES, np.array([-0.75])), 0)


def test_the_quality_is_the_concordance_of_mean_times():
    survival = Survival("days", "died", edges=[10, 20])
    truth = np.array([0.1, 1.1, 1.25])
    metrics, trivial = compare_survival(survival, truth, np.array([3.0, 12, 18]))
    assert metrics == {"concordance": 1.0}
    assert trivial == {"concordance": 0.5}
