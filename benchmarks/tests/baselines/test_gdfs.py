"""GDFS learns which question to ask first, and which one given the answers."""

import pytest
import torch

from eddi_benchmarks.baselines.gdfs import Gdfs, gumbel_noise
from eddi_benchmarks.baselines.masked import Layout, Rows, TrainingSettings, simulate_interviews
from eddi_benchmarks.baselines.training import fit

SETTINGS = TrainingSettings(width=32, dropouts=(0.0,), validate_every=25, patience=100, max_steps=150)


def switched_rows(n, seed):
    """The first of four columns says which of the next two is the class; the last is noise."""
    x = torch.randn((n, 4), generator=torch.Generator().manual_seed(seed))
    x = torch.where(torch.tensor([True, True, True, False]), x.sign(), x)
    truth = torch.where(x[:, 0] > 0, x[:, 1], x[:, 2])
    return Rows(x, torch.ones(x.shape, dtype=torch.bool), (truth > 0).long())


@pytest.fixture(scope="module")
def model():
    train, valid = switched_rows(2000, 0), switched_rows(300, 1)
    layout = Layout(torch.eye(4), 2)
    return fit(Gdfs.untrained, train, valid, layout=layout, n_steps=3, seed=0, settings=SETTINGS)


def test_the_next_question_depends_on_the_answers(model):
    test = switched_rows(300, 2)
    masks, asked = simulate_interviews(test, model.scores, 3)
    with torch.no_grad():
        predicted = model.predictor(test.columns, masks[-1]).argmax(1)
    assert (predicted == test.truth).float().mean() > 0.97
    assert (asked[:2] == 3).float().mean() < 0.02  # the noise column


def test_equal_seeds_give_equal_policies():
    test = switched_rows(5, 2)
    first, second = (
        fit(
            Gdfs.untrained,
            switched_rows(200, 0),
            switched_rows(50, 1),
            layout=Layout(torch.eye(4), 2),
            n_steps=2,
            seed=3,
            settings=TrainingSettings(width=8, validate_every=5, max_steps=10, dropouts=(0.0, 0.1)),
        ).scores(test.columns, test.empty_mask)
        for _ in range(2)
    )
    assert torch.equal(first, second)


def test_the_argmax_of_noisy_logits_is_a_draw_from_their_softmax():
    logits = torch.tensor([2.0, 1.0, 0.0])
    noise = gumbel_noise(torch.Size([20_000, 3]), torch.Generator().manual_seed(0))
    shares = (logits + noise).argmax(1).bincount() / 20_000
    assert torch.allclose(shares, logits.softmax(0), atol=0.02)
