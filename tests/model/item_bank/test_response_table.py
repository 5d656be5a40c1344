"""Posterior and information of an item bank, against direct sums."""

import numpy as np
import pytest

from eddi.model.item_bank.item import Item
from eddi.model.item_bank.response_table import ResponseTable
from eddi.model.item_bank.trait import Trait

ITEMS = (
    Item("mood", 1.5, (-1.0, 0.5), "joy"),
    Item("sleep", 0.8, (0.2,), "calm"),
    Item("smile", 2.0, (0.0,), "joy"),
)
TABLE = ResponseTable(ITEMS, (Trait("joy"), Trait("calm")))
NOTHING = np.zeros((1, 3), dtype=np.int64)


def weigh(levels, observed):
    """Probabilities of the points of every trait's grid."""
    log_posterior = TABLE.log_posterior(levels, observed)
    weights = np.exp(log_posterior - log_posterior.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def test_an_answer_changes_its_own_trait_alone():
    before = weigh(NOTHING, np.zeros((1, 3), dtype=bool))
    after = weigh(np.array([[2, 0, 0]]), np.array([[True, False, False]]))
    np.testing.assert_allclose(after[:, 1], before[:, 1])
    expected = np.exp(TABLE.traits[0].log_prior) * ITEMS[0].probabilities(TABLE.traits[0].grid)[:, 2]
    np.testing.assert_allclose(after[0, 0], expected / expected.sum())


def test_information_about_a_trait_is_the_expected_divergence_of_its_posterior():
    prior = weigh(NOTHING, np.zeros((1, 3), dtype=bool))
    found = TABLE.trait_information(prior, trait=0)[0]
    probabilities = TABLE.predict(prior)[0, 2]
    divergence = 0.0
    for level, probability in enumerate(probabilities[:2]):
        after = weigh(np.array([[0, 0, level]]), np.array([[False, False, True]]))[0, 0]
        divergence += probability * (after * np.log(after / prior[0, 0])).sum()
    assert found[2] == pytest.approx(divergence)
    assert found[1] == 0  # an item of another trait
