"""The classical rule of adaptive testing; tests/oracle/test_catsim.py compares it with catsim."""

import numpy as np
import pytest

import eddi
from eddi.errors import StrategyError
from eddi.model.item_bank import Item, ItemBank, Trait
from eddi.strategy import FisherInformation
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable


def make_bank() -> ItemBank:
    items = tuple(
        Item(name, 1.5, (b,), trait) for name, b, trait in [("a", -1, "x"), ("b", 1, "x"), ("c", 0, "y")]
    )
    variables = [Variable(name, Kind.BINARY, ("0", "1")) for name in "abc"]
    traits = [Variable(name, Kind.REAL) for name in "xy"]
    return ItemBank(Schema((*variables, *traits)), items, (Trait("x"), Trait("y")))


def test_fisher_information_is_used_at_the_posterior_mean():
    bank = make_bank()
    interview = eddi.Interview(bank, "x", strategy=FisherInformation())
    interview.tell("b", "1")
    theta = np.array((interview.predict().mean - 50) / 10)
    scores = FisherInformation().score(bank, interview.evidence(), ("x",))[0].tolist()
    expected = [float(item.fisher_information(theta)) for item in bank.items[:2]]
    assert scores == pytest.approx([*expected, 0, 0, 0], abs=1e-9)


def test_a_trained_network_has_no_fisher_information(model):
    with pytest.raises(StrategyError, match="FisherInformation is for item banks"):
        eddi.Interview(model, model.schema_.names[0], strategy=FisherInformation()).ask()
