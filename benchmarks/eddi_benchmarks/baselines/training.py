"""Training of GDFS and DIME: a predictor on random subsets of answers, then the stages of the method.

Every stage ends when its validation loss stops improving, and keeps the best weights. Validation rows
also choose the dropout rate: predictors with different rates are trained, the best one is kept, and the
network that chooses questions has the same rate.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import torch
from torch import Tensor, nn

from eddi_benchmarks.baselines.masked import (
    Layout,
    MaskedNetwork,
    Rows,
    Task,
    TrainingSettings,
    random_masks,
    simulate_interviews,
)

MIN_VALIDATION_MASKS = 1_000  # random subsets of answers to validate a predictor with


@dataclass(frozen=True)
class Stage:
    """A stage of training: which networks are trained, their loss, and when it stops improving."""

    networks: Sequence[nn.Module]
    loss: Callable[[Rows], Tensor]  # of a batch
    validate: Callable[[], float]


class InterviewModel(Protocol):
    """A method that chooses questions and predicts the target."""

    @property
    def predictor(self) -> MaskedNetwork: ...

    def scores(self, columns: Tensor, mask: Tensor) -> Tensor:
        """Scores of all questions [rows, questions]."""

    def stages(self, valid: Rows, task: Task) -> Iterator[Stage]:
        """The stages of training, after that of the predictor."""


Method = TypeVar("Method", bound=InterviewModel)


def fit(
    untrained: Callable[[MaskedNetwork, Layout], Method],
    train: Rows,
    valid: Rows,
    *,
    layout: Layout,
    n_steps: int,
    seed: int,
    settings: TrainingSettings,
) -> Method:
    """Train a method to ask ``n_steps`` questions.

    Args:
        untrained: makes the method from a trained predictor.
        train: rows to learn from.
        valid: rows that choose the dropout rate and the length of every stage.
        layout: the questions and the kind of target.
        n_steps: number of questions.
        seed: of weights, dropout, batches and masks.
        settings: the size of the networks and the length of training.
    """
    torch.manual_seed(seed)  # for the weights and dropout
    task = Task(layout, n_steps, settings, torch.Generator().manual_seed(seed))
    model = untrained(fit_predictor(train, valid, task), layout)
    for stage in model.stages(valid, task):
        train_stage(stage, train, task)
    return model


def fit_predictor(train: Rows, valid: Rows, task: Task) -> MaskedNetwork:
    """Train a predictor on random masks, with the dropout rate that is best on validation rows."""
    n_repeats = -(-MIN_VALIDATION_MASKS // len(valid))
    repeated = valid[torch.arange(len(valid)).repeat(n_repeats)]
    masks = random_masks(repeated, task.random)
    best_loss, best = float("inf"), None
    for dropout in task.settings.dropouts:
        n_outputs = max(task.layout.n_levels, 1)  # logits of the levels, or the mean
        network = MaskedNetwork(task.layout, n_outputs, width=task.settings.width, dropout=dropout)
        loss = train_stage(_predictor_stage(network, repeated, masks, task), train, task)
        if best is None or loss < best_loss:
            best_loss, best = loss, network
    if best is None:
        raise ValueError("settings.dropouts is empty. Give at least one dropout rate.")
    return best


def _predictor_stage(network: MaskedNetwork, valid: Rows, masks: Tensor, task: Task) -> Stage:
    def losses(rows: Rows, mask: Tensor) -> Tensor:
        return task.layout.losses(network(rows.columns, mask), rows.truth).mean()

    return Stage(
        [network],
        loss=lambda batch: losses(batch, random_masks(batch, task.random)),
        validate=lambda: float(losses(valid, masks)),
    )


def interview_loss(model: InterviewModel, rows: Rows, task: Task) -> float:
    """The predictor's loss during interviews, averaged over rows and steps."""
    masks, _ = simulate_interviews(rows, model.scores, task.n_steps)
    outputs = (model.predictor(rows.columns, mask) for mask in masks)
    losses = [task.layout.losses(output, rows.truth).mean() for output in outputs]
    return float(torch.stack(losses).mean())


def train_stage(stage: Stage, train: Rows, task: Task) -> float:
    """Minimise the loss over batches until validation stops improving, and keep the best weights.

    Returns:
        The best validation loss.
    """
    settings, modules = task.settings, nn.ModuleList(stage.networks)
    interval = settings.steps_between_validations(len(train))
    optimiser = torch.optim.Adam(
        modules.parameters(), settings.learning_rate, weight_decay=settings.weight_decay
    )
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.2, patience=max(settings.patience // interval // 2 - 1, 0)
    )
    best_loss, best_weights = _evaluate(modules, stage), copy.deepcopy(modules.state_dict())
    best_step = 0
    for step in range(1, settings.max_steps + 1):
        batch = torch.randint(len(train), (settings.batch_size,), generator=task.random)
        optimiser.zero_grad()
        stage.loss(train[batch]).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if step % interval:
            continue
        validation_loss = _evaluate(modules, stage)
        scheduler.step(validation_loss)
        if validation_loss < best_loss:
            best_loss, best_weights = validation_loss, copy.deepcopy(modules.state_dict())
            best_step = step
        if step - best_step >= settings.patience:
            break
    modules.load_state_dict(best_weights)
    modules.eval()
    return best_loss


@torch.no_grad()
def _evaluate(modules: nn.Module, stage: Stage) -> float:
    modules.eval()
    loss = stage.validate()
    modules.train()
    return loss
