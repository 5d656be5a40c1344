"""Functions of the probabilities of levels."""

import pytest
import torch

from eddi.model.network.levels import MIN_TRANSPOSED, level_mixture_kl, log_softmax_short


@pytest.mark.parametrize("n_rows", [3, MIN_TRANSPOSED])
def test_the_log_softmax_of_few_levels_is_that_of_pytorch(n_rows):
    logits = torch.randn((n_rows, 2, 5), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(log_softmax_short(logits), torch.log_softmax(logits, dim=-1))


def test_the_divergence_of_changed_probabilities_is_that_of_their_definition():
    present = torch.tensor([[0.5, 0.3, 0.2], [0.9, 0.1, 0.0]], dtype=torch.float64)
    mean = torch.tensor([[0.4, 0.25, 0.35], [0.6, 0.4, 0.0]], dtype=torch.float64)
    expected = torch.where(mean > 0, mean * (mean / present).log(), 0.0).sum(-1)
    torch.testing.assert_close(level_mixture_kl(mean - present, present), expected)


def test_a_tiny_change_has_a_tiny_divergence_without_cancellation():
    present = torch.tensor([0.7, 0.3])
    change = torch.tensor([-1e-3, 1e-3])
    expected = 0.5 * (change.double().square() / present.double()).sum()
    assert float(level_mixture_kl(change, present)) == pytest.approx(float(expected), rel=2e-3)


def test_a_level_without_probability_that_becomes_likely_gives_no_nan():
    nats = level_mixture_kl(torch.tensor([0.3, -0.3]), torch.tensor([0.0, 1.0]))
    assert nats.isfinite()
    assert nats > 1


def test_rounding_below_probability_0_gives_no_nan():
    assert level_mixture_kl(torch.tensor([-0.1000001, 0.1000001]), torch.tensor([0.1, 0.9])).isfinite()
