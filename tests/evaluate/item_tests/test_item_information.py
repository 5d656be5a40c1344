"""Information curves of items, and precision by score and by length."""

import numpy as np
import pytest

from eddi.errors import TargetError
from eddi.evaluate.item_tests.item_information import (
    item_information,
    precision_by_length,
    trait_precision,
)
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

ITEMS = (Item("a", 2.0, (0.0,)), Item("b", 1.0, (1.0,)))
BANK = ItemBank(
    Schema((*(Variable(n, Kind.BINARY, ("0", "1")) for n in "ab"), Variable("trait", Kind.REAL))),
    ITEMS,
    (Trait(),),
)


def test_the_information_of_a_two_parameter_item_is_highest_at_its_difficulty():
    scores, information = item_information(BANK, "trait")
    assert scores[information[0].argmax()] == pytest.approx(50)
    assert scores[information[1].argmax()] == pytest.approx(60)
    assert information[0].max() == pytest.approx(1.0)  # a^2 / 4


def test_the_standard_error_follows_from_the_information_of_items_and_population():
    _, information, error, reliability = trait_precision(BANK, "trait", n_points=5)
    np.testing.assert_allclose(error, 10 / np.sqrt(information + 1))
    np.testing.assert_allclose(reliability, information / (information + 1))


def test_precision_grows_with_the_length_of_the_test():
    answers = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    precision = precision_by_length(BANK, answers.astype(str), "trait")
    assert precision.sd[0] == pytest.approx(10, abs=1e-6)
    assert (np.diff(precision.sd) < 0).all()
    assert precision.reliability[0] == 0


def test_an_unknown_trait_is_explained():
    with pytest.raises(TargetError, match=r"no trait 'mood'. Traits are: trait"):
        item_information(BANK, "mood")
