"""GDFS learns what to ask first, for everybody and for each."""

import pytest
import torch

from eddi_benchmarks.baselines.gdfs import Gdfs, gumbel
from eddi_benchmarks.baselines.masked import Layout, Pace, Rows, walk

PACE = Pace(width=32, dropout=0.0, every=25, patience=4, max_steps=150)


def switched(n, seed):
    """The first of four says which of the next two is the class; the last says nothing."""
    x = torch.randn((n, 4), generator=torch.Generator().manual_seed(seed))
    x = torch.where(torch.tensor([True, True, True, False]), x.sign(), x)
    truth = torch.where(x[:, 0] > 0, x[:, 1], x[:, 2])
    return Rows(x, torch.ones(x.shape, dtype=torch.bool), (truth > 0).long())


@pytest.fixture(scope="module")
def made():
    layout = Layout(torch.eye(4), 2)
    return Gdfs.fit(switched(2000, 0), switched(300, 1), layout, 3, seed=0, pace=PACE)


def test_what_is_asked_depends_on_what_was_answered(made):
    test = switched(300, 2)
    masks, asked = walk(test, made.scores, 3)
    with torch.no_grad():
        right = (made.predictor(test.columns, masks[-1]).argmax(1) == test.truth).float().mean()
    assert right > 0.97
    useless = (asked[:2] == 3).float().mean()
    assert useless < 0.02


def test_the_same_seed_gives_the_same_policy():
    layout, pace = Layout(torch.eye(4), 2), Pace(width=8, every=5, max_steps=10)
    one, same = (
        Gdfs.fit(switched(200, 0), switched(50, 1), layout, 2, seed=3, pace=pace, temperatures=(1.0,))
        for _ in range(2)
    )
    test = switched(5, 2)
    assert torch.equal(one.scores(test.columns, test.nothing), same.scores(test.columns, test.nothing))


def test_noise_draws_from_the_softmax():
    logits = torch.tensor([2.0, 1.0, 0.0])
    noise = gumbel(torch.Size([20_000, 3]), torch.Generator().manual_seed(0))
    shares = (logits + noise).argmax(1).bincount() / 20_000
    assert torch.allclose(shares, logits.softmax(0), atol=0.02)
