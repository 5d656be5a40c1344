"""Precision-weighted factors: the exact posterior of a factor model, updated answer by answer."""

import numpy as np
import pytest
import torch

from eddi.model.network.factors.factor_model import Factors
from eddi.model.network.likelihood import VariableSpec
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

MIXED = [
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.CATEGORY, 5),
    VariableSpec(Kind.COUNT),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 4),
    VariableSpec(Kind.CATEGORY, 2),
]


def mixed_rows(n_rows, seed, missing=0.3):
    random = np.random.default_rng(seed)
    z = random.normal(size=n_rows)
    columns = []
    for spec in MIXED:
        lean = z + random.normal(size=n_rows)
        if spec.kind.has_levels:
            edges = np.quantile(lean, np.linspace(0, 1, spec.n_levels + 1)[1:-1])
            lean = np.searchsorted(edges, lean)
        columns.append(lean)
    observed = random.random((n_rows, len(MIXED))) >= missing
    return Evidence(np.stack(columns, axis=1).astype(np.float32), observed)


@pytest.fixture(scope="module")
def factors():
    """Factors of variables of every kind, fitted to a table."""
    factors = Factors(MIXED, n_factors=6)
    factors.init_from_data(mixed_rows(300, seed=0), MIXED)
    return factors.requires_grad_(False)


@pytest.fixture(scope="module")
def rows():
    evidence = mixed_rows(40, seed=1, missing=0.5)
    return torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed).float()


def test_the_posterior_is_the_gaussian_conditional_of_the_factor_model():
    specs = [VariableSpec(Kind.REAL) for _ in range(5)]
    factors = Factors(specs, n_factors=2).requires_grad_(False)
    packed = factors.pack()
    x = torch.tensor([[0.5, -1.0, 0.0, 2.0, 0.3]])
    observed = torch.tensor([[1.0, 1.0, 0.0, 1.0, 0.0]])
    found = packed.posterior(packed.code(x, observed))
    w = packed.loadings[[0, 1, 3], 0].double()
    noise = torch.diag(1 / packed.precision[[0, 1, 3], 0].double())
    gain = w.T @ torch.linalg.inv(w @ w.T + noise)
    inputs = (x[0, [0, 1, 3]] - factors.mean[[0, 1, 3]]).double()
    assert found.mean[0] == pytest.approx((gain @ inputs).numpy(), abs=1e-5)
    assert found.covariance[0].numpy() == pytest.approx((torch.eye(2) - gain @ w).numpy(), abs=1e-5)


def test_a_code_is_the_sum_of_its_terms(factors, rows):
    packed, (values, observed) = factors.pack(), rows
    terms = packed.term(values, torch.arange(len(MIXED))) * observed[..., None]
    assert torch.allclose(packed.code(values, observed), terms.sum(1), atol=1e-4)


def update(packed, prior, rows, values, variables):
    """The factors of ``rows`` after answers to variables."""
    inputs = packed.factors.inputs(values, variables)
    return packed.updates(prior).moments(rows, rows * len(MIXED) + variables, inputs)


@pytest.mark.parametrize("variable", range(len(MIXED)))
def test_an_update_equals_the_posterior_of_the_code_with_the_term_of_the_answer(factors, rows, variable):
    packed, (values, observed) = factors.pack(), rows
    observed = observed.clone()
    observed[:, variable] = 0
    code = packed.code(values * observed, observed)
    answers = values[:, variable]
    variables = torch.full((len(answers),), variable)
    moments = update(packed, packed.posterior(code), torch.arange(len(answers)), answers, variables)
    term = packed.term(answers[:, None], variables[:1])[:, 0]
    expected = packed.posterior(code + term)
    assert torch.allclose(moments.mean, expected.mean, atol=1e-4)
    assert torch.allclose(moments.variance, expected.variance, atol=1e-4)
    projections = zip(moments.project(packed.loadings), expected.project(packed.loadings), strict=True)
    assert all(torch.allclose(ours, theirs, atol=1e-4) for ours, theirs in projections)


def test_a_single_row_is_updated_like_a_row_of_a_batch(factors, rows):
    packed, (values, observed) = factors.pack(), rows
    prior = packed.posterior(packed.code(values[:1], observed[:1]))
    batch = packed.posterior(packed.code(values, observed))
    answers, variables = torch.tensor([0.3, 2.0]), torch.tensor([0, 1])
    first_row = torch.zeros(2, dtype=torch.long)
    alone, together = (update(packed, p, first_row, answers, variables) for p in (prior, batch))
    assert torch.allclose(alone.mean, together.mean, atol=1e-5)


def test_unobserved_values_have_no_effect(factors, rows):
    packed, (values, observed) = factors.pack(), rows
    levels = torch.tensor([0.0 if spec.kind.has_levels else 9.0 for spec in MIXED])
    changed = torch.where(observed > 0, values, levels)
    assert torch.equal(packed.code(values * observed, observed), packed.code(changed, observed))


def test_more_evidence_never_increases_the_variance(factors, rows):
    packed, (values, observed) = factors.pack(), rows
    before = packed.posterior(packed.code(values * observed, observed))
    after = packed.posterior(packed.code(values, torch.ones_like(observed)))
    assert (after.variance <= before.variance + 1e-5).all()


def test_factors_of_weighted_rows_are_those_of_repeated_rows():
    rows, weights = mixed_rows(200, seed=4), np.repeat([2.0, 1.0], 100).astype(np.float32)
    weighted, repeated = Factors(MIXED, n_factors=3), Factors(MIXED, n_factors=3)
    weighted.init_from_data(rows, MIXED, weights)
    repeated.init_from_data(rows[np.repeat(np.arange(200), weights.astype(int))], MIXED)
    torch.testing.assert_close(weighted.mean.data, repeated.mean.data)
    torch.testing.assert_close(weighted.level_inputs, repeated.level_inputs)
    torch.testing.assert_close(weighted.log_precision.data, repeated.log_precision.data)


def test_frozen_factors_are_not_trained_and_keep_their_names():
    factors = Factors(MIXED, n_factors=3)
    before = {name: tensor.clone() for name, tensor in factors.state_dict().items()}
    factors.freeze()
    assert not list(factors.parameters())
    assert factors.state_dict().keys() == before.keys()
    assert all(torch.equal(factors.state_dict()[name], tensor) for name, tensor in before.items())
