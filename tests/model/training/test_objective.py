"""The objectives against their formulas, written out entry by entry."""

import math
from dataclasses import replace

import pytest
import torch
from torch.distributions import Bernoulli, Normal, kl_divergence

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.objective import Batch, direct_bound, loss, log_mean_exp, observed_bound
from eddi.table.variable import Kind

TINY = replace(DEFAULT, latent=2, identity=3, term=4, hidden=(5, 5))
FORMS = (VariableSpec(Kind.REAL), VariableSpec(Kind.BINARY, 2), VariableSpec(Kind.REAL))


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(FORMS, "pnp", TINY).double()


@pytest.fixture
def batch():
    """Three rows: one seen whole, one seen in part with a hole, one seen not at all."""
    torch.manual_seed(1)
    known = torch.tensor([[1.0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=torch.float64)
    observed = torch.tensor([[1.0, 1, 1], [1, 0, 0], [0, 0, 0]], dtype=torch.float64)
    values = torch.tensor([[0.5, 1, -1], [2, 0, 0.3], [-0.7, 1, 0.1]], dtype=torch.float64)
    return Batch(values * known, known, observed, torch.randn(4, 3, 2, dtype=torch.float64))


def normal(posterior):
    return Normal(posterior.mean, torch.exp(0.5 * posterior.log_var))


def entry(network, z, variable, value):
    """log p(x_d | z) of one entry through torch.distributions; reals come before binaries."""
    out = network.decoder(z)
    if variable == 1:
        return Bernoulli(logits=out[2]).log_prob(value)
    place = {0: 0, 2: 1}[variable]
    return Normal(out[place], network.likelihoods["real"].sd()[place]).log_prob(value)


def row_posterior(network, values, seen):
    return network.posterior(network.code((values * seen)[None], seen[None]))


def of_row(batch, row):
    here = slice(row, row + 1)
    return Batch(batch.values[here], batch.known[here], batch.observed[here], batch.noise[:, here])


def each_row(bound, network, batch):
    return [bound(network, of_row(batch, row)).item() for row in range(3)]


def naive_observed(network, batch, row):
    seen = batch.observed[row]
    q = row_posterior(network, batch.values[row], seen)
    fit = 0.0
    for noise in batch.noise[:, row]:
        z = normal(q).mean[0] + noise * normal(q).stddev[0]
        fit += sum(entry(network, z, d, batch.values[row, d]) for d in range(3) if seen[d])
    prior = Normal(torch.zeros(1, 2), torch.ones(1, 2))
    return (fit / len(batch.noise) - kl_divergence(normal(q), prior).sum()).item()


def direct_entry(network, hidden, variable, value):
    """What the direct belief scores for one entry: log-likelihood, for a real times its spread."""
    out = network.marginals(hidden)
    if variable == 1:
        return Bernoulli(logits=out[4]).log_prob(value)
    place = {0: 0, 2: 1}[variable]
    sd = TINY.noise_floor + torch.nn.functional.softplus(out[2 + place])
    return sd * (Normal(out[place], sd).log_prob(value) + 0.5 * math.log(2 * math.pi))


def naive_direct(network, batch, row):
    known, seen, values = batch.known[row], batch.observed[row], batch.values[row]
    full, part = (row_posterior(network, values, each) for each in (known, seen))
    total = -kl_divergence(normal(full), normal(part)).sum()
    whole = normal(full).mean[0] + batch.noise[0, row] * normal(full).stddev[0]
    hidden = network.hidden(network.code((values * seen)[None], seen[None]))[0]
    for d in range(3):
        if known[d]:
            total = total + entry(network, whole, d, values[d])
        if known[d] and not seen[d]:
            total = total + direct_entry(network, hidden, d, values[d])
    return total.item()


def test_the_observed_bound_is_the_papers_formula(network, batch):
    expected = [naive_observed(network, batch, row) for row in range(3)]
    assert each_row(observed_bound, network, batch) == pytest.approx(expected)


def test_the_direct_bound_is_its_formula(network, batch):
    expected = [naive_direct(network, batch, row) for row in range(3)]
    assert each_row(direct_bound, network, batch) == pytest.approx(expected)


def test_the_bound_of_a_batch_is_the_sum_of_its_rows(network, batch):
    whole = observed_bound(network, batch).item()
    assert whole == pytest.approx(sum(each_row(observed_bound, network, batch)))


def test_a_declared_target_counts_for_more(network, batch):
    once, thrice = (
        direct_bound(network, replace(batch, worth=torch.tensor([1.0, 1.0, worth]))).item()
        for worth in (1.0, 3.0)
    )
    seen = batch.seen()
    hidden = network.hidden(network.code(seen, batch.observed))
    told = sum(direct_entry(network, hidden[row], 2, batch.values[row, 2]).item() for row in (1, 2))
    assert thrice - once == pytest.approx(2 * told)


@pytest.mark.parametrize(("name", "bound"), [("observed", observed_bound), ("direct", direct_bound)])
def test_the_loss_is_the_negative_bound_in_nats_a_row_and_variable(network, batch, name, bound):
    assert loss(network, name, batch).item() == pytest.approx(-bound(network, batch).item() / 9)


def test_the_observed_bound_of_nothing_is_minus_the_divergence_from_the_prior(network, batch):
    q = row_posterior(network, batch.values[2], batch.observed[2])
    expected = -kl_divergence(normal(q), Normal(torch.zeros(1, 2), torch.ones(1, 2))).sum()
    assert each_row(observed_bound, network, batch)[2] == pytest.approx(expected.item())


def test_hidden_entries_do_not_enter_the_observed_bound(network, batch):
    garbled = replace(batch, values=batch.values + 3 * (1 - batch.observed))
    assert torch.equal(observed_bound(network, batch), observed_bound(network, garbled))


def test_hidden_entries_do_enter_the_direct_bound(network, batch):
    moved = batch.values.clone()
    moved[2, 0] += 1  # known to the table, hidden from the encoder
    before = each_row(direct_bound, network, batch)
    after = each_row(direct_bound, network, replace(batch, values=moved))
    assert before[:2] == after[:2]
    assert before[2] != after[2]


@pytest.mark.parametrize("bound", [observed_bound, direct_bound])
def test_a_hole_of_the_table_enters_no_objective(network, batch, bound):
    before = each_row(bound, network, batch)
    bias = [one for one in network.decoder.parameters() if one.dim() == 1][-1]
    with torch.no_grad():
        bias[2] += 5  # another belief about the binary, a hole of row 1
    after = each_row(bound, network, batch)
    assert before[0] != after[0]
    assert before[1] == after[1]


def test_mean_exp_is_the_logarithm_of_the_mean_over_draws():
    log_prob = torch.tensor([[-1000.0, 0.0], [-1000.0, -2.0]])
    expected = torch.tensor([-1000.0, torch.log((1 + torch.exp(torch.tensor(-2.0))) / 2).item()])
    assert torch.allclose(log_mean_exp(log_prob), expected)
