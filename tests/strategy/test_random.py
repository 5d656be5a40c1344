"""Questions in a random order."""

import torch

from eddi.strategy import Random

TARGET = ("stage",)


def test_each_row_has_its_own_order_which_depends_on_the_seed_alone(fitted, no_answers):
    first = Random().score(fitted, no_answers(), TARGET)
    assert torch.equal(Random().score(fitted, no_answers(), TARGET), first)
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(Random(seed=1).score(fitted, no_answers(), TARGET), first)
