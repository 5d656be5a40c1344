"""The possible answers to every variable: levels, atoms, and merged neighbours if there are many."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.answer_support import (
    MAX_LEVELS,
    MAX_RATIO_WITH_TIES,
    MAX_VARIANCE_RATIO,
    AnswerSupport,
    QuantitySupport,
    normal_levels,
)
from eddi.model.network.atoms import N_ATOMS
from eddi.table.evidence import Evidence

N_SCORES = 2 * MAX_LEVELS
SCHEMA = Schema(
    (
        Variable("weight", "real"),
        Variable("pills", "real"),  # with three different values
        Variable("town", "category", levels=("Aa", "Bo", "Co")),
        Variable("score", "ordinal", levels=tuple(range(N_SCORES))),
        Variable("ill", "binary", levels=(0, 1)),
    )
)


def make_columns(n):
    random = np.random.default_rng(0)
    columns = {
        "weight": random.normal(size=n),
        "pills": random.integers(0, 3, size=n).astype(float),
        "town": random.choice(["Aa", "Bo", "Co"], size=n),
        "score": random.integers(0, N_SCORES, size=n),
        "ill": random.integers(0, 2, size=n),
    }
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def fitted():
    return PartialVAE(SCHEMA, "ill", max_steps=20, random_state=0).fit(make_columns(300)).fitted()


def answers_before_any_question(fitted, n_points, n_rows=1):
    """The support with at most ``n_points`` values of a quantity, and the answers of empty rows."""
    support = fitted.marginal_predictor.answer_support(n_points)
    with torch.inference_mode():
        features = fitted.frozen.features(fitted.code(Evidence.empty(n_rows, 5)))
        return support, support(features)


@pytest.mark.parametrize(
    ("n_points", "counts"),
    [
        (N_ATOMS, [N_ATOMS, 3, 3, N_ATOMS, 2]),
        (2, [2, 2, 3, 2, 2]),
        (100, [N_ATOMS, 3, 3, N_SCORES, 2]),
    ],
)
def test_each_variable_has_its_answers_and_their_probabilities_sum_to_one(fitted, n_points, counts):
    support, answers = answers_before_any_question(fitted, n_points, n_rows=2)
    assert support.count.tolist() == counts
    for first, count in zip(support.first, support.count, strict=True):
        probabilities = answers.probabilities[:, first : first + count]
        assert probabilities.sum(1).tolist() == pytest.approx([1.0, 1.0])


def test_the_answers_to_a_quantity_with_few_values_are_these_values(fitted):
    support, answers = answers_before_any_question(fitted, N_ATOMS)
    first = support.first[1]
    coded = answers.values[0, first : first + 3].double().numpy()
    pills = coded * fitted.coding.scale[1] + fitted.coding.shift[1]
    assert pills == pytest.approx([0, 1, 2], abs=1e-5)


def narrow(fitted, sd):
    """The layers of the network, with ``sd`` (coded) as the predicted standard deviation of weight."""
    marginals, (weight, bias) = fitted.network.marginals, fitted.frozen.marginal_layer
    marginals.factor_share[marginals.output_rows([0])] = 0.0
    row = marginals.output_rows([0])[1]
    weight, bias = weight.clone(), bias.clone()
    weight[row] = 0.0
    head = marginals.head_of(0)[0].likelihood
    stretch, power = head.calibration_params[:, 0].tolist()
    scale = (sd / stretch) ** (1 / power) - head.floor
    bias[row] = np.log(np.expm1(scale))
    return replace(fitted.frozen, marginal_layer=(weight, bias))


def narrow_support(marginals, frozen, n_points):
    """The answers of a network whose predictions are narrow, as if they were wide without evidence."""
    support = AnswerSupport.from_marginals(marginals, frozen, n_points)
    for part in support.parts:
        if isinstance(part, QuantitySupport):
            has_ties = (marginals.atoms.spread[: len(part.variables)] == 0).any(1)
            part.max_ratio = torch.where(has_ties, MAX_RATIO_WITH_TIES, MAX_VARIANCE_RATIO)
    return support


def has_points(support, answers, variable=0):
    """Whether the answers to a variable are points of its predicted distribution."""
    mask = answers.depends_on_row
    return mask is not None and bool(mask[0, support.first[variable]])


def test_a_quantity_that_is_predicted_too_narrowly_without_evidence_keeps_its_atoms(fitted):
    frozen = narrow(fitted, sd=0.05)
    support = AnswerSupport.from_marginals(fitted.network.marginals, frozen, N_ATOMS)
    with torch.inference_mode():
        answers = support(frozen.features(fitted.code(Evidence.empty(1, 5))))
    assert not has_points(support, answers)


@pytest.mark.parametrize("n_points", [N_ATOMS, 2])
def test_a_quantity_more_precise_than_its_atoms_has_points_of_its_distribution(fitted, n_points):
    frozen = narrow(fitted, sd=0.05)
    support = narrow_support(fitted.network.marginals, frozen, n_points)
    with torch.inference_mode():
        features = frozen.features(fitted.code(Evidence.empty(1, 5)))
        answers = support(features)
        mean = torch.nn.functional.linear(features.inputs, *frozen.marginal_layer)[0, 0].item()
    own = slice(support.first[0], support.first[0] + support.count[0])
    values, probabilities = answers.values[0, own].double(), answers.probabilities[0, own].double()
    assert probabilities.sum().item() == pytest.approx(1)
    assert (probabilities @ values).item() == pytest.approx(mean, abs=1e-4)
    assert (probabilities @ (values - mean).square()).sqrt().item() == pytest.approx(0.05, rel=1e-3)
    pills = slice(support.first[1], support.first[1] + support.count[1])
    fixed = answers_before_any_question(fitted, n_points)[1]
    assert torch.equal(answers.values[0, pills], fixed.values[0, pills])  # its atoms are exact


@pytest.mark.parametrize("has_ties", [False, True])
def test_a_value_that_many_rows_share_keeps_atoms_until_they_are_much_coarser(fitted, has_ties):
    frozen, marginals = narrow(fitted, sd=0.577), copy.deepcopy(fitted.network.marginals)
    if has_ties:
        marginals.atoms.spread[0, 0] = 0.0
    support = narrow_support(marginals, frozen, 8)
    with torch.inference_mode():
        answers = support(frozen.features(fitted.code(Evidence.empty(1, 5))))
    assert has_points(support, answers) is not has_ties


def test_points_of_a_normal_distribution_have_its_variance():
    for n in (2, 5, 8):
        points = torch.special.ndtri(normal_levels(n).double())
        assert points.mean().item() == pytest.approx(0, abs=1e-6)
        assert points.square().mean().item() == pytest.approx(1, rel=1e-5)
    assert normal_levels(1).tolist() == [0.5]


def test_terms_that_do_not_depend_on_the_row_are_computed_once():
    schema = SCHEMA.with_variable(Variable("weight", "binary", levels=(0, 1)))
    table = make_columns(300).assign(weight=lambda columns: (columns["weight"] > 0).astype(int))
    fitted = PartialVAE(schema, "ill", max_steps=5, random_state=0).fit(table).fitted()
    assert answers_before_any_question(fitted, 2)[1].depends_on_row is not None
    support, answers = answers_before_any_question(fitted, 100)
    assert answers.depends_on_row is None
    for variable, (first, count) in enumerate(zip(support.first, support.count, strict=True)):
        own = slice(first, first + count)
        terms = fitted.term(answers.values[0, own], torch.full((count,), variable))
        expected = fitted.frozen.first_layer_delta(terms)
        torch.testing.assert_close(support.terms[own], expected, rtol=1e-4, atol=1e-5)


def test_the_answers_of_a_network_in_double_precision_are_the_same(fitted):
    double = replace(fitted, network=copy.deepcopy(fitted.network).double())
    exact, single = (m.marginal_predictor.answer_support(N_ATOMS) for m in (double, fitted))
    assert exact.terms.dtype == torch.float64
    torch.testing.assert_close(exact.terms.float(), single.terms)


def test_only_quantities_whose_values_are_about_normal_count_as_normal():
    random = np.random.default_rng(0)
    columns = {
        "normal": random.normal(size=500),
        "uniform": random.random(500),
        "two groups": random.normal(size=500) + 4 * random.integers(0, 2, size=500),
        "exponential": random.exponential(size=500),
        "mostly zero": random.exponential(size=500) * (random.random(500) < 0.3),
        "y": random.integers(0, 2, size=500),
    }
    quantities = tuple(Variable(name, "real") for name in list(columns)[:-1])
    schema = Schema((*quantities, Variable("y", "binary", levels=(0, 1))))
    model = PartialVAE(schema, "y", max_steps=10, random_state=0).fit(pd.DataFrame(columns)).fitted()
    parts = model.marginal_predictor.answer_support().parts
    (part,) = (part for part in parts if isinstance(part, QuantitySupport))
    is_normal = dict(zip(part.variables, part.is_normal.tolist(), strict=True))
    assert is_normal == {0: True, 1: True, 2: True, 3: False, 4: False}
