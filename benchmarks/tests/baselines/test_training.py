"""Training that GDFS and DIME share."""

import pytest
import torch

from eddi_benchmarks.baselines.masked import Layout, Rows, Task, TrainingSettings
from eddi_benchmarks.baselines.training import Stage, fit_predictor, train_stage


def make_rows(n, seed, n_columns=4):
    """A target that is the first column plus noise."""
    random = torch.Generator().manual_seed(seed)
    columns = torch.randn((n, n_columns), generator=random)
    truth = columns[:, 0] + torch.randn(n, generator=random)
    return Rows(columns, torch.ones((n, n_columns), dtype=torch.bool), truth)


def make_task(**settings):
    return Task(
        Layout(torch.eye(4), 0), 2, TrainingSettings(**settings), torch.Generator().manual_seed(0)
    )


def test_training_keeps_the_weights_of_the_best_validation():
    network = torch.nn.Linear(1, 1)
    weights: list[float] = []

    def loss(batch):
        return network(batch.columns[:, :1]).square().sum()

    def validate():
        weights.append(network.weight.item())
        return float((len(weights) - 3) ** 2)  # best at the third validation

    task = make_task(validate_every=1, patience=3, max_steps=50)
    best_loss = train_stage(Stage([network], loss, validate), make_rows(6, 0), task)
    assert len(weights) == 6  # three without improvement after the best
    assert network.weight.item() == weights[2]
    assert best_loss == 0


def test_the_dropout_rate_with_the_best_validation_loss_is_kept():
    torch.manual_seed(0)
    train, valid = make_rows(30, 0), make_rows(200, 1)
    losses = {}
    for rate in (0.0, 0.5):
        torch.manual_seed(0)
        task = make_task(dropouts=(rate,), max_steps=60)
        network = fit_predictor(train, valid, task)
        with torch.no_grad():
            outputs = network(valid.columns, torch.ones(valid.answerable.shape))
        losses[rate] = float(task.layout.losses(outputs, valid.truth).mean())
    torch.manual_seed(0)
    chosen = fit_predictor(train, valid, make_task(dropouts=(0.0, 0.5), max_steps=60)).dropout
    assert losses[chosen] == min(losses.values())


def test_at_least_one_dropout_rate_is_required():
    with pytest.raises(ValueError, match="Give at least one dropout rate"):
        fit_predictor(make_rows(9, 0), make_rows(9, 1), make_task(dropouts=()))
