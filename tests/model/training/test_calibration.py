"""Calibration makes predictions as confident as they are accurate, without moving the best guess."""

import copy
from dataclasses import replace

import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.marginals import group_by_scale
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.calibration import CalibrationData, calibrate, calibrate_batched
from eddi.model.training.objective import Batch
from eddi.table.variable import Kind

REAL, COUNT = 0, 3  # positions of the quantities
SPECS = (
    VariableSpec(Kind.REAL),
    VariableSpec(Kind.BINARY, 2),
    VariableSpec(Kind.CATEGORY, 3),
    VariableSpec(Kind.COUNT, 0, 1.0, 0.5),
)
TINY = replace(DEFAULT, latent=2, identity=3, offset=2, term=4, hidden=(6, 6))
N_ROWS = 4_000


@pytest.fixture
def network():
    torch.manual_seed(0)
    return Network(SPECS, "pnp", TINY).requires_grad_(False)


def predict(network, batch):
    """Outputs of the marginal heads for a batch."""
    return network.marginals(network.features(network.code(batch.visible_values, batch.observed)).inputs)


def draw_batch(network, *, error_factor):
    """Rows without evidence, drawn from the predictions; errors of the real variable are scaled."""
    torch.manual_seed(1)
    zeros, ones = torch.zeros(N_ROWS, 4), torch.ones(N_ROWS, 4)
    empty = Batch(zeros, ones, zeros, torch.zeros(1, N_ROWS, 2))
    outputs = predict(network, empty)
    values = network.marginals.quantile(outputs, torch.rand(N_ROWS, 4))
    mean = network.marginals.moments(outputs)[0][:, REAL].float()
    values[:, REAL] = mean + error_factor * (values[:, REAL] - mean)
    return replace(empty, values=values)


def calibrate_network(network, batch, n_rows):
    calibrate(network.marginals, CalibrationData.from_batch(network, batch, n_rows))


def is_inside(network, batch, variable):
    """Whether the true value of a variable lies in its 90% interval [rows]."""
    outputs = predict(network, batch)
    tail_mass = network.marginals.interval_tail_mass(outputs[None])
    low = network.marginals.quantile(outputs, tail_mass)[:, variable]
    high = network.marginals.quantile(outputs, 1 - tail_mass)[:, variable]
    truth = batch.values[:, variable]
    return ((low <= truth + 1e-4) & (truth <= high + 1e-4)).float()


@pytest.mark.parametrize("error_factor", [0.5, 1.0, 3.0])
def test_the_interval_of_a_quantity_contains_nine_in_ten_values(network, error_factor):
    batch = draw_batch(network, error_factor=error_factor)
    calibrate_network(network, batch, N_ROWS)
    assert is_inside(network, batch, REAL).mean().item() == pytest.approx(0.9, abs=0.01)
    # The interval of a count contains whole numbers, so it may contain more.
    assert is_inside(network, batch, COUNT).mean().item() > 0.89


def test_the_scale_follows_the_size_of_the_errors_and_the_mean_stays(network):
    batch = draw_batch(network, error_factor=3.0)
    before = network.marginals.moments(predict(network, batch))
    calibrate_network(network, batch, N_ROWS)
    after = network.marginals.moments(predict(network, batch))
    assert torch.allclose(before[0][:, REAL], after[0][:, REAL])
    ratio = (after[1] / before[1]).sqrt()[0, REAL].item()
    assert ratio == pytest.approx(3.0, rel=0.1)


def test_overconfident_levels_become_less_certain_and_keep_their_order(network):
    batch = draw_batch(network, error_factor=1.0)
    with torch.no_grad():
        network.marginals.layer.weight *= 4  # four times the logits
        network.marginals.layer.bias *= 4
    head, _ = network.marginals.head_of(2)
    before = predict(network, batch)[:, head.outputs]
    score = network.marginals.log_prob(predict(network, batch), batch.values)[:, 1:3].sum(0)
    calibrate_network(network, batch, N_ROWS)
    after = predict(network, batch)[:, head.outputs]
    assert torch.equal(before.argmax(-1), after.argmax(-1))
    assert after.abs().max() < 0.5 * before.abs().max()
    calibrated = network.marginals.log_prob(predict(network, batch), batch.values)[:, 1:3].sum(0)
    assert (calibrated > score).all()


def test_too_few_rows_change_nothing(network):
    batch = draw_batch(network, error_factor=3.0)
    few = (part[:10] for part in (batch.values, batch.weights, batch.observed))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    calibrate_network(network, Batch(*few, batch.noise[:, :10]), 10)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_wide_and_narrow_predictions_are_calibrated_separately(network):
    torch.manual_seed(2)
    ones, observed = torch.ones(N_ROWS, 4), torch.zeros(N_ROWS, 4)
    observed[::2, 1:] = 1  # in every other row, everything but the quantity is observed
    batch = Batch(ones, ones, observed, torch.zeros(1, N_ROWS, 2))
    mean, variance = (
        moment[:, REAL].float() for moment in network.marginals.moments(predict(network, batch))
    )
    heavy_tailed = torch.distributions.StudentT(2.0).sample((N_ROWS,))
    errors = torch.where(observed[:, 1] > 0, heavy_tailed, torch.randn(N_ROWS))
    values = ones.clone()
    values[:, REAL] = mean + variance.sqrt() * errors
    batch = replace(batch, values=values)
    calibrate_network(network, batch, N_ROWS)
    inside = is_inside(network, batch, REAL)
    assert inside[::2].mean().item() == pytest.approx(0.9, abs=0.015)
    assert inside[1::2].mean().item() == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize(("n_rows", "n_groups"), [(9, 1), (19, 1), (20, 2), (4_000, 5)])
def test_few_rows_form_few_scale_groups(network, n_rows, n_groups):
    batch = draw_batch(network, error_factor=1.0)
    observed = torch.rand(N_ROWS, 4).round() * torch.tensor([0.0, 1, 1, 1])
    calibrate_network(network, replace(batch, observed=observed), n_rows)
    assert network.marginals.group_edges[:, REAL].isfinite().sum() == n_groups - 1
    assert network.marginals.group_edges[:, 1].isinf().all()  # levels have no scale


def test_scales_that_differ_by_rounding_are_in_one_group(network):
    batch = draw_batch(network, error_factor=1.0)  # without evidence, so all scales are equal
    calibrate_network(network, batch, N_ROWS)
    scale = network.marginals.predictive_scale(predict(network, batch))[:1]
    edges = network.marginals.group_edges
    groups = {int(group_by_scale(scale * f, edges)[0, REAL]) for f in (1 - 1e-6, 1, 1 + 1e-6)}
    assert len(groups) == 1


def test_only_rows_with_a_value_count_for_the_groups_of_a_variable(network):
    batch = draw_batch(network, error_factor=1.0)
    weights = batch.weights.clone()
    weights[:, REAL] = 0
    weights[:15, REAL] = 1
    calibrate_network(network, replace(batch, weights=weights.repeat(4, 1)[:N_ROWS]), 100)
    assert network.marginals.group_edges[:, REAL].isinf().all()
    assert network.marginals.group_edges[:, COUNT].isfinite().all()


def test_rounding_does_not_change_the_interval_of_a_count(network):
    batch = draw_batch(network, error_factor=1.0)  # without evidence, so all predictions are equal
    calibrate_network(network, batch, N_ROWS)
    outputs = predict(network, batch)[:1]
    tail_mass = network.marginals.interval_tail_mass(outputs[None])
    ends = [
        network.marginals.quantile(outputs, level * factor)[0, COUNT].item()
        for level in (tail_mass, 1 - tail_mass)
        for factor in (1 - 1e-6, 1, 1 + 1e-6)
    ]
    assert len(set(ends)) == 2


@pytest.fixture
def with_factors():
    torch.manual_seed(0)
    recipe = replace(TINY, factors=2)
    return Network(SPECS, "precision", recipe).requires_grad_(False)


def draw_values(network, *, share):
    """Values drawn from a mixture of the network's outputs and others, and both outputs."""
    torch.manual_seed(3)
    outputs = torch.randn(N_ROWS, network.marginals.n_outputs)
    other = torch.randn(N_ROWS, network.marginals.n_outputs)
    mixed = (1 - share) * outputs + share * other
    values = network.marginals.quantile(mixed, torch.rand(N_ROWS, len(SPECS)))
    hidden, n_rows = torch.ones_like(values), torch.full((len(SPECS),), N_ROWS)
    return CalibrationData(outputs, other, values, hidden, n_rows)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_factor_model_gets_the_share_that_predicts_best(with_factors, share):
    marginals = with_factors.marginals
    weights = marginals.layer.weight.clone()
    calibrate(marginals, draw_values(with_factors, share=share))
    for variable in (REAL, 1, 2):
        rows = marginals.output_rows([variable])
        assert marginals.factor_share[rows] == pytest.approx(share, abs=0.1)
        ratio = marginals.layer.weight[rows] / weights[rows]
        assert ratio.flatten() == pytest.approx(1 - share, abs=0.1)


def test_outputs_that_predict_nothing_get_a_small_share(with_factors):
    calibrate(with_factors.marginals, draw_values(with_factors, share=0.0))
    assert with_factors.marginals.factor_share.max() < 0.1


def test_networks_that_are_calibrated_at_once_are_those_calibrated_alone():
    specs = [(*SPECS[:3], replace(SPECS[3], shift=shift)) for shift in (1.0, 1.3)]
    recipe = replace(TINY, factors=2)
    together = [Network(own, "precision", recipe).requires_grad_(False) for own in specs]
    alone = copy.deepcopy(together)
    data = [
        draw_values(network, share=share) for network, share in zip(together, (0.2, 0.7), strict=True)
    ]
    shorter = [part[:-100] for part in (data[1].outputs, data[1].factor_outputs, data[1].values)]
    data[1] = CalibrationData(*shorter, data[1].hidden[:-100], data[1].n_rows)
    for network, part in zip(alone, data, strict=True):
        calibrate(network.marginals, part)
    calibrate_batched([network.marginals for network in together], data)
    for network, expected in zip(together, alone, strict=True):
        others = expected.state_dict()
        for name, part in network.state_dict().items():
            torch.testing.assert_close(part, others[name], rtol=2e-2, atol=1e-4, msg=name)
