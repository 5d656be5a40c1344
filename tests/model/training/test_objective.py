"""The objectives against their formulas, written out entry by entry."""

import math
from dataclasses import replace

import pytest
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.objective import Batch, direct_bound, loss, observed_bound
from eddi.table.variable import Kind

TINY = replace(DEFAULT, latent=2, identity=3, term=4, hidden=(5, 5))
SPECS = (VariableSpec(Kind.REAL), VariableSpec(Kind.BINARY, 2), VariableSpec(Kind.REAL))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(SPECS, "pnp", TINY).double()


@pytest.fixture
def batch():
    """Three rows: all entries visible; one visible, one missing and one hidden; all entries hidden."""
    torch.manual_seed(1)
    weights = torch.tensor([[1.0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=torch.float64)
    observed = torch.tensor([[1.0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=torch.float64)
    values = torch.tensor([[0.5, 1, -1], [2, 0, 0.3], [-0.7, 1, 0.1]], dtype=torch.float64)
    return Batch(values * weights, weights, observed, torch.randn(4, 3, 2, dtype=torch.float64))


def to_normal(posterior):
    return Normal(posterior.mean, torch.exp(0.5 * posterior.log_var))


def decoder_score(network, z, variable, value):
    """log p(x_d | z) of one entry with torch.distributions; reals come before binaries."""
    out = network.decoder(z)
    if variable == 1:
        return Bernoulli(logits=out[2]).log_prob(value)
    place = {0: 0, 2: 1}[variable]
    return Normal(out[place], network.likelihoods["real"].sd()[place]).log_prob(value)


def marginal_score(network, features, variable, value):
    """The training score of one entry: the log-likelihood, for a real variable times its sd."""
    out = network.marginals(features)
    if variable == 1:
        return Bernoulli(logits=out[4]).log_prob(value)
    place = {0: 0, 2: 1}[variable]
    sd = TINY.noise_floor + torch.nn.functional.softplus(out[2 + place])
    return sd * (Normal(out[place], sd).log_prob(value) + 0.5 * math.log(2 * math.pi))


def row_posterior(network, values, observed):
    return network.posterior(network.code((values * observed)[None], observed[None]))


def select_row(batch, row):
    rows = slice(row, row + 1)
    return Batch(batch.values[rows], batch.weights[rows], batch.observed[rows], batch.noise[:, rows])


def bound_by_row(bound, network, batch):
    return [bound(network, select_row(batch, row)).item() for row in range(3)]


def naive_observed_bound(network, batch, row):
    observed = batch.observed[row]
    q = to_normal(row_posterior(network, batch.values[row], observed))
    fit = 0.0
    for noise in batch.noise[:, row]:
        z = q.mean[0] + noise * q.stddev[0]
        fit += sum(decoder_score(network, z, d, batch.values[row, d]) for d in range(3) if observed[d])
    prior = Normal(torch.zeros(1, 2), torch.ones(1, 2))
    return (fit / len(batch.noise) - kl_divergence(q, prior).sum()).item()


def naive_direct_bound(network, batch, row):
    weights, observed, values = batch.weights[row], batch.observed[row], batch.values[row]
    full, partial = (to_normal(row_posterior(network, values, mask)) for mask in (weights, observed))
    total = -kl_divergence(full, partial).sum()
    z = full.mean[0] + batch.noise[0, row] * full.stddev[0]
    features = network.features(network.code((values * observed)[None], observed[None])).inputs[0]
    for d in range(3):
        if weights[d]:
            total = total + decoder_score(network, z, d, values[d])
        if weights[d] and not observed[d]:
            total = total + marginal_score(network, features, d, values[d])
    return total.item()


def test_the_observed_bound_is_the_formula_of_the_paper(network, batch):
    expected = [naive_observed_bound(network, batch, row) for row in range(3)]
    assert bound_by_row(observed_bound, network, batch) == pytest.approx(expected)


def test_the_direct_bound_is_its_formula(network, batch):
    expected = [naive_direct_bound(network, batch, row) for row in range(3)]
    assert bound_by_row(direct_bound, network, batch) == pytest.approx(expected)


def test_the_bound_of_a_batch_is_the_sum_over_its_rows(network, batch):
    total = observed_bound(network, batch).item()
    assert total == pytest.approx(sum(bound_by_row(observed_bound, network, batch)))


def test_a_loss_weight_multiplies_the_score_of_hidden_entries(network, batch):
    once, thrice = (
        direct_bound(network, replace(batch, loss_weights=torch.tensor([1.0, 1.0, weight]))).item()
        for weight in (1.0, 3.0)
    )
    features = network.features(network.code(batch.visible_values, batch.observed)).inputs
    hidden_rows = (1, 2)
    score = sum(
        marginal_score(network, features[row], 2, batch.values[row, 2]).item() for row in hidden_rows
    )
    assert thrice - once == pytest.approx(2 * score)


@pytest.mark.parametrize(("name", "bound"), [("observed", observed_bound), ("direct", direct_bound)])
def test_the_loss_is_the_negative_bound_per_row_and_variable(network, batch, name, bound):
    assert loss(network, name, batch).item() == pytest.approx(-bound(network, batch).item() / 9)


def test_without_visible_entries_the_observed_bound_is_minus_the_kl_from_the_prior(network, batch):
    q = to_normal(row_posterior(network, batch.values[2], batch.observed[2]))
    expected = -kl_divergence(q, Normal(torch.zeros(1, 2), torch.ones(1, 2))).sum()
    assert bound_by_row(observed_bound, network, batch)[2] == pytest.approx(expected.item())


def test_hidden_entries_do_not_affect_the_observed_bound(network, batch):
    changed = replace(batch, values=batch.values + 3 * (1 - batch.observed))
    assert torch.equal(observed_bound(network, batch), observed_bound(network, changed))


def test_hidden_entries_affect_the_direct_bound(network, batch):
    values = batch.values.clone()
    values[2, 0] += 1  # in the table, but hidden from the encoder
    before = bound_by_row(direct_bound, network, batch)
    after = bound_by_row(direct_bound, network, replace(batch, values=values))
    assert before[:2] == after[:2]
    assert before[2] != after[2]


@pytest.mark.parametrize("bound", [observed_bound, direct_bound])
def test_missing_values_affect_no_objective(network, batch, bound):
    before = bound_by_row(bound, network, batch)
    bias = [parameter for parameter in network.decoder.parameters() if parameter.dim() == 1][-1]
    with torch.no_grad():
        bias[2] += 5  # another prediction of the binary variable, which row 1 does not have
    after = bound_by_row(bound, network, batch)
    assert before[0] != after[0]
    assert before[1] == after[1]
