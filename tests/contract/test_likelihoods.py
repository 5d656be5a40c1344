"""Our likelihoods and stopping rules keep the contract that `eddi.testing` checks of everybody's."""

import numpy as np
import pytest
import torch

from eddi import Stop
from eddi.model.likelihood import Bernoulli, Categorical, Count, Form, Gaussian, Ordinal
from eddi.table.variable import Kind
from eddi.testing import ContractError, check_likelihood, check_stopping_rule

LIKELIHOODS = {
    "fixed noise": Gaussian([Form(Kind.REAL)] * 2, noise=0.3, floor=0.0),
    "learned noise": Gaussian([Form(Kind.REAL)] * 2, noise=None, floor=0.02),
    "binary": Bernoulli([Form(Kind.BINARY, 2)] * 2),
    "category": Categorical([Form(Kind.CATEGORY, 3), Form(Kind.CATEGORY, 5)]),
    "ordinal": Ordinal([Form(Kind.ORDINAL, 4), Form(Kind.ORDINAL, 3)]),
    "count": Count([Form(Kind.COUNT)] * 2, floor=0.02),
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
        check_likelihood(Shifted([Form(Kind.REAL)], noise=0.3, floor=0.0), 1)


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
