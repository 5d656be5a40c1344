"""What the discriminative baselines share: networks that take any part of a row, and their training.

A row is columns of numbers, 0 (the mean) where nothing is known, beside a mask of the questions asked.
A question to which a row holds no answer is never asked of it, in training as in an interview.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

Choose = Callable[[Tensor, Tensor], Tensor]
"""Scores of all questions [rows, questions], from columns and the mask of what was asked."""

NEVER = (
    -1e9
)  # the score of a question that is not open; finite, so that a softmax of nothing else is one


@dataclass(frozen=True)
class Rows:
    """Some rows as a network of fixed width sees them."""

    columns: Tensor  # [rows, columns]
    answerable: Tensor  # [rows, questions] whether the row holds an answer
    truth: Tensor  # [rows] the target: a standardised number, or the place of a level

    def __len__(self) -> int:
        return len(self.truth)

    def __getitem__(self, rows: Tensor | slice) -> "Rows":
        return Rows(self.columns[rows], self.answerable[rows], self.truth[rows])

    @property
    def nothing(self) -> Tensor:
        """The mask before the first question [rows, questions]."""
        return torch.zeros(self.answerable.shape)


@dataclass(frozen=True)
class Layout:
    """Which question reveals which columns, and what the target is."""

    reveals: Tensor  # [questions, columns] of 0 and 1
    n_levels: int  # of the target; 0 for a quantity

    @property
    def n_questions(self) -> int:
        return len(self.reveals)

    def losses(self, outputs: Tensor, truth: Tensor) -> Tensor:
        """Each row's cross entropy, or its squared error [rows]."""
        if self.n_levels:
            return functional.cross_entropy(outputs, truth, reduction="none")
        return (outputs[:, 0] - truth).square()


@dataclass(frozen=True)
class Pace:
    """How large the networks are, and how long they learn.

    Args:
        width: of the two hidden layers.
        dropout: share of hidden units that are silent in a training step.
        batch_size: rows of a step.
        n_states: of all states that a batch walks through, those a step learns from.
        learning_rate: of Adam, at first; a fifth of it whenever half the patience was in vain.
        weight_decay: of the weights.
        every: steps between two looks at the validation rows.
        patience: looks without improvement after which a stage of training ends.
        max_steps: of one stage.
    """

    width: int = 128
    dropout: float = 0.1
    batch_size: int = 64
    n_states: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    every: int = 50
    patience: int = 6
    max_steps: int = 2000


@dataclass(frozen=True)
class Course:
    """What a baseline learns: to ask so many questions about this target, at this pace."""

    layout: Layout
    n_steps: int
    pace: Pace
    random: torch.Generator


class MaskedNetwork(nn.Module):
    """Two hidden layers over a masked row and its mask (a value of 0 is not the lack of one)."""

    def __init__(self, layout: Layout, n_outputs: int, pace: Pace) -> None:
        super().__init__()
        n_questions, n_columns = layout.reveals.shape
        self.register_buffer("reveals", layout.reveals)
        self.layers = nn.Sequential(
            nn.Linear(n_columns + n_questions, pace.width),
            nn.ReLU(),
            nn.Dropout(pace.dropout),
            nn.Linear(pace.width, pace.width),
            nn.ReLU(),
            nn.Dropout(pace.dropout),
            nn.Linear(pace.width, n_outputs),
        )

    def forward(self, columns: Tensor, mask: Tensor) -> Tensor:
        shown = columns * (mask @ self.reveals)  # type: ignore[operator]
        return self.layers(torch.cat([shown, mask], dim=-1))  # type: ignore[no-any-return]


def predictor(layout: Layout, pace: Pace) -> MaskedNetwork:
    """A network that says what the target is: logits of its levels, or its mean."""
    return MaskedNetwork(layout, max(layout.n_levels, 1), pace)


def open_scores(scores: Tensor, rows: Rows, mask: Tensor) -> Tensor:
    """``scores`` of what may be asked: answerable and not asked yet; the rest `NEVER`."""
    return scores.masked_fill(~rows.answerable | (mask > 0), NEVER)


@torch.no_grad()
def walk(rows: Rows, choose: Choose, n_steps: int) -> tuple[Tensor, Tensor]:
    """Ask every row ``n_steps`` questions.

    Returns the masks before each question and after the last [steps + 1, rows, questions], and what was
    asked [steps, rows], -1 where nothing was left.
    """
    masks, asked = [rows.nothing], []
    for _ in range(n_steps):
        mask = masks[-1]
        best, place = open_scores(choose(rows.columns, mask), rows, mask).max(1)
        going = best > NEVER
        asked.append(torch.where(going, place, -1))
        masks.append(mask + functional.one_hot(place, mask.shape[1]) * going[:, None])
    return torch.stack(masks), torch.stack(asked)


def random_masks(rows: Rows, random: torch.Generator) -> Tensor:
    """As many of each row's answers as may be, any number of them equally often, at random."""
    order = torch.rand(rows.answerable.shape, generator=random).argsort(1).argsort(1)
    n_questions = rows.answerable.shape[1]
    n_asked = torch.randint(n_questions + 1, (len(rows), 1), generator=random)
    return ((order < n_asked) & rows.answerable).float()


@dataclass(frozen=True)
class States:
    """Rows in the middle of an interview, and what each is asked."""

    before: Tensor  # [states, questions] the mask of what was asked
    after: Tensor
    asked: Tensor  # [states]
    rows: Rows


def states(batch: Rows, choose: Choose, course: Course, network: nn.Module) -> States:
    """Some of the states that ``batch`` walks through, chosen at random, in which something was asked.

    On the walk the ``network`` behind ``choose`` drops nothing out, as it will not in an interview.
    """
    network.eval()
    masks, asked = walk(batch, choose, course.n_steps)
    network.train()
    going = (asked.flatten() >= 0).nonzero()[:, 0]
    some = going[torch.randperm(len(going), generator=course.random)[: course.pace.n_states]]
    before, after = (part.flatten(0, 1)[some] for part in (masks[:-1], masks[1:]))
    return States(before, after, asked.flatten()[some], batch[some % len(batch)])


def random_states(rows: Rows, random: torch.Generator) -> States:
    """Any part of a row known, and any open question asked; rows that have none are left out."""
    before = random_masks(rows, random)
    best, asked = open_scores(torch.rand(before.shape, generator=random), rows, before).max(1)
    going = best > NEVER
    after = before + functional.one_hot(asked, before.shape[1])
    return States(before[going], after[going], asked[going], rows[going])


def pretrain(network: MaskedNetwork, train: Rows, valid: Rows, course: Course) -> None:
    """Teach a predictor to take any part of a row; validation rows have masks of their own."""
    layout, random = course.layout, course.random
    masks = random_masks(valid, random)

    def judge() -> float:
        return float(layout.losses(network(valid.columns, masks), valid.truth).mean())

    def loss(batch: Rows) -> Tensor:
        return layout.losses(network(batch.columns, random_masks(batch, random)), batch.truth).mean()

    improve([network], train, loss, judge, course)


def walked_loss(network: MaskedNetwork, choose: Choose, rows: Rows, course: Course) -> float:
    """The predictor's loss along the walk of ``choose``, averaged over rows and steps."""
    masks, _ = walk(rows, choose, course.n_steps)
    losses = [course.layout.losses(network(rows.columns, mask), rows.truth).mean() for mask in masks]
    return float(torch.stack(losses).mean())


def improve(
    networks: Sequence[nn.Module],
    train: Rows,
    loss: Callable[[Rows], Tensor],
    judge: Callable[[], float],
    course: Course,
) -> None:
    """Descend ``loss`` over batches until ``judge`` no longer falls; the best weights stay."""
    pace = course.pace
    together = nn.ModuleList(networks)
    optimiser = torch.optim.Adam(
        together.parameters(), pace.learning_rate, weight_decay=pace.weight_decay
    )
    slower = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimiser, factor=0.2, patience=max(pace.patience // 2 - 1, 0)
    )
    least, best, in_vain = _judged(together, judge), copy.deepcopy(together.state_dict()), 0
    for step in range(pace.max_steps):
        picked = torch.randint(len(train), (pace.batch_size,), generator=course.random)
        optimiser.zero_grad()
        loss(train[picked]).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if (step + 1) % pace.every:
            continue
        found = _judged(together, judge)
        slower.step(found)
        in_vain += 1
        if found < least:
            least, best, in_vain = found, copy.deepcopy(together.state_dict()), 0
        if in_vain >= pace.patience:
            break
    together.load_state_dict(best)
    together.eval()


@torch.no_grad()
def _judged(networks: nn.Module, judge: Callable[[], float]) -> float:
    networks.eval()
    found = judge()
    networks.train()
    return found
