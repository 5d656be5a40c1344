"""Every answer that may come: levels, atoms, and neighbours put together where they are many."""

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.answer_support import MAX_LEVELS
from eddi.model.network.atoms import N_ATOMS
from eddi.table.evidence import Evidence

RANKS = 2 * MAX_LEVELS


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    n = 300
    columns = {
        "weight": random.normal(size=n),
        "pills": random.integers(0, 3, size=n).astype(float),  # a quantity of three values
        "town": random.choice(["Aa", "Bo", "Co"], size=n),
        "score": random.integers(0, RANKS, size=n),
        "ill": random.integers(0, 2, size=n),
    }
    schema = Schema(
        (
            Variable("weight", "real"),
            Variable("pills", "real"),
            Variable("town", "category", levels=("Aa", "Bo", "Co")),
            Variable("score", "ordinal", levels=tuple(range(RANKS))),
            Variable("ill", "binary", levels=(0, 1)),
        )
    )
    return PartialVAE(schema, "ill", max_steps=20, random_state=0).fit(pd.DataFrame(columns))


@pytest.mark.parametrize(
    ("n_points", "counts"),
    [
        (N_ATOMS, [N_ATOMS, 3, 3, N_ATOMS, 2]),
        (2, [2, 2, 3, 2, 2]),
        (100, [N_ATOMS, 3, 3, RANKS, 2]),
    ],
)
def test_each_variable_has_its_answers_and_their_chances_add_up(model, n_points, counts):
    nothing = Evidence.empty(2, 5)
    possible = model.direct_.possible(n_points)
    with torch.inference_mode():
        answers = possible(model.settled_.hidden(model.code(nothing)))
    assert possible.count.tolist() == counts
    for first, count in zip(possible.first, possible.count, strict=True):
        here = answers.chances[:, first : first + count]
        assert here.sum(1).tolist() == pytest.approx([1.0, 1.0])


def test_a_few_values_are_met_as_they_are(model):
    possible = model.direct_.possible()
    with torch.inference_mode():
        answers = possible(model.settled_.hidden(model.code(Evidence.empty(1, 5))))
    first = possible.first[1]
    coded = answers.values[0, first : first + 3].double().numpy()
    assert coded * model.coding_.scale[1] + model.coding_.shift[1] == pytest.approx([0, 1, 2], abs=1e-5)


def test_terms_are_looked_up_only_where_answers_are_the_same_for_all(model):
    assert model.direct_.possible(2).terms is None
    possible = model.direct_.possible(100)
    with torch.inference_mode():
        answers = possible(model.settled_.hidden(model.code(Evidence.empty(1, 5))))
        for variable in range(5):
            here = slice(possible.first[variable], possible.first[variable] + possible.count[variable])
            places = torch.full((possible.count[variable],), variable)
            terms = model.term(answers.values[0, here], places)
            added = model.settled_.added(terms)
            torch.testing.assert_close(possible.terms[here], added, rtol=1e-4, atol=1e-5)
