"""Likelihoods and stopping rules fulfil the contracts of `eddi.testing`, which detects broken ones."""

import numpy as np
import pytest
import torch

from eddi import Stop
from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import Bernoulli, Categorical, Count, Gaussian, Ordinal, VariableSpec
from eddi.strategy.stopping import ConfidenceThreshold
from eddi.table.variable import Kind
from eddi.testing import ContractError, check_likelihood, check_stopping_rule

REAL, COUNT = VariableSpec(Kind.REAL), VariableSpec(Kind.COUNT, scale=0.5)
DECODER_LIKELIHOODS = {
    "fixed noise": Gaussian([REAL] * 3, noise=0.3, floor=0.0),
    "learned noise": Gaussian([REAL] * 3, noise=None, floor=0.02),
    "ordinal": Ordinal([VariableSpec(Kind.ORDINAL, n) for n in (4, 3, 5)]),
    "count": Count([COUNT] * 3, floor=0.02),
}
MARGINAL_LIKELIHOODS = {
    "real": lambda: HeteroscedasticGaussian([REAL] * 3, floor=0.02),
    "count with own scale": lambda: HeteroscedasticCount([COUNT] * 3, floor=0.02),
    "binary": lambda: Bernoulli([VariableSpec(Kind.BINARY, 2)] * 3),
    "category": lambda: Categorical([VariableSpec(Kind.CATEGORY, n) for n in (3, 5, 2)]),
}
SUBSETS = {  # the third and the first variable alone
    "real": lambda: HeteroscedasticGaussian([REAL] * 2, floor=0.02),
    "count with own scale": lambda: HeteroscedasticCount([COUNT] * 2, floor=0.02),
    "binary": lambda: Bernoulli([VariableSpec(Kind.BINARY, 2)] * 2),
    "category": lambda: Categorical([VariableSpec(Kind.CATEGORY, n) for n in (2, 3)]),
}


@pytest.mark.parametrize("name", [*DECODER_LIKELIHOODS, *MARGINAL_LIKELIHOODS])
def test_a_likelihood_fulfils_the_contract(name):
    likelihood = DECODER_LIKELIHOODS.get(name) or MARGINAL_LIKELIHOODS[name]()
    with torch.no_grad():
        check_likelihood(likelihood, 3)


@pytest.mark.parametrize("name", MARGINAL_LIKELIHOODS)
def test_the_kl_is_the_mean_difference_of_log_probabilities(name):
    likelihood, random = MARGINAL_LIKELIHOODS[name](), torch.Generator().manual_seed(0)
    first, second = 0.5 * torch.randn((2, 1, likelihood.n_outputs), generator=random)
    level = (torch.arange(20_000)[:, None] + 0.5) / 20_000
    drawn = likelihood.quantile(first, level.expand(-1, 3))
    difference = likelihood.log_prob(first, drawn) - likelihood.log_prob(second, drawn)
    torch.testing.assert_close(likelihood.kl(first, second)[0], difference.mean(0), rtol=0.05, atol=5e-3)
    assert likelihood.kl(first, first).abs().max() < 1e-6


@pytest.mark.parametrize("name", MARGINAL_LIKELIHOODS)
def test_the_output_rows_of_some_variables_describe_them_alone(name):
    likelihood = MARGINAL_LIKELIHOODS[name]()
    outputs = torch.randn((4, likelihood.n_outputs), generator=torch.Generator().manual_seed(1))
    values = likelihood.quantile(outputs, torch.full((4, 3), 0.4))
    own = outputs[:, likelihood.output_rows([2, 0])]
    expected = likelihood.log_prob(outputs, values)[:, [2, 0]]
    torch.testing.assert_close(SUBSETS[name]().log_prob(own, values[:, [2, 0]]), expected)


class Shifted(Gaussian):
    """A quantile that is not the inverse of the cdf."""

    def quantile(self, outputs, level):
        return super().quantile(outputs, level) - 1


class Narrow(Gaussian):
    """Results for too few variables."""

    def log_prob(self, outputs, values):
        return super().log_prob(outputs, values)[..., :1]


class Incomplete(HeteroscedasticGaussian):
    """Outputs that belong to no variable: those of the scale."""

    def output_rows(self, places):
        return list(places)


class Negative(Gaussian):
    """A divergence that is negative."""

    def kl(self, outputs, other):
        return -super().kl(outputs, other)


class Unnormalised(Bernoulli):
    """Probabilities that do not sum to one."""

    def probabilities(self, outputs):
        return 0.9 * super().probabilities(outputs)


@pytest.mark.parametrize(
    ("likelihood", "message"),
    [
        (Shifted([REAL] * 2, noise=0.3, floor=0.0), "quantile is the inverse of cdf"),
        (Narrow([REAL] * 2, noise=0.3, floor=0.0), r"log_prob must return \[rows, variables\]"),
        (Incomplete([REAL] * 2, floor=0.02), "output_rows must give each of the 4 outputs"),
        (Negative([REAL] * 2, noise=0.3, floor=0.0), "kl must not be negative"),
        (Unnormalised([VariableSpec(Kind.BINARY, 2)] * 2), "probabilities must sum to 1"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, torch.nn.Module) else "",
)
def test_a_broken_likelihood_is_detected(likelihood, message):
    with pytest.raises(ContractError, match=f"the contract is not fulfilled: .*{message}"):
        check_likelihood(likelihood, 2)


RULES = {
    "never": Stop(),
    "after": Stop(after=2),
    "sd": Stop(sd_below=0.5),
    "any": Stop(after=3) | Stop(reward_below=0.5),
    "all": Stop(after=3) & Stop(sd_below=0.5),
    "budget": Stop(budget=4),
    "confidence": ConfidenceThreshold(0.9, within=0.5),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_stopping_rule_fulfils_the_contract(rule):
    check_stopping_rule(rule)


class BrokenRule:
    """A stopping rule with a given result and budget."""

    def __init__(self, result, budget=np.inf):
        self.result, self.budget = result, budget

    def reached(self, _):
        return self.result


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (BrokenRule(np.array([True])), r"reached must be \[rows\] = \(7,\), got \(1,\)"),
        (BrokenRule(np.ones(7)), "reached must be boolean, got float64"),
        (BrokenRule(np.ones(7, dtype=bool), budget=0.0), "the budget must be above 0, got 0.0"),
    ],
    ids=["one row", "not boolean", "no budget"],
)
def test_a_broken_stopping_rule_is_detected(rule, message):
    with pytest.raises(ContractError, match=message):
        check_stopping_rule(rule)
