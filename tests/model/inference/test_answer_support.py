"""The possible answers to every variable: levels, atoms, and merged neighbours if there are many."""

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.answer_support import MAX_LEVELS
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


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    n = 300
    columns = {
        "weight": random.normal(size=n),
        "pills": random.integers(0, 3, size=n).astype(float),
        "town": random.choice(["Aa", "Bo", "Co"], size=n),
        "score": random.integers(0, N_SCORES, size=n),
        "ill": random.integers(0, 2, size=n),
    }
    return PartialVAE(SCHEMA, "ill", max_steps=20, random_state=0).fit(pd.DataFrame(columns)).fitted()


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


def test_terms_that_do_not_depend_on_the_row_are_computed_once(fitted):
    assert fitted.marginal_predictor.answer_support(2).terms is None
    support, answers = answers_before_any_question(fitted, 100)
    for variable, (first, count) in enumerate(zip(support.first, support.count, strict=True)):
        own = slice(first, first + count)
        terms = fitted.term(answers.values[0, own], torch.full((count,), variable))
        expected = fitted.frozen.first_layer_delta(terms)
        torch.testing.assert_close(support.terms[own], expected, rtol=1e-4, atol=1e-5)
