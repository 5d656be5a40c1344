"""Tables with missing values, levels and groups become numbers."""

import numpy as np
import pytest
import torch

from eddi_benchmarks.decisions.table_encoder import TableEncoder


@pytest.fixture(scope="module")
def encoder(make_problem):
    return TableEncoder.from_problem(make_problem(is_class=False))


def test_a_category_has_a_column_per_level_and_a_group_is_one_question(encoder):
    assert encoder.layout.reveals.shape == (
        3,
        6,
    )  # questions pair, a, colour; columns a, b, c, three colours
    assert encoder.layout.reveals.tolist() == [
        [0, 1, 1, 0, 0, 0],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, 1],
    ]


def test_missing_values_become_the_mean_and_cannot_be_asked(make_problem):
    problem = make_problem(is_class=False)
    table = problem.test.copy()
    table[["b", "c"]] = np.nan
    encoder = TableEncoder.from_problem(problem)
    rows = encoder.encode(encoder.evidence(table))
    assert not rows.columns[:, 1:3].any()
    assert rows.answerable[0].tolist() == [False, True, True]
    rows = encoder.encode(encoder.evidence(problem.test))
    assert rows.answerable.all()  # one value of the pair is enough to ask it


def test_columns_have_mean_zero_and_sd_one_in_the_training_rows(encoder):
    rows = encoder.encode(encoder.evidence(encoder.problem.train))
    assert torch.allclose(rows.columns.mean(0), torch.zeros(6), atol=1e-5)
    assert torch.allclose(rows.columns[:, 0].std(correction=0), torch.ones(1), atol=1e-4)


def test_a_column_without_any_training_value_is_zero(make_problem):
    problem = make_problem(is_class=False)
    problem.train["b"] = np.nan
    encoder = TableEncoder.from_problem(problem)
    rows = encoder.encode(encoder.evidence(problem.test))
    assert torch.isfinite(rows.columns).all()
    assert (encoder.shift[1], encoder.scale[1]) == (0, 1)
