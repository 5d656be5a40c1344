"""How set encoders are built; what they compute is in oracle/test_set_encoder_textbook.py."""

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import SetEncoder
from eddi.table.variable import Kind

FORMS = (VariableSpec(Kind.REAL), VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.BINARY, 2))


def weights(name):
    made = SetEncoder(FORMS, name, width=7, identity=4)
    return {key: tuple(value.shape) for key, value in made.named_parameters()}


def test_zi_has_one_line_for_each_number_and_each_level():
    assert weights("zi") == {"slope": (5, 7), "base": (7,)}


def test_zi_m_also_has_an_offset_for_what_is_observed():
    assert weights("zi-m") == {"slope": (5, 7), "offset": (5, 7), "base": (7,)}


def test_pn_shares_one_layer_that_takes_the_identity_and_the_value():
    assert weights("pn") == {"identity": (5, 4), "layer.weight": (7, 5), "layer.bias": (7,)}


def test_pnp_shares_one_layer_that_takes_the_identity_times_the_value():
    assert weights("pnp") == {"identity": (5, 4), "layer.weight": (7, 4), "layer.bias": (7,)}


@pytest.mark.parametrize("name", ["zi", "zi-m", "pn", "pnp"])
def test_the_code_of_nothing_is_the_base(name):
    made = SetEncoder(FORMS, name, width=7, identity=4)
    nothing = torch.zeros(2, 3)
    assert torch.equal(made(nothing, nothing), made.base.expand(2, 7))


@pytest.mark.parametrize("name", ["zi-m", "pn", "pnp"])
def test_an_observed_zero_differs_from_nothing(name):
    made = SetEncoder(FORMS, name, width=64, identity=4)
    nothing = torch.zeros(1, 3)
    seen = torch.tensor([[1.0, 0.0, 0.0]])
    assert not torch.equal(made(nothing, seen), made(nothing, nothing))


@pytest.mark.parametrize("name", ["zi", "zi-m", "pn", "pnp"])
def test_each_level_of_a_category_has_a_term_of_its_own(name):
    made = SetEncoder(FORMS, name, width=64, identity=4)
    terms = made.term(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([1]))[:, 0]
    assert len({tuple(term.tolist()) for term in terms}) == 3


def test_pnp_may_have_an_offset_of_each_variables_own():
    made = SetEncoder(
        (VariableSpec(Kind.REAL), VariableSpec(Kind.REAL)), "pnp", width=64, identity=4, offset=2
    )
    slope, offset = made.affine()
    assert torch.allclose(slope, made.identity @ made.layer.weight[:, :4].T)
    assert torch.allclose(offset, made.layer.bias + made.own @ made.layer.weight[:, 4:].T)
    at_zero = made.term(torch.zeros(1, 2), torch.tensor([0, 1]))[0]
    assert not torch.equal(at_zero[0], at_zero[1])
