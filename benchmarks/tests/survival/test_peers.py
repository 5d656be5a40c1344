"""Peers of scikit-survival."""

import numpy as np
import pytest

from eddi_benchmarks.survival.design import Split
from eddi_benchmarks.survival.peers import PEERS, fit_peer


@pytest.mark.slow
@pytest.mark.parametrize("name", PEERS)
def test_a_peer_predicts_scores_and_curves(patients, name):
    pytest.importorskip("sksurv")
    split = Split.draw(patients, seed=0, test_share=0.25, max_train=0)
    scores, curve = fit_peer(name, split, seed=0)
    survival = curve(np.array([0.1, 0.5, 1.0]))
    assert scores.shape == (50,)
    assert survival.shape == (50, 3)
    assert (np.diff(survival) <= 1e-9).all()
