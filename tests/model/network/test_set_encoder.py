"""Parameters and edge cases of the set encoders.

Their formulas are tested in oracle/test_set_encoder_textbook.py.
"""

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import MAX_DENSE_VARIABLES, SetEncoder
from eddi.table.variable import Kind

SPECS = (VariableSpec(Kind.REAL), VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.BINARY, 2))


def parameter_shapes(name):
    encoder = SetEncoder(SPECS, name, width=7, identity=4)
    return {key: tuple(value.shape) for key, value in encoder.named_parameters()}


def test_zi_has_a_slope_for_each_number_and_each_level():
    assert parameter_shapes("zi") == {"slope": (5, 7), "base": (7,)}


def test_zi_m_also_has_offsets():
    assert parameter_shapes("zi-m") == {"slope": (5, 7), "offset": (5, 7), "base": (7,)}


def test_pn_has_one_layer_for_the_identity_and_the_value():
    assert parameter_shapes("pn") == {"identity": (5, 4), "layer.weight": (7, 5), "layer.bias": (7,)}


def test_pnp_has_one_layer_for_the_identity_times_the_value():
    assert parameter_shapes("pnp") == {"identity": (5, 4), "layer.weight": (7, 4), "layer.bias": (7,)}


@pytest.mark.parametrize("name", ["zi", "zi-m", "pn", "pnp"])
def test_the_code_of_a_row_without_observed_values_is_the_base(name):
    encoder = SetEncoder(SPECS, name, width=7, identity=4)
    zeros = torch.zeros(2, 3)
    assert torch.equal(encoder(zeros, zeros), encoder.base.expand(2, 7))


@pytest.mark.parametrize("name", ["zi-m", "pn", "pnp"])
def test_an_observed_zero_differs_from_a_missing_value(name):
    encoder = SetEncoder(SPECS, name, width=64, identity=4)
    zeros = torch.zeros(1, 3)
    observed = torch.tensor([[1.0, 0.0, 0.0]])
    assert not torch.equal(encoder(zeros, observed), encoder(zeros, zeros))


@pytest.mark.parametrize("name", ["zi", "zi-m", "pn", "pnp"])
def test_each_level_of_a_category_has_a_different_term(name):
    encoder = SetEncoder(SPECS, name, width=64, identity=4)
    terms = encoder.term(torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([1]))[:, 0]
    assert len({tuple(term.tolist()) for term in terms}) == 3


def test_pnp_with_offset_embeddings_distinguishes_variables_at_zero():
    encoder = SetEncoder([VariableSpec(Kind.REAL)] * 2, "pnp", width=64, identity=4, offset=2)
    slope, offset = encoder.slope_and_offset()
    assert torch.allclose(slope, encoder.identity @ encoder.layer.weight[:, :4].T)
    assert torch.allclose(
        offset, encoder.layer.bias + encoder.offset_embedding @ encoder.layer.weight[:, 4:].T
    )
    at_zero = encoder.term(torch.zeros(1, 2), torch.tensor([0, 1]))[0]
    assert not torch.equal(at_zero[0], at_zero[1])


@pytest.mark.parametrize("n_variables", [3, MAX_DENSE_VARIABLES + 2])
def test_the_code_of_a_single_row_is_that_of_the_row_in_a_batch(n_variables):
    specs = [SPECS[place % 3] for place in range(n_variables)]
    encoder = SetEncoder(specs, "precision", width=7, identity=4, offset=2, knots=5, factors=2)
    random = torch.Generator().manual_seed(0)
    observed = (torch.rand((2, n_variables), generator=random) > 0.5).float()
    values = torch.randint(2, observed.shape, generator=random) * observed
    weights = encoder.encoder_weights()
    torch.testing.assert_close(weights.code_row(values[:1], observed[:1]), encoder(values, observed)[:1])
