"""A small discrete Bayesian network, enumerated exactly: does the reward rank questions as it should?

The network is in the manner of the "Asia" of Lauritzen and Spiegelhalter (1988): habits cause illnesses,
illnesses cause findings. All 2^6 states are summed, so posteriors and mutual informations are exact.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from eddi import PartialVAE, Schema, Variable
from eddi.reward.paper.latent_information import information
from eddi.table.evidence import Evidence

NAMES = ("smoker", "cancer", "bronchitis", "shadow", "cough", "breathless")
STATES = np.array(list(itertools.product([0, 1], repeat=6)))  # [64, 6]
CASES = [
    (target, dict(told))
    for target in ("cancer", "bronchitis", "shadow")
    for told in ([], [("smoker", 1)], [("cough", 1)], [("breathless", 0)], [("smoker", 0), ("cough", 1)])
]
"""A target, and what was told before."""


def joint():
    """The probability of each state."""
    smoker, cancer, bronchitis, shadow, cough, breathless = STATES.T

    def chance(p, state):
        return np.where(state == 1, p, 1 - p)

    return (
        chance(0.4, smoker)
        * chance(np.where(smoker, 0.35, 0.1), cancer)
        * chance(np.where(smoker, 0.6, 0.2), bronchitis)
        * chance(np.where(cancer, 0.9, 0.05), shadow)
        * chance(np.where(bronchitis, 0.8, np.where(cancer, 0.5, 0.15)), cough)
        * chance(
            np.where(bronchitis & cancer, 0.95, np.where(bronchitis | cancer, 0.7, 0.1)), breathless
        )
    )


def exact(target, told, asked):
    """I(x_asked; x_target | what was told) in nats."""
    kept = np.all(
        [STATES[:, NAMES.index(name)] == value for name, value in told.items()] or [True], axis=0
    )
    weight = joint() * kept
    table = np.zeros((2, 2))
    np.add.at(table, (STATES[:, NAMES.index(asked)], STATES[:, NAMES.index(target)]), weight)
    table /= table.sum()
    apart = table.sum(1, keepdims=True) * table.sum(0, keepdims=True)
    return float((table * np.log(table / apart)).sum())


@pytest.fixture(scope="module")
def model():
    drawn = np.random.default_rng(0).choice(64, size=4_000, p=joint())
    schema = Schema(tuple(Variable(name, "binary", levels=("no", "yes")) for name in NAMES))
    words = np.array(["no", "yes"], dtype=object)[STATES[drawn]]
    return PartialVAE(schema, random_state=0, max_steps=800).fit(pd.DataFrame(words, columns=NAMES))


@pytest.fixture(scope="module")
def ranked(model):
    """For each case, rewards and exact information of the open questions [questions, 2]."""
    found = []
    for target, told in CASES:
        numbers = np.array([[told.get(name, np.nan) for name in NAMES]])
        rewards = information(model, Evidence.of(numbers), [target], n_draws=256, seed=0)[0].tolist()
        opened = [name for name in NAMES if name not in (target, *told)]
        found.append([(rewards[NAMES.index(name)], exact(target, told, name)) for name in opened])
    return [np.array(case) for case in found]


def test_the_exact_information_is_zero_where_the_network_says_so():
    assert exact("shadow", {"cancer": 1}, "cough") == pytest.approx(0, abs=1e-12)
    assert exact("cancer", {}, "shadow") > 0.2


def test_questions_are_ranked_nearly_as_their_exact_information(ranked):
    taus = [kendalltau(*case.T).statistic for case in ranked]
    assert np.mean(taus) > 0.5


def test_the_first_choice_is_nearly_as_good_as_the_best(ranked):
    kept = [case[case[:, 0].argmax(), 1] / case[:, 1].max() for case in ranked]
    assert np.mean(kept) > 0.85
