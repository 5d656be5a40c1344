"""DIME learns by how much each answer reduces the loss."""

import math

import pytest
import torch

from eddi_benchmarks.baselines.dime import Dime
from eddi_benchmarks.baselines.masked import Layout, Rows, TrainingSettings, simulate_interviews
from eddi_benchmarks.baselines.training import fit

SETTINGS = TrainingSettings(width=32, dropouts=(0.0,), validate_every=25, patience=100, max_steps=200)


def noisy_copies(n, seed):
    """A fair coin and two noisy copies: one is wrong in 10% of rows, the other in a third."""
    random = torch.Generator().manual_seed(seed)
    truth = torch.randint(2, (n,), generator=random)
    is_wrong = torch.rand((n, 2), generator=random) < torch.tensor([0.1, 1 / 3])
    columns = 2.0 * (truth[:, None].bool() ^ is_wrong).float() - 1.0
    return Rows(columns, torch.ones((n, 2), dtype=torch.bool), truth)


@pytest.fixture(scope="module")
def model():
    train, valid = noisy_copies(4000, 0), noisy_copies(800, 1)
    layout = Layout(torch.eye(2), 2)
    return fit(Dime.untrained, train, valid, layout=layout, n_steps=2, seed=0, settings=SETTINGS)


def test_values_are_the_information_in_nats(model):
    def nats(error_rate):
        right_rate = 1 - error_rate
        return math.log(2) + error_rate * math.log(error_rate) + right_rate * math.log(right_rate)

    test = noisy_copies(1, 2)
    with torch.no_grad():
        values = model.scores(test.columns, test.empty_mask)[0].tolist()
    assert values == pytest.approx([nats(0.1), nats(1 / 3)], abs=0.05)


def test_values_never_exceed_the_entropy_of_the_prediction(model):
    test = noisy_copies(200, 3)
    masks, _ = simulate_interviews(test, model.scores, 2)
    with torch.no_grad():
        for mask in masks:
            probabilities = model.predictor(test.columns, mask).softmax(-1)
            entropy = -(probabilities * probabilities.log()).sum(-1)
            values = model.scores(test.columns, mask)
            assert (values >= 0).all()
            assert (values.max(1).values <= entropy + 1e-6).all()


def test_the_question_that_explains_most_of_a_real_target_is_asked_first():
    def rows(n, seed):
        x = torch.randn((n, 3), generator=torch.Generator().manual_seed(seed))
        truth = (0.3 * x[:, 0] + 0.95 * x[:, 1]) / 0.996
        return Rows(x, torch.ones(x.shape, dtype=torch.bool), truth)

    settings = TrainingSettings(width=32, dropouts=(0.0,), validate_every=25, max_steps=150)
    layout = Layout(torch.eye(3), 0)
    model = fit(
        Dime.untrained, rows(1000, 0), rows(200, 1), layout=layout, n_steps=3, seed=0, settings=settings
    )
    _, asked = simulate_interviews(rows(100, 2), model.scores, 3)
    assert (asked[0] == 1).all()
    assert (asked[1] == 0).float().mean() > 0.9
