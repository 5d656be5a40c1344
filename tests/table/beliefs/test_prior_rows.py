"""Rows drawn from beliefs."""

import numpy as np
import pytest

from eddi.errors import SchemaError
from eddi.table.beliefs.prior_rows import draw_prior_rows
from eddi.table.schema import Schema

TEXT = """\
[variables]
age = { kind = "real", low = 18, high = 90 }
income = { kind = "real", low = 0 }
visits = { kind = "count", high = 10 }
smoking = { kind = "binary", levels = ["no", "yes"] }
town = { kind = "category", levels = ["Aber", "Bala", "Corris"] }
risk = { kind = "ordinal", levels = ["low", "medium", "high"] }

[beliefs]
income = { typical = 30, spread = 5 }
smoking = { shares = [0.8, 0.2] }

[[relations]]
of = "income"
to = "age"
strength = "strong"
[[relations]]
of = "smoking"
to = "risk"
strength = "strong"
[[relations]]
of = "age"
to = "risk"
effect = "lowers"
"""
AGE, INCOME, VISITS, SMOKING, TOWN, RISK = range(6)


@pytest.fixture(scope="module")
def rows():
    return draw_prior_rows(Schema.from_toml(TEXT), 4_000, seed=0)


def test_values_are_possible_values(rows):
    assert rows[:, AGE].min() >= 18
    assert rows[:, AGE].max() <= 90
    assert (rows[:, INCOME] >= 0).all()
    assert set(np.unique(rows[:, VISITS])) <= set(range(11))
    assert set(np.unique(rows[:, TOWN])) == {0, 1, 2}


def test_values_have_the_stated_middle_spread_and_shares(rows):
    assert rows[:, INCOME].mean() == pytest.approx(30, abs=0.5)
    assert rows[:, INCOME].std() == pytest.approx(5.3, abs=0.4)  # a little more: the belief is not exact
    assert rows[:, SMOKING].mean() == pytest.approx(0.2, abs=0.03)
    assert rows[:, AGE].mean() == pytest.approx(54, abs=1.5)  # the middle of the range
    assert np.bincount(rows[:, TOWN].astype(int)) / 4_000 == pytest.approx([1 / 3] * 3, abs=0.03)


def test_relations_have_their_sign_and_strength(rows):
    correlations = np.corrcoef(rows.T)
    assert 0.4 < correlations[AGE, INCOME] < 0.8
    assert 0.2 < correlations[SMOKING, RISK] < 0.6
    assert -0.5 < correlations[AGE, RISK] < -0.15
    assert abs(correlations[TOWN, RISK]) < 0.06


def test_rows_depend_on_the_seed_alone(rows):
    schema = Schema.from_toml(TEXT)
    assert (draw_prior_rows(schema, 4_000, seed=0) == rows).all()
    assert (draw_prior_rows(schema, 4_000, seed=1) != rows).any()


def test_contradictory_relations_are_weakened():
    names = "abcdef"
    variables = "".join(f"{name} = {{ kind = 'real', low = 0, high = 1 }}\n" for name in names)
    relations = "".join(
        f"[[relations]]\nof = '{a}'\nto = '{b}'\neffect = 'lowers'\nstrength = 'strong'\n"
        for i, a in enumerate(names)
        for b in names[:i]
    )
    rows = draw_prior_rows(Schema.from_toml("[variables]\n" + variables + relations), 1_000, seed=0)
    correlations = np.corrcoef(rows.T)[np.triu_indices(6, 1)]
    assert np.isfinite(rows).all()
    assert (correlations < -0.05).all()


def test_a_quantity_about_which_nothing_is_known_is_named():
    schema = Schema.from_toml("[variables]\nage = { kind = 'real' }\n")
    with pytest.raises(
        SchemaError, match=r"nothing is known about the values of 'age'. Give low and high"
    ):
        draw_prior_rows(schema, 10, seed=0)


def test_a_quantity_without_a_description_has_the_observed_values():
    text = "[variables]\nx = { kind = 'real' }\ny = { kind = 'binary', levels = [0, 1] }\n"
    schema = Schema.from_toml(text)
    numbers = np.array([[3.0, np.nan], [7.0, np.nan], [np.nan, 1.0]])
    rows = draw_prior_rows(schema, 1_000, seed=0, numbers=numbers)
    assert set(rows[:, 0]) == {3.0, 7.0}
    assert rows[:, 0].mean() == pytest.approx(5, abs=0.2)
    assert rows[:, 1].mean() == pytest.approx(0.5, abs=0.05)  # levels are equally likely unless stated
    assert abs(np.corrcoef(rows.T)[0, 1]) < 0.1
