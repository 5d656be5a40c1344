"""DIME learns by how much each answer lowers the loss."""

import math

import pytest
import torch

from eddi_benchmarks.baselines.dime import Dime
from eddi_benchmarks.baselines.masked import Layout, Pace, Rows, walk

PACE = Pace(width=32, dropout=0.0, every=25, patience=4, max_steps=200)


def noisy_copies(n, seed):
    """A fair coin, seen through two questions: one errs once in ten, the other once in three."""
    random = torch.Generator().manual_seed(seed)
    truth = torch.randint(2, (n,), generator=random)
    errs = torch.rand((n, 2), generator=random) < torch.tensor([0.1, 1 / 3])
    columns = 2.0 * (truth[:, None].bool() ^ errs).float() - 1.0
    return Rows(columns, torch.ones((n, 2), dtype=torch.bool), truth)


@pytest.fixture(scope="module")
def made():
    layout = Layout(torch.eye(2), 2)
    return Dime.fit(noisy_copies(4000, 0), noisy_copies(800, 1), layout, 2, seed=0, pace=PACE)


def test_values_are_the_information_in_nats(made):
    def nats(errs):
        return math.log(2) + errs * math.log(errs) + (1 - errs) * math.log(1 - errs)

    test = noisy_copies(1, 2)
    with torch.no_grad():
        values = made.scores(test.columns, test.nothing)[0].tolist()
    assert values == pytest.approx([nats(0.1), nats(1 / 3)], abs=0.05)


def test_values_never_exceed_the_entropy_of_the_prediction(made):
    test = noisy_copies(200, 3)
    masks, _ = walk(test, made.scores, 2)
    with torch.no_grad():
        for mask in masks:
            chances = made.predictor(test.columns, mask).softmax(-1)
            entropy = -(chances * chances.log()).sum(-1)
            values = made.scores(test.columns, mask)
            assert (values >= 0).all()
            assert (values.max(1).values <= entropy + 1e-6).all()


def test_a_quantity_is_asked_what_explains_most_of_it_first():
    def rows(n, seed):
        x = torch.randn((n, 3), generator=torch.Generator().manual_seed(seed))
        truth = (0.3 * x[:, 0] + 0.95 * x[:, 1]) / 0.996
        return Rows(x, torch.ones(x.shape, dtype=torch.bool), truth)

    pace = Pace(width=32, dropout=0.0, every=25, max_steps=150)
    made = Dime.fit(rows(1000, 0), rows(200, 1), Layout(torch.eye(3), 0), 3, seed=0, pace=pace)
    _, asked = walk(rows(100, 2), made.scores, 3)
    assert (asked[0] == 1).all()
    assert (asked[1] == 0).float().mean() > 0.9
