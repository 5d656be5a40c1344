"""A linear factor model, whose every conditional is known exactly, is recovered."""

import numpy as np
import pytest
import torch
from scipy import stats

from eddi import PartialVAE
from eddi.model.training.loop import draw_kept
from eddi.table.evidence import Evidence

LOADINGS = np.array([[1.0, 0.0], [0.8, 0.3], [0.0, 1.0], [-0.5, 0.8], [0.9, -0.4], [0.4, 0.7]])
NOISE = np.array([0.3, 0.4, 0.3, 0.5, 0.4, 0.6])
MEAN = np.array([10.0, -3.0, 0.0, 100.0, 5.0, 1.0])
COVARIANCE = LOADINGS @ LOADINGS.T + np.diag(NOISE**2)
NAMES = [f"x{place}" for place in range(6)]


def people(n_rows, seed):
    random = np.random.default_rng(seed)
    factors = random.normal(size=(n_rows, 2))
    return MEAN + factors @ LOADINGS.T + NOISE * random.normal(size=(n_rows, 6))


def exact(table, seen, wanted):
    """Mean [rows] and sd of the wanted variable given the seen ones: conditional Gaussian."""
    inner = COVARIANCE[np.ix_(seen, seen)]
    weights = np.linalg.solve(inner, COVARIANCE[seen, wanted])
    mean = MEAN[wanted] + (table[:, seen] - MEAN[seen]) @ weights
    return mean, np.sqrt(COVARIANCE[wanted, wanted] - COVARIANCE[wanted, seen] @ weights)


CASES = [(0, [1, 2, 3, 4, 5]), (3, [2, 5]), (5, [0]), (4, [0, 1]), (2, [0, 1, 3, 4, 5]), (1, [3])]
"""A wanted variable, and those seen."""

# Tolerances are what three seeds keep with margin after 2000 steps, not what one would wish for:
# errors of the mean were 0.30 to 0.39 of the exact sd over all cases and at most 0.62 in one, sds
# within 26%, the score 0.04 to 0.07 nats an entry below that of the truth. Tighten them as the
# default recipe improves; predicting the plain mean is an error of 1.2 and 0.28 nats.


@pytest.fixture(scope="module")
def model():
    return PartialVAE(random_state=0, max_steps=2000).fit(people(2000, seed=0))


@pytest.fixture(scope="module")
def errors(model):
    """For each case, the error of the mean in exact sds, and the sd over the exact one."""
    table = people(500, seed=77)
    found = []
    for wanted, seen in CASES:
        hidden = [place for place in range(6) if place not in seen]
        evidence = model.evidence(table).hide(hidden)
        belief = model.predict_evidence(evidence, [NAMES[wanted]])[NAMES[wanted]]
        mean, sd = exact(table, seen, wanted)
        found.append((np.sqrt(np.mean((belief.mean - mean) ** 2)) / sd, belief.sd.mean() / sd))
    return np.array(found)  # [cases, 2]


def test_hidden_entries_get_nearly_their_exact_conditional_mean(errors):
    assert errors[:, 0].mean() < 0.5
    assert errors[:, 0].max() < 0.75


def test_hidden_entries_get_nearly_their_exact_conditional_sd(errors):
    assert errors[:, 1] == pytest.approx(1, abs=0.35)


def test_the_score_is_nearly_that_of_the_true_model(model):
    table = people(1000, seed=5)
    shape = (1, *table.shape)
    kept = draw_kept(shape, model.recipe_, torch.Generator().manual_seed(0))[0].numpy() > 0
    truth = []
    for row, seen in zip(table, kept, strict=True):
        for wanted in np.flatnonzero(~seen):
            mean, sd = exact(row[None], np.flatnonzero(seen), wanted)
            truth.append(stats.norm(mean[0], sd).logpdf(row[wanted]))
    assert np.mean(truth) - 0.12 < model.score(table) < np.mean(truth) + 0.01


def test_knowing_nothing_gives_each_variables_own_mean_and_sd(model):
    beliefs = model.predict_evidence(Evidence.empty(1, 6), NAMES)
    for place, name in enumerate(NAMES):
        sd = np.sqrt(COVARIANCE[place, place])
        assert beliefs[name].mean[0] == pytest.approx(MEAN[place], abs=0.25 * sd)
        assert beliefs[name].sd[0] == pytest.approx(sd, rel=0.2)


def test_intervals_hold_nine_in_ten_of_the_truth(model):
    table = people(500, seed=78)
    belief = model.predict(table, "x3")
    inside = (belief.interval[:, 0] <= table[:, 3]) & (table[:, 3] <= belief.interval[:, 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.06)


def test_joint_draws_keep_what_ties_variables_together(model):
    drawn = model.draw_tables(Evidence.empty(1, 6), 4000, seed=0)[:, 0]
    expected = COVARIANCE / np.sqrt(np.outer(np.diag(COVARIANCE), np.diag(COVARIANCE)))
    assert np.abs(np.corrcoef(drawn.T) - expected).max() < 0.25
