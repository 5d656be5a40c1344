"""Likelihoods against their closed forms."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from eddi.model.network.likelihood import (
    Bernoulli,
    Categorical,
    Count,
    Gaussian,
    Ordinal,
    VariableSpec,
)
from eddi.table.variable import Kind

LEVELS = {"bernoulli": [2, 2, 2], "categorical": [3, 5, 2], "ordinal": [4, 2, 6]}
COUNTS = [VariableSpec(Kind.COUNT, shift=1.2, scale=0.7), VariableSpec(Kind.COUNT, shift=3.0, scale=0.4)]
REALS = [VariableSpec(Kind.REAL, shift=50.0, scale=8.0), VariableSpec(Kind.REAL, shift=-1.0, scale=0.1)]


def build_level_likelihood(name):
    """A likelihood of three variables with levels in float64, and outputs for four rows."""
    likelihood_class, kind = {
        "bernoulli": (Bernoulli, Kind.BINARY),
        "categorical": (Categorical, Kind.CATEGORY),
        "ordinal": (Ordinal, Kind.ORDINAL),
    }[name]
    likelihood = likelihood_class([VariableSpec(kind, n) for n in LEVELS[name]]).double()
    torch.manual_seed(1)
    return likelihood, 2 * torch.randn(4, likelihood.n_outputs, dtype=torch.float64)


def build_count():
    """A likelihood of two counts in float64, and outputs for two rows."""
    likelihood = Count(COUNTS, floor=0.02).double()
    return likelihood, torch.tensor([[0.3, -1.0], [-0.8, 0.9]], dtype=torch.float64)


def code(number):
    """The coded value of a number, for each of COUNTS [2]."""
    return torch.tensor([(math.log1p(number) - spec.shift) / spec.scale for spec in COUNTS]).double()


def probability(likelihood, outputs, level):
    """The probability of one level of every variable, from `log_prob` [rows, variables]."""
    values = torch.full((len(outputs), 3), float(level), dtype=torch.float64)
    return likelihood.log_prob(outputs, values).exp()


def test_a_gaussian_agrees_with_scipy():
    gaussian = Gaussian(REALS, noise=None, floor=0.02).double()
    outputs, values = torch.randn(2, 5, 2, dtype=torch.float64)
    normal = stats.norm(outputs.numpy(), gaussian.sd().detach().numpy())
    assert np.allclose(gaussian.log_prob(outputs, values).detach(), normal.logpdf(values.numpy()))
    assert np.allclose(gaussian.cdf(outputs, values).detach(), normal.cdf(values.numpy()))


def test_the_density_of_a_gaussian_integrates_to_one():
    gaussian = Gaussian(REALS[:1], noise=0.3, floor=0.0).double()
    points = torch.linspace(-4, 4, 4001, dtype=torch.float64)[:, None]
    density = gaussian.log_prob(torch.full_like(points, 0.5), points).exp()
    assert torch.trapezoid(density, points, dim=0).item() == pytest.approx(1, abs=1e-9)


def test_the_quantile_of_a_gaussian_inverts_its_cdf():
    gaussian = Gaussian(REALS, noise=None, floor=0.02).double()
    outputs = torch.randn(5, 2, dtype=torch.float64)
    level = torch.rand(5, 2, dtype=torch.float64)
    assert torch.allclose(gaussian.cdf(outputs, gaussian.quantile(outputs, level)), level)


def test_the_moments_of_a_gaussian_are_in_the_units_of_the_table():
    mean, variance = Gaussian(REALS, noise=0.5, floor=0.0).moments(torch.tensor([[1.0, -2.0]]))
    assert mean.tolist() == [pytest.approx([58.0, -1.2])]
    assert variance.tolist() == [pytest.approx([16.0, 0.0025])]


def test_the_mean_of_a_gaussian_is_exact_far_from_zero():
    dates = Gaussian([VariableSpec(Kind.REAL, shift=1.7e9, scale=2.0)], noise=0.5, floor=0.0)
    mean, variance = dates.moments(torch.tensor([[0.25]]))
    assert mean.item() == 1.7e9 + 0.5
    assert variance.item() == pytest.approx(1.0)


def test_learned_noise_cannot_fall_below_its_floor():
    gaussian = Gaussian(REALS, noise=None, floor=0.02)
    gaussian.log_noise.data.fill_(-1e4)
    assert gaussian.sd().tolist() == pytest.approx([0.02, 0.02])
    assert gaussian.log_noise.requires_grad


def test_fixed_noise_has_the_given_value_and_is_not_learned():
    gaussian = Gaussian(REALS, noise=0.1 * 2**0.5, floor=0.0)
    assert gaussian.sd().expand(2).tolist() == pytest.approx([0.1 * 2**0.5] * 2)
    assert not list(gaussian.parameters())


def test_the_learned_scale_of_a_count_cannot_fall_below_its_floor():
    likelihood = Count(COUNTS, floor=0.02)
    likelihood.log_scale.data.fill_(-1e4)
    _, scale = likelihood.location_and_scale(torch.zeros(1, 2))
    assert scale.tolist() == pytest.approx([0.02, 0.02])


def test_the_output_of_a_bernoulli_is_the_log_odds_of_the_second_level():
    likelihood, outputs = build_level_likelihood("bernoulli")
    assert torch.allclose(probability(likelihood, outputs, 1), 1 / (1 + torch.exp(-outputs)))
    assert torch.allclose(probability(likelihood, outputs, 0), 1 / (1 + torch.exp(outputs)))


def test_a_categorical_is_a_softmax_over_the_outputs_of_each_variable():
    likelihood, outputs = build_level_likelihood("categorical")
    first = 0
    for variable, n_levels in enumerate(LEVELS["categorical"]):
        expected = torch.softmax(outputs[:, first : first + n_levels], -1)
        assert torch.allclose(likelihood.probabilities(outputs)[:, variable, :n_levels], expected)
        first += n_levels


def test_the_validation_score_of_levels_is_minus_the_brier_score():
    categorical = Categorical([VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.CATEGORY, 2)])
    outputs, values = torch.randn(7, 5), torch.tensor([[2.0, 0.0]] * 7)
    probabilities = categorical.probabilities(outputs)
    truth = torch.tensor([[0.0, 0, 1], [1, 0, 0]])
    torch.testing.assert_close(
        categorical.validation_score(outputs, values), -(probabilities - truth).square().sum(-1)
    )
    binary, log_odds = Bernoulli([VariableSpec(Kind.BINARY, 2)]), torch.randn(7, 1)
    expected = -(binary.probabilities(log_odds) - torch.tensor([0.0, 1])).square().sum(-1)
    torch.testing.assert_close(binary.validation_score(log_odds, torch.tensor([[1.0]])), expected)


def test_the_probabilities_of_an_ordinal_are_differences_of_sigmoids_at_cut_points():
    likelihood, outputs = build_level_likelihood("ordinal")
    inner = likelihood.cuts()[0, 1:4].detach()  # four levels have three cut points between them
    below = torch.sigmoid(inner - outputs[:, :1])
    expected = torch.cat([below, torch.ones(4, 1)], -1) - torch.cat([torch.zeros(4, 1), below], -1)
    found = torch.stack([probability(likelihood, outputs, level)[:, 0] for level in range(4)], -1)
    assert torch.allclose(found, expected)


def test_cut_points_rise_for_any_weights():
    likelihood, _ = build_level_likelihood("ordinal")
    likelihood.steps.data.normal_(std=5)
    likelihood.first.data.normal_(std=5)
    assert (torch.diff(likelihood.cuts(), dim=-1) >= 0).all()
    assert (torch.diff(likelihood.cuts()[2], dim=-1) > 0).all()


def test_a_new_ordinal_gives_every_level_the_same_probability_at_zero():
    likelihood, _ = build_level_likelihood("ordinal")
    probabilities = likelihood.probabilities(torch.zeros(1, 3, dtype=torch.float64))[0].detach()
    assert torch.allclose(probabilities[0, :4], torch.full((4,), 0.25).double())
    assert torch.allclose(probabilities[1, :2], torch.full((2,), 0.5).double())
    assert torch.allclose(probabilities[2, :6], torch.full((6,), 1 / 6).double())


def test_ordinals_with_different_numbers_of_levels_start_with_finite_weights():
    likelihood, _ = build_level_likelihood("ordinal")
    assert all(torch.isfinite(weights).all() for weights in likelihood.parameters())


def test_a_count_is_a_logistic_distribution_on_the_logarithmic_scale_between_half_numbers():
    likelihood, outputs = build_count()
    scale = likelihood.location_and_scale(outputs)[1].detach()
    for number in (0, 1, 2, 17):
        upper = torch.sigmoid((code(number + 0.5) - outputs) / scale)
        lower = torch.sigmoid((code(number - 0.5) - outputs) / scale) if number else 0
        found = likelihood.log_prob(outputs, code(number).expand(2, 2)).exp()
        assert torch.allclose(found.detach(), upper - lower)


def test_the_probabilities_of_a_count_sum_to_one():
    likelihood, outputs = build_count()
    numbers = torch.stack([code(number) for number in range(20_000)])[:, None].expand(-1, 2, 2)
    total = likelihood.log_prob(outputs, numbers).exp().sum(0)
    assert torch.allclose(total.detach(), torch.ones(2, 2).double(), atol=2e-3)


@pytest.mark.parametrize("number", [1e5, 1e6, 1e8])
def test_the_probability_of_a_large_count_is_accurate_in_float32(number):
    spec = VariableSpec(Kind.COUNT, shift=math.log(number), scale=1.0)
    value = (math.log1p(number) - spec.shift) / spec.scale
    found = Count([spec], floor=0.02).log_prob(torch.zeros(1, 1), torch.tensor([[value]]))
    # The density times the width of one whole number on the logarithmic scale; the initial scale is
    # 0.3 above the floor.
    expected = stats.logistic(scale=0.32).logpdf(value) - math.log(number + 1)
    assert found.item() == pytest.approx(expected, abs=0.01)


def test_the_cdf_of_a_count_is_the_cumulative_sum_of_its_probabilities():
    likelihood, outputs = build_count()
    total = torch.zeros(2, 2).double()
    for number in range(30):
        total = total + likelihood.log_prob(outputs, code(number).expand(2, 2)).exp()
        assert torch.allclose(likelihood.cdf(outputs, code(number).expand(2, 2)), total)


def test_the_cdf_of_a_count_is_flat_between_whole_numbers_and_zero_below_zero():
    likelihood, outputs = build_count()
    at_three, after_three = (likelihood.cdf(outputs, code(n).expand(2, 2)) for n in (3, 3.9))
    assert torch.equal(at_three, after_three)
    assert (likelihood.cdf(outputs, code(-0.5).expand(2, 2)) == 0).all()


def test_the_quantile_of_a_count_is_the_smallest_number_whose_cdf_reaches_the_level():
    likelihood, outputs = build_count()
    for level in (0.01, 0.3, 0.5, 0.77, 0.99):
        found = likelihood.quantile(outputs, torch.full((2, 2), level).double())
        number = torch.expm1(found * likelihood.scale + likelihood.shift)
        numbers = torch.stack([code(n) for n in range(399)])
        assert torch.allclose(number, number.round(), atol=1e-9)
        assert (likelihood.cdf(outputs, found) >= level).all()
        for row in range(2):
            for column in range(2):
                smaller = numbers[: int(number[row, column].round()), column]
                below = [likelihood.cdf(outputs, value.expand(2, 2))[row, column] for value in smaller]
                assert all(cdf < level for cdf in below)


def test_draws_of_a_count_match_its_probabilities():
    likelihood, outputs = build_count()
    level = (torch.arange(20_000).double() + 0.5) / 20_000
    draws = likelihood.quantile(outputs[:1].expand(20_000, 2), level[:, None].expand(-1, 2))
    for number in (0, 1, 3, 8):
        share = torch.isclose(draws, code(number)).double().mean(0)
        expected = likelihood.log_prob(outputs, code(number).expand(2, 2)).exp()[0]
        assert torch.allclose(share, expected, atol=1e-4)


def test_the_moments_of_a_count_match_sums_over_its_probabilities():
    likelihood, outputs = build_count()
    numbers = torch.arange(20_000).double()
    values = torch.stack([code(int(number)) for number in numbers])[:, None].expand(-1, 2, 2)
    probabilities = likelihood.log_prob(outputs, values).exp().detach()
    mean = (probabilities * numbers[:, None, None]).sum(0)
    sd = (probabilities * (numbers[:, None, None] - mean).square()).sum(0).sqrt()
    found_mean, found_variance = likelihood.moments(outputs)
    assert torch.allclose(found_mean, mean, rtol=0.02)
    assert torch.allclose(found_variance.sqrt(), sd, rtol=0.15)


@pytest.mark.parametrize("name", LEVELS)
def test_the_probabilities_of_levels_sum_to_one_and_agree_with_log_prob(name):
    likelihood, outputs = build_level_likelihood(name)
    probabilities = likelihood.probabilities(outputs)
    assert torch.allclose(probabilities.sum(-1), torch.ones(4, 3).double())
    for variable, n_levels in enumerate(LEVELS[name]):
        for level in range(n_levels):
            found = probability(likelihood, outputs, level)[:, variable]
            assert torch.allclose(found, probabilities[:, variable, level])


@pytest.mark.parametrize("name", ["categorical", "ordinal"])
def test_padding_levels_have_probability_zero(name):
    likelihood, outputs = build_level_likelihood(name)
    probabilities = likelihood.probabilities(outputs)
    for variable, n_levels in enumerate(LEVELS[name]):
        assert (probabilities[:, variable, n_levels:] == 0).all()


def test_the_outputs_of_one_category_do_not_affect_another():
    likelihood, outputs = build_level_likelihood("categorical")
    outputs.requires_grad_(True)
    likelihood.log_prob(outputs, torch.ones(4, 3).double())[:, 2].sum().backward()
    assert (outputs.grad[:, :8] == 0).all()
    assert (outputs.grad[:, 8:] != 0).all()


@pytest.mark.parametrize("name", LEVELS)
def test_the_cdf_of_levels_is_the_cumulative_sum_of_their_probabilities(name):
    likelihood, outputs = build_level_likelihood(name)
    below = likelihood.probabilities(outputs).cumsum(-1)
    for level in range(2):
        values = torch.full((4, 3), float(level)).double()
        assert torch.allclose(likelihood.cdf(outputs, values), below[..., level])


@pytest.mark.parametrize("name", LEVELS)
def test_the_cdf_of_levels_is_flat_between_two_levels_and_zero_below_the_first(name):
    likelihood, outputs = build_level_likelihood(name)
    at_level, above = (likelihood.cdf(outputs, torch.full((4, 3), v).double()) for v in (0.0, 0.9))
    assert torch.equal(at_level, above)
    assert torch.allclose(
        likelihood.cdf(outputs, torch.full((4, 3), -0.5).double()), torch.zeros(1).double()
    )


@pytest.mark.parametrize("name", LEVELS)
def test_the_cdf_of_levels_never_falls_and_reaches_one(name):
    likelihood, outputs = build_level_likelihood(name)
    steps = [likelihood.cdf(outputs, torch.full((4, 3), 0.25 * k).double()) for k in range(-4, 30)]
    assert (torch.diff(torch.stack(steps), dim=0) >= 0).all()
    assert torch.allclose(steps[-1], torch.ones(1).double())


@pytest.mark.parametrize("name", LEVELS)
def test_draws_of_levels_match_their_probabilities(name):
    likelihood, outputs = build_level_likelihood(name)
    level = ((torch.arange(5000).double() + 0.5) / 5000)[:, None].expand(-1, 3)
    draws = likelihood.quantile(outputs[:1].expand(5000, -1), level)
    probabilities = likelihood.probabilities(outputs[:1])[0]
    for variable, n_levels in enumerate(LEVELS[name]):
        shares = torch.bincount(draws[:, variable].long(), minlength=n_levels) / 5000
        assert torch.allclose(shares.double(), probabilities[variable, :n_levels], atol=5e-4)


@pytest.mark.parametrize("name", LEVELS)
def test_the_moments_of_levels_are_those_of_their_positions(name):
    likelihood, outputs = build_level_likelihood(name)
    probabilities = likelihood.probabilities(outputs)
    place = torch.arange(probabilities.shape[-1]).double()
    mean, variance = likelihood.moments(outputs)
    assert torch.allclose(mean, (probabilities * place).sum(-1))
    assert torch.allclose(variance, (probabilities * place.square()).sum(-1) - mean.square())


@pytest.mark.parametrize("far", [-1e3, 1e3])
@pytest.mark.parametrize(
    ("likelihood", "values"),
    [
        (Gaussian(REALS, noise=None, floor=0.02), [0.0, 3.0]),
        (Bernoulli([VariableSpec(Kind.BINARY, 2)] * 2), [0.0, 1.0]),
        (Categorical([VariableSpec(Kind.CATEGORY, 3), VariableSpec(Kind.CATEGORY, 2)]), [2.0, 0.0]),
        (Ordinal([VariableSpec(Kind.ORDINAL, 3), VariableSpec(Kind.ORDINAL, 5)]), [0.0, 3.0]),
        (Count(COUNTS, floor=0.02), [-1.2 / 0.7, 0.5]),
    ],
    ids=["real", "binary", "category", "ordinal", "count"],
)
def test_extreme_outputs_give_finite_log_probabilities_and_gradients(likelihood, values, far):
    outputs = torch.zeros(1, likelihood.n_outputs)
    outputs[:, ::2] = far
    outputs.requires_grad_(True)
    likelihood.zero_grad()
    found = likelihood.log_prob(outputs, torch.tensor([values]))
    found.sum().backward()
    gradients = [outputs.grad, *(p.grad for p in likelihood.parameters())]
    assert torch.isfinite(found).all()
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("name", LEVELS)
def test_values_are_broadcast_over_draws_of_outputs(name):
    likelihood, outputs = build_level_likelihood(name)
    draws = torch.stack([outputs, -outputs])  # [draws, rows, outputs]
    values = torch.tensor([[0.0, 1.0, 1.0]]).double().expand(4, 3)
    for method in (likelihood.log_prob, likelihood.cdf):
        assert torch.equal(method(draws, values)[1], method(-outputs, values))
