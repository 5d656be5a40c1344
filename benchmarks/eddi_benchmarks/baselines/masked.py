"""What GDFS and DIME share: networks that take any part of a row, and interviews with them.

A row is a vector of numbers, with 0 (the mean) for missing values, and a mask of the questions asked. A
question that a row has no answer to is never asked of it, neither in training nor in an interview.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

ScoreFunction = Callable[[Tensor, Tensor], Tensor]
"""Scores of all questions [rows, questions], from the columns and the mask of questions asked."""

MIN_STEPS = 10  # between validations, so that most of the time is spent on training
CLOSED_SCORE = -1e9  # of a question that may not be asked; finite, so that a softmax is always defined


@dataclass(frozen=True)
class Rows:
    """Rows as tensors."""

    columns: Tensor  # [rows, columns]
    answerable: Tensor  # [rows, questions] whether the row has an answer
    truth: Tensor  # [rows] the target: a standardised number, or the index of a level

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, rows: Tensor | slice) -> "Rows":
        return Rows(self.columns[rows], self.answerable[rows], self.truth[rows])

    @property
    def empty_mask(self) -> Tensor:
        """The mask before the first question [rows, questions]."""
        return torch.zeros(self.answerable.shape)


@dataclass(frozen=True)
class Layout:
    """Which question reveals which columns, and the kind of target."""

    reveals: Tensor  # [questions, columns], 0 or 1
    n_levels: int  # of the target; 0 for a real-valued target

    @property
    def n_questions(self) -> int:
        return len(self.reveals)

    def losses(self, outputs: Tensor, truth: Tensor) -> Tensor:
        """The cross entropy or squared error of each row [rows]."""
        if self.n_levels:
            return functional.cross_entropy(outputs, truth, reduction="none")
        return (outputs[:, 0] - truth).square()


@dataclass(frozen=True)
class TrainingSettings:
    """The size of the networks and the length of their training.

    Args:
        width: units in each of the two hidden layers.
        dropouts: dropout rates, of which validation rows choose the best.
        batch_size: rows in a training step.
        n_states: interview states in a training step, of all states that the batch went through.
        learning_rate: initial learning rate of Adam; it is divided by 5 after half the patience.
        weight_decay: weight decay of Adam.
        validate_every: maximum number of training steps between two validations; small tables are
            validated after every pass, or after `MIN_STEPS` steps if that is longer.
        patience: training steps without improvement after which a stage of training ends.
        max_steps: maximum number of training steps in a stage.
    """

    width: int = 128
    dropouts: tuple[float, ...] = (0.0, 0.1, 0.3, 0.5)
    batch_size: int = 64
    n_states: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    validate_every: int = 50
    patience: int = 300
    max_steps: int = 2000

    def steps_between_validations(self, n_rows: int) -> int:
        """The number of training steps between two validations, for ``n_rows`` training rows."""
        return min(self.validate_every, max(MIN_STEPS, math.ceil(n_rows / self.batch_size)))


@dataclass(frozen=True)
class Task:
    """What to learn: to ask ``n_steps`` questions about a target."""

    layout: Layout
    n_steps: int
    settings: TrainingSettings
    random: torch.Generator


class MaskedNetwork(nn.Module):
    """Two hidden layers over a masked row and its mask, which distinguishes a 0 from a missing value."""

    def __init__(self, layout: Layout, n_outputs: int, *, width: int, dropout: float) -> None:
        super().__init__()
        self.width, self.dropout = width, dropout
        n_questions, n_columns = layout.reveals.shape
        self.register_buffer("reveals", layout.reveals)
        self.layers = nn.Sequential(
            nn.Linear(n_columns + n_questions, width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(width, n_outputs),
        )

    def forward(self, columns: Tensor, mask: Tensor) -> Tensor:
        observed = columns * (mask @ self.reveals)  # type: ignore[operator]
        return self.layers(torch.cat([observed, mask], dim=-1))  # type: ignore[no-any-return]

    def with_outputs(self, layout: Layout, n_outputs: int) -> "MaskedNetwork":
        """A new network of the same size and dropout rate, with random weights."""
        return MaskedNetwork(layout, n_outputs, width=self.width, dropout=self.dropout)


def close_unavailable(scores: Tensor, rows: Rows, mask: Tensor) -> Tensor:
    """``scores`` with `CLOSED_SCORE` for questions that were asked or have no answer."""
    return scores.masked_fill(~rows.answerable | (mask > 0), CLOSED_SCORE)


@torch.no_grad()
def simulate_interviews(rows: Rows, score: ScoreFunction, n_steps: int) -> tuple[Tensor, Tensor]:
    """Ask every row the ``n_steps`` questions with the highest scores.

    Returns:
        The masks before each question and after the last [steps + 1, rows, questions], and the
        questions asked [steps, rows], -1 if none was left.
    """
    masks, asked = [rows.empty_mask], []
    for _ in range(n_steps):
        mask = masks[-1]
        best_score, question = close_unavailable(score(rows.columns, mask), rows, mask).max(1)
        is_open = best_score > CLOSED_SCORE
        asked.append(torch.where(is_open, question, -1))
        masks.append(mask + functional.one_hot(question, mask.shape[1]) * is_open[:, None])
    return torch.stack(masks), torch.stack(asked)


def random_masks(rows: Rows, random: torch.Generator) -> Tensor:
    """Random subsets of each row's answers; every subset size is equally likely."""
    order = torch.rand(rows.answerable.shape, generator=random).argsort(1).argsort(1)
    n_questions = rows.answerable.shape[1]
    n_asked = torch.randint(n_questions + 1, (len(rows), 1), generator=random)
    return ((order < n_asked) & rows.answerable).float()


@dataclass(frozen=True)
class InterviewStates:
    """Rows during an interview, and the question that each is asked."""

    before: Tensor  # [states, questions] mask of the questions asked
    after: Tensor
    asked: Tensor  # [states]
    rows: Rows


def visited_states(batch: Rows, score: ScoreFunction, task: Task, network: nn.Module) -> InterviewStates:
    """A random selection of the states that interviews of ``batch`` go through.

    As in a real interview, the ``network`` behind ``score`` uses no dropout here.
    """
    network.eval()
    masks, asked = simulate_interviews(batch, score, task.n_steps)
    network.train()
    is_open = (asked.flatten() >= 0).nonzero()[:, 0]
    order = torch.randperm(len(is_open), generator=task.random)
    selected = is_open[order[: task.settings.n_states]]
    before, after = (part.flatten(0, 1)[selected] for part in (masks[:-1], masks[1:]))
    return InterviewStates(before, after, asked.flatten()[selected], batch[selected % len(batch)])


def random_states(rows: Rows, random: torch.Generator) -> InterviewStates:
    """Random subsets of answers, each with a random open question; rows without one are dropped."""
    before = random_masks(rows, random)
    scores = close_unavailable(torch.rand(before.shape, generator=random), rows, before)
    best_score, asked = scores.max(1)
    is_open = best_score > CLOSED_SCORE
    after = before + functional.one_hot(asked, before.shape[1])
    return InterviewStates(before[is_open], after[is_open], asked[is_open], rows[is_open])
