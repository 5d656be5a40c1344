"""Heads: every variable is described by the outputs and the likelihood of its own kind."""

import pytest
import torch

from eddi.model.network.heads import log_mean_exp
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.table.variable import Kind

SPECS = (
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.REAL, 0, 10.0, 2.0),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.REAL, 0, -5.0, 1.0),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
)
N_VARIABLES = len(SPECS)


@pytest.fixture
def heads():
    """The heads of a new decoder."""
    torch.manual_seed(0)
    return Network(SPECS, "pnp", DEFAULT).requires_grad_(False)


@pytest.mark.parametrize("variable", range(N_VARIABLES))
def test_a_value_affects_only_the_log_probability_of_its_variable(heads, variable):
    outputs, values = torch.randn(5, heads.n_outputs), torch.zeros(5, N_VARIABLES)
    before = heads.log_prob(outputs, values)
    values[:, variable] = 1
    is_changed = (heads.log_prob(outputs, values) != before).any(0)
    assert is_changed.tolist() == [place == variable for place in range(N_VARIABLES)]


def test_every_output_and_every_variable_belongs_to_one_head(heads):
    outputs = [place for head in heads.heads() for place in range(heads.n_outputs)[head.outputs]]
    variables = [variable for head in heads.heads() for variable in head.variables.tolist()]
    assert sorted(outputs) == list(range(heads.n_outputs))
    assert sorted(variables) == list(range(N_VARIABLES))


def test_a_head_has_variables_of_one_kind(heads):
    kinds = [{heads.specs[d].kind for d in head.variables.tolist()} for head in heads.heads()]
    assert all(len(kind) == 1 for kind in kinds)


def test_a_variable_is_found_in_its_head(heads):
    for variable in range(N_VARIABLES):
        head, place = heads.head_of(variable)
        assert head.variables[place] == variable
    with pytest.raises(IndexError, match=f"there is no variable {N_VARIABLES}"):
        heads.head_of(N_VARIABLES)


def test_results_are_in_the_order_of_the_variables(heads):
    outputs = heads.decode(torch.randn(3, DEFAULT.latent))
    values = torch.tensor([[2.0, 0.4, 3.0, 1.0, -1.0, 0.2]]).expand(3, -1)
    level = torch.full((3, N_VARIABLES), 0.3)
    for head in heads.heads():
        own, likelihood = outputs[:, head.outputs], head.likelihood
        columns = values[:, head.variables]
        for name in ("log_prob", "training_score", "validation_score", "cdf"):
            found = getattr(heads, name)(outputs, values)[:, head.variables]
            assert torch.equal(found, getattr(likelihood, name)(own, columns))
        quantile = likelihood.quantile(own, level[:, head.variables])
        assert torch.equal(heads.quantile(outputs, level)[:, head.variables], quantile)
        for found, expected in zip(heads.moments(outputs), likelihood.moments(own), strict=True):
            assert torch.equal(found[:, head.variables], expected.double())


def test_a_single_head_gives_the_same_results():
    reals = (SPECS[1], SPECS[4])
    torch.manual_seed(0)
    alone = Network(reals, "zi", DEFAULT).requires_grad_(False)
    mean, _ = alone.moments(torch.tensor([[0.5, -0.5]]))
    assert mean.tolist() == [pytest.approx([11.0, -5.5])]


def test_moments_of_interleaved_kinds_are_in_the_order_of_the_variables():
    torch.manual_seed(0)
    mixed = Network((SPECS[1], SPECS[3], SPECS[4]), "zi", DEFAULT).requires_grad_(False)
    outputs = torch.tensor([[0.5, -0.5, 2.0]])  # both real variables, then the binary one
    mean, _ = mixed.moments(outputs)
    assert mean.tolist() == [pytest.approx([11.0, torch.sigmoid(torch.tensor(2.0)).item(), -5.5])]


def test_the_cdf_at_a_quantile_reaches_its_level(heads):
    outputs = heads.decode(torch.randn(3, DEFAULT.latent))
    level = torch.rand(3, N_VARIABLES, generator=torch.Generator().manual_seed(0))
    reached = heads.cdf(outputs, heads.quantile(outputs, level))
    assert (reached >= level - 1e-5).all()
    reals = [1, 4]
    assert torch.allclose(reached[:, reals], level[:, reals], atol=1e-5)


def test_intervals_that_are_not_calibrated_leave_five_percent_on_either_side(heads):
    tail_mass = heads.interval_tail_mass(torch.randn(7, 5, heads.n_outputs))
    torch.testing.assert_close(tail_mass, torch.full((5, N_VARIABLES), 0.05))


def test_log_mean_exp_is_the_logarithm_of_the_mean_over_draws():
    log_prob = torch.tensor([[-1000.0, 0.0], [-1000.0, -2.0]])
    expected = torch.tensor([-1000.0, torch.log((1 + torch.exp(torch.tensor(-2.0))) / 2).item()])
    assert torch.allclose(log_mean_exp(log_prob), expected)
