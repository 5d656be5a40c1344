"""Our likelihoods and stopping rules keep the contract that `eddi.testing` checks of everybody's."""

import numpy as np
import pytest
import torch

from eddi import Stop
from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import Bernoulli, Categorical, Count, VariableSpec, Gaussian, Ordinal
from eddi.table.variable import Kind
from eddi.testing import ContractError, check_likelihood, check_stopping_rule

LIKELIHOODS = {
    "fixed noise": Gaussian([VariableSpec(Kind.REAL)] * 2, noise=0.3, floor=0.0),
    "learned noise": Gaussian([VariableSpec(Kind.REAL)] * 2, noise=None, floor=0.02),
    "binary": Bernoulli([VariableSpec(Kind.BINARY, 2)] * 2),
    "category": Categorical([VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.CATEGORY, 5)]),
    "ordinal": Ordinal([VariableSpec(Kind.ORDINAL, 4), VariableSpec(Kind.ORDINAL, 3)]),
    "count": Count([VariableSpec(Kind.COUNT)] * 2, floor=0.02),
}


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_likelihood_keeps_the_contract(name):
    with torch.no_grad():
        check_likelihood(LIKELIHOODS[name], 2)


def test_a_quantile_that_is_no_inverse_is_found():
    class Shifted(Gaussian):
        def quantile(self, outputs, level):
            return super().quantile(outputs, level) - 1

    with pytest.raises(ContractError, match="inverse"):
        check_likelihood(Shifted([VariableSpec(Kind.REAL)], noise=0.3, floor=0.0), 1)


@pytest.mark.parametrize(
    "rule",
    [Stop(), Stop(after=2), Stop(sd_below=0.5), Stop(after=3) | Stop(reward_below=0.5), Stop(budget=4)],
)
def test_a_stopping_rule_keeps_the_contract(rule):
    check_stopping_rule(rule)


def test_a_rule_that_does_not_answer_for_every_row_is_found():
    class Once:
        budget = np.inf

        def reached(self, _):
            return np.array([True])

    with pytest.raises(ContractError, match="rows"):
        check_stopping_rule(Once())


FREE = {
    "real": HeteroscedasticGaussian([VariableSpec(Kind.REAL)] * 3, floor=0.02),
    "count": HeteroscedasticCount([VariableSpec(Kind.COUNT, scale=0.5)] * 3, floor=0.02),
    "binary": Bernoulli([VariableSpec(Kind.BINARY, 2)] * 3),
    "category": Categorical([VariableSpec(Kind.CATEGORY, n) for n in (3, 5, 2)]),
}


@pytest.mark.parametrize("name", FREE)
def test_a_free_likelihood_keeps_the_contract(name):
    check_likelihood(FREE[name], 3)


@pytest.mark.parametrize("name", FREE)
def test_a_divergence_is_the_mean_gap_of_log_probabilities(name):
    likelihood, random = FREE[name], torch.Generator().manual_seed(0)
    one, other = 0.5 * torch.randn((2, 1, likelihood.n_outputs), generator=random)
    level = (torch.arange(20_000)[:, None] + 0.5) / 20_000
    drawn = likelihood.quantile(one, level.expand(-1, 3))
    gaps = likelihood.log_prob(one, drawn) - likelihood.log_prob(other, drawn)
    torch.testing.assert_close(likelihood.kl(one, other)[0], gaps.mean(0), rtol=0.05, atol=5e-3)
    assert likelihood.kl(one, one).abs().max() < 1e-6


@pytest.mark.parametrize("name", FREE)
def test_some_variables_can_be_taken_out_of_a_likelihood(name):
    likelihood = FREE[name]
    outputs = torch.randn((4, likelihood.n_outputs), generator=torch.Generator().manual_seed(1))
    values = likelihood.quantile(outputs, torch.full((4, 3), 0.4))
    some = outputs[:, likelihood.rows_of([2, 0])]
    specs = {"category": [VariableSpec(Kind.CATEGORY, 2), VariableSpec(Kind.CATEGORY, 3)]}.get(name)
    fewer = {
        "real": lambda: HeteroscedasticGaussian([VariableSpec(Kind.REAL)] * 2, floor=0.02),
        "count": lambda: HeteroscedasticCount([VariableSpec(Kind.COUNT, scale=0.5)] * 2, floor=0.02),
        "binary": lambda: Bernoulli([VariableSpec(Kind.BINARY, 2)] * 2),
        "category": lambda: Categorical(specs),
    }[name]()
    whole = likelihood.log_prob(outputs, values)[:, [2, 0]]
    torch.testing.assert_close(fewer.log_prob(some, values[:, [2, 0]]), whole)
