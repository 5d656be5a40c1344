"""The methods that a likelihood inherits from `Likelihood`, and those that override them."""

import pytest
import torch
from torch.distributions import Categorical as TorchCategorical
from torch.distributions import Normal, kl_divergence

from eddi.model.network.heteroscedastic import HeteroscedasticCount, HeteroscedasticGaussian
from eddi.model.network.likelihood import (
    Bernoulli,
    Categorical,
    Count,
    Gaussian,
    Likelihood,
    Ordinal,
    VariableSpec,
)
from eddi.table.variable import Kind

REALS = [VariableSpec(Kind.REAL)] * 3
COUNTS = [VariableSpec(Kind.COUNT, shift=1.0, scale=0.5)] * 3
WITH_LEVELS = {
    "binary": Bernoulli([VariableSpec(Kind.BINARY, 2)] * 3),
    "category": Categorical([VariableSpec(Kind.CATEGORY, n) for n in (3, 5, 2)]),
    "ordinal": Ordinal([VariableSpec(Kind.ORDINAL, n) for n in (3, 5, 2)]),
}
QUANTITIES = {
    "fixed noise": Gaussian(REALS, noise=0.3, floor=0.0),
    "learned noise": Gaussian(REALS, noise=None, floor=0.02),
    "count": Count(COUNTS, floor=0.02),
    "heteroscedastic": HeteroscedasticGaussian(REALS, floor=0.02),
    "heteroscedastic count": HeteroscedasticCount(COUNTS, floor=0.02),
}
LIKELIHOODS = {**WITH_LEVELS, **QUANTITIES}


class Minimal(Gaussian):
    """A likelihood that implements the abstract methods and inherits everything else."""

    predictive_scale = Likelihood.predictive_scale


@pytest.fixture
def minimal():
    return Minimal(REALS, noise=0.5, floor=0.0).double()


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def draw_outputs(likelihood, n_rows=4, seed=0):
    return torch.randn((n_rows, likelihood.n_outputs), generator=seeded(seed))


@pytest.mark.parametrize("name", WITH_LEVELS)
def test_likelihoods_of_levels_say_so_and_have_probabilities(name):
    likelihood = WITH_LEVELS[name]
    assert likelihood.has_levels
    assert likelihood.probabilities(draw_outputs(likelihood)).shape[:2] == (4, 3)


@pytest.mark.parametrize("name", QUANTITIES)
def test_likelihoods_of_quantities_have_no_probabilities_of_levels(name):
    likelihood = QUANTITIES[name]
    assert not likelihood.has_levels
    with pytest.raises(TypeError, match=f"{type(likelihood).__name__} has no levels"):
        likelihood.probabilities(draw_outputs(likelihood))


def test_the_default_kl_is_exact_for_gaussians_of_equal_noise(minimal):
    first, second = torch.tensor([[[0.3, -1.0, 2.0]], [[0.1, 0.5, 2.0]]], dtype=torch.float64)
    expected = kl_divergence(Normal(first, 0.5), Normal(second, 0.5))
    torch.testing.assert_close(minimal.kl(first, second), expected)


def test_the_default_kl_is_close_to_the_closed_form_for_gaussians_of_different_noise():
    gaussian = HeteroscedasticGaussian(REALS, floor=0.02).double()
    first, second = 0.7 * torch.randn((2, 5, 6), dtype=torch.float64, generator=seeded(1))
    expected = kl_divergence(*(Normal(*gaussian.mean_and_sd(outputs)) for outputs in (first, second)))
    torch.testing.assert_close(Likelihood.kl(gaussian, first, second), expected, rtol=0.05, atol=0.02)


def test_the_default_kl_is_close_to_the_closed_form_for_levels():
    category = WITH_LEVELS["category"]
    first, second = 0.7 * torch.randn((2, 1, category.n_outputs), generator=seeded(2))
    expected = torch.stack(
        [
            kl_divergence(TorchCategorical(logits=own), TorchCategorical(logits=other))
            for own, other in zip(first[0].split([3, 5, 2]), second[0].split([3, 5, 2]), strict=True)
        ]
    )
    torch.testing.assert_close(Likelihood.kl(category, first, second)[0], expected, atol=0.02, rtol=0)
    torch.testing.assert_close(category.kl(first, second)[0], expected)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_kl_of_a_distribution_from_itself_is_zero(name):
    outputs = draw_outputs(LIKELIHOODS[name])
    divergence = LIKELIHOODS[name].kl(outputs, outputs)
    assert divergence.shape == (4, 3)
    assert divergence.abs().max() < 1e-5


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_kl_takes_any_leading_shape(name):
    likelihood = LIKELIHOODS[name]
    first, second = draw_outputs(likelihood, 6, seed=1), draw_outputs(likelihood, 6, seed=2)
    shaped = likelihood.kl(first.view(2, 3, -1), second.view(2, 3, -1))
    torch.testing.assert_close(shaped.view(6, 3), likelihood.kl(first, second))


def test_the_default_predictive_scale_is_zero(minimal):
    scale = minimal.predictive_scale(torch.zeros(2, 5, 3, dtype=torch.float64))
    assert torch.equal(scale, torch.zeros(2, 5, 3, dtype=torch.float64))


@pytest.mark.parametrize("name", WITH_LEVELS)
def test_levels_have_a_predictive_scale_of_zero(name):
    scale = WITH_LEVELS[name].predictive_scale(draw_outputs(WITH_LEVELS[name]))
    assert torch.equal(scale, torch.zeros(4, 3))


@pytest.mark.parametrize("name", QUANTITIES)
def test_the_predictive_scale_of_a_quantity_is_proportional_to_the_width_of_its_distribution(name):
    likelihood = QUANTITIES[name]
    outputs = draw_outputs(likelihood)
    scale = likelihood.predictive_scale(outputs)
    assert scale.shape == (4, 3)
    assert (scale > 0).all()
    if isinstance(likelihood, Gaussian | HeteroscedasticGaussian):  # counts are rounded
        low, high = (likelihood.quantile(outputs, torch.full((4, 3), level)) for level in (0.1, 0.9))
        width = 2 * float(torch.special.ndtri(torch.tensor(0.9)))
        torch.testing.assert_close(high - low, width * scale)


def test_by_default_training_and_validation_maximise_the_log_likelihood(minimal):
    outputs, values = torch.randn((2, 4, 3), dtype=torch.float64)
    log_prob = minimal.log_prob(outputs, values)
    assert torch.equal(minimal.training_score(outputs, values), log_prob)
    assert torch.equal(minimal.validation_score(outputs, values), log_prob)


def test_by_default_each_variable_has_one_output_and_no_calibration(minimal):
    assert minimal.output_rows([2, 0]) == [2, 0]
    assert minimal.calibration_params is None


def test_the_output_rows_of_a_category_are_those_of_its_levels():
    assert WITH_LEVELS["category"].output_rows([2, 0]) == [8, 9, 0, 1, 2]


@pytest.mark.parametrize("name", ["heteroscedastic", "heteroscedastic count"])
def test_the_output_rows_of_a_heteroscedastic_quantity_are_locations_then_scales(name):
    assert QUANTITIES[name].output_rows([2, 0]) == [2, 0, 5, 3]
