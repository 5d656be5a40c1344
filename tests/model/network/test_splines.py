"""Curves beside lines: they start as nothing, stand where values are, and are the same in both forms."""

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import SetEncoder
from eddi.model.network.splines import FEWEST, Splines, n_knots
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

FORMS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 5),
    VariableSpec(Kind.CATEGORY, 3),
)


def rows(n: int, seed: int = 0) -> Evidence:
    random = np.random.default_rng(seed)
    levels = [random.integers(spec.n_levels, size=n) for spec in FORMS[1:]]
    values = np.stack([random.normal(size=n), *levels], axis=1)
    return Evidence(values.astype(np.float32), random.random(values.shape) < 0.7)


def encoder(name: str, *, learned: bool) -> SetEncoder:
    torch.manual_seed(0)
    made = SetEncoder(FORMS, name, width=6, identity=3, offset=2, knots=8)  # type: ignore[arg-type]
    made.init_from_data(rows(200))
    if learned:
        assert made.splines is not None
        with torch.no_grad():
            made.splines.slow_heights.normal_()
    return made


def test_a_curve_passes_through_its_heights_and_is_straight_between() -> None:
    splines = Splines(1, 3, 1)
    splines.init_from_data(np.array([[0.0], [1.0], [3.0]], np.float32), np.ones((3, 1), bool))
    heights = torch.tensor([[[0.0], [10.0], [-10.0]]])
    values = torch.tensor([[-5.0], [0.0], [0.5], [1.0], [2.0], [3.0], [9.0]])
    seen = splines.seen(heights, values, torch.ones_like(values)).flatten()
    assert seen.tolist() == pytest.approx([0.0, 0.0, 5.0, 10.0, 0.0, -10.0, -10.0])


def test_pieces_are_the_line_and_its_curve() -> None:
    splines = Splines(1, 3, 1)
    splines.init_from_data(np.array([[0.0], [1.0], [3.0]], np.float32), np.ones((3, 1), bool))
    heights = torch.tensor([[[0.0], [10.0], [-10.0]]])
    start, height, rise = splines.pieces(heights, torch.tensor([[2.0]]), torch.tensor([[1.0]]))
    assert start.tolist() == [[0, 0, 1, 3]]
    assert height.flatten().tolist() == [1, 1, 13, -3]
    assert rise.flatten().tolist() == [2, 12, -8, 2]


def test_knots_stand_at_quantiles_and_at_the_values_where_those_are_few() -> None:
    splines = Splines(2, 5, 1)
    many = np.linspace(0, 100, 1_001)
    few = np.resize([1.0, 2.0, 4.0], 1_001)
    splines.init_from_data(np.stack([many, few], axis=1).astype(np.float32), np.ones((1_001, 2), bool))
    assert splines.knots[0].tolist() == pytest.approx([0, 25, 50, 75, 100])
    assert splines.knots[1, :3].tolist() == [1, 2, 4]
    assert (splines.knots.diff() > 0).all()


def test_a_column_of_which_nothing_is_seen_keeps_knots_that_rise() -> None:
    splines = Splines(1, 4, 1)
    splines.init_from_data(np.zeros((3, 1), np.float32), np.zeros((3, 1), bool))
    assert (splines.knots.diff() > 0).all()


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_fresh_curves_change_nothing(name: str) -> None:
    torch.manual_seed(0)
    plain = SetEncoder(FORMS, name, width=6, identity=3, offset=2)  # type: ignore[arg-type]
    some = rows(5, seed=1)
    values, seen = torch.from_numpy(some.values), torch.from_numpy(some.observed).float()
    assert torch.equal(encoder(name, learned=False)(values, seen), plain(values, seen))


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_a_code_is_the_sum_of_the_terms_with_curves_too(name: str) -> None:
    made, some = encoder(name, learned=True), rows(20, seed=2)
    values, seen = torch.from_numpy(some.values), torch.from_numpy(some.observed).float()
    terms = made.term(values, torch.arange(len(FORMS))) * seen[..., None]
    torch.testing.assert_close(made(values, seen), terms.sum(1) + made.base)


@pytest.mark.parametrize("value", [3e38, -3e38])
def test_a_value_beyond_all_knots_leaves_numbers(value: float) -> None:
    made = encoder("pnp", learned=True)
    values, seen = torch.tensor([[value, 0, 0, 0]]), torch.tensor([[1.0, 0, 0, 0]])
    torch.testing.assert_close(made.term(values[:, :1], torch.tensor([0]))[:, 0], made(values, seen))


def test_too_many_variables_have_no_curves() -> None:
    assert n_knots(32, 13) == 32
    assert n_knots(32, 512) == 8
    assert n_knots(32, 5_000) == 0
    assert n_knots(0, 5) == n_knots(32, 0) == 0
    assert n_knots(FEWEST - 1, 5) == 0


def test_zero_imputation_has_lines_alone() -> None:
    assert SetEncoder(FORMS, "zi", width=6, identity=3, knots=8).splines is None
