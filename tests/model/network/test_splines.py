"""Splines: their knots, their values, and that both ways of evaluating them agree."""

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.set_encoder import SetEncoder
from eddi.model.network.splines import MAX_ROWS, MIN_KNOTS, Splines, count_knots, subsampling_step
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SPECS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.ORDINAL, 5),
    VariableSpec(Kind.CATEGORY, 3),
)


def draw_rows(n: int, seed: int = 0) -> Evidence:
    random = np.random.default_rng(seed)
    levels = [random.integers(spec.n_levels, size=n) for spec in SPECS[1:]]
    values = np.stack([random.normal(size=n), *levels], axis=1)
    return Evidence(values.astype(np.float32), random.random(values.shape) < 0.7)


def to_tensors(evidence: Evidence) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(evidence.values), torch.from_numpy(evidence.observed).float()


def build_encoder(name: str, *, learned: bool) -> SetEncoder:
    """A set encoder with splines: new ones, which are zero, or with random heights."""
    torch.manual_seed(0)
    encoder = SetEncoder(SPECS, name, width=6, identity=3, offset=2, knots=8)  # type: ignore[arg-type]
    encoder.init_from_data(draw_rows(200))
    if learned:
        assert encoder.splines is not None
        with torch.no_grad():
            encoder.splines.slow_heights.normal_()
    return encoder


def build_spline() -> tuple[Splines, torch.Tensor]:
    """One spline with knots at 0, 1 and 3, and its heights there."""
    splines = Splines(1, 3, 1)
    splines.init_from_data(np.array([[0.0], [1.0], [3.0]], np.float32), np.ones((3, 1), bool))
    return splines, torch.tensor([[[0.0], [10.0], [-10.0]]])


def test_a_spline_passes_through_its_heights_and_is_linear_between_knots() -> None:
    splines, heights = build_spline()
    inputs = torch.tensor([[-5.0], [0.0], [0.5], [1.0], [2.0], [3.0], [9.0]])
    values = (splines.knot_weights(inputs, torch.ones_like(inputs)) @ heights[0]).flatten()
    assert values.tolist() == pytest.approx([0.0, 0.0, 5.0, 10.0, 0.0, -10.0, -10.0])


def test_a_spline_is_zero_at_unobserved_values() -> None:
    splines, heights = build_spline()
    inputs, observed = torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [0.0]])
    assert (splines.knot_weights(inputs, observed) @ heights[0]).flatten().tolist() == [10.0, 0.0]


def test_segments_are_the_sum_of_the_linear_term_and_the_spline() -> None:
    splines, heights = build_spline()
    start, height, slope = splines.segments(heights, torch.tensor([[2.0]]), torch.tensor([[1.0]]))
    assert start.tolist() == [[0, 0, 1, 3]]
    assert height.flatten().tolist() == [1, 1, 13, -3]
    assert slope.flatten().tolist() == [2, 12, -8, 2]


def test_knots_are_quantiles_or_all_values_if_there_are_few() -> None:
    splines = Splines(2, 5, 1)
    many = np.linspace(0, 100, 1_001)
    few = np.resize([1.0, 2.0, 4.0], 1_001)
    splines.init_from_data(np.stack([many, few], axis=1).astype(np.float32), np.ones((1_001, 2), bool))
    assert splines.knots[0].tolist() == pytest.approx([0, 25, 50, 75, 100])
    assert splines.knots[1, :3].tolist() == [1, 2, 4]
    assert (splines.knots.diff() > 0).all()


def test_a_column_without_observed_values_has_rising_knots() -> None:
    splines = Splines(1, 4, 1)
    splines.init_from_data(np.zeros((3, 1), np.float32), np.zeros((3, 1), bool))
    assert (splines.knots.diff() > 0).all()


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_new_splines_do_not_change_the_code(name: str) -> None:
    torch.manual_seed(0)
    without = SetEncoder(SPECS, name, width=6, identity=3, offset=2)  # type: ignore[arg-type]
    values, observed = to_tensors(draw_rows(5, seed=1))
    assert torch.equal(build_encoder(name, learned=False)(values, observed), without(values, observed))


@pytest.mark.parametrize("name", ["pn", "pnp"])
def test_a_code_with_splines_is_the_sum_of_its_terms(name: str) -> None:
    encoder = build_encoder(name, learned=True)
    values, observed = to_tensors(draw_rows(20, seed=2))
    terms = encoder.term(values, torch.arange(len(SPECS))) * observed[..., None]
    torch.testing.assert_close(encoder(values, observed), terms.sum(1) + encoder.base)


@pytest.mark.parametrize("value", [3e38, -3e38])
def test_a_value_far_beyond_the_knots_has_a_finite_term(value: float) -> None:
    encoder = build_encoder("pnp", learned=True)
    values, observed = torch.tensor([[value, 0, 0, 0]]), torch.tensor([[1.0, 0, 0, 0]])
    term = encoder.term(values[:, :1], torch.tensor([0]))[:, 0]
    torch.testing.assert_close(term, encoder(values, observed))
    assert not term.isnan().any()


def test_wide_tables_have_fewer_knots_or_none() -> None:
    assert count_knots(32, 13) == 32
    assert count_knots(32, 512) == 8
    assert count_knots(32, 5_000) == 0
    assert count_knots(0, 5) == count_knots(32, 0) == 0
    assert count_knots(MIN_KNOTS - 1, 5) == 0


def test_zero_imputation_has_no_splines() -> None:
    assert SetEncoder(SPECS, "zi", width=6, identity=3, knots=8).splines is None


def test_the_rows_for_quantiles_are_spread_over_a_long_table() -> None:
    places = np.arange(4 * MAX_ROWS, dtype=np.float32)[:, None]
    rows = places[:: subsampling_step(len(places))]
    assert len(rows) == MAX_ROWS
    assert rows[-1, 0] >= 4 * MAX_ROWS - 4
