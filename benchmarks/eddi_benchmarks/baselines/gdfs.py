"""GDFS: greedy dynamic feature selection, a policy learned with its predictor (Covert et al. 2023).

"Learning to maximize mutual information for dynamic feature selection", ICML 2023. Choosing what lowers
the loss of an optimal predictor most, one step ahead, is choosing by conditional mutual information.
So a policy network is trained to do the former: its choice is relaxed to a Concrete distribution
(Maddison et al. 2017), through which the predictor's loss after the choice has a gradient. Temperatures
fall from stage to stage; a stage ends when validation rows, asked without noise, no longer gain.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from eddi_benchmarks.baselines.masked import (
    Course,
    Layout,
    MaskedNetwork,
    Pace,
    Rows,
    improve,
    open_scores,
    predictor,
    pretrain,
    states,
    walked_loss,
)

LEAST = 1e-20  # a uniform number is at least this, so that its logarithm is finite


@dataclass(frozen=True)
class Gdfs:
    """A policy and a predictor."""

    policy: MaskedNetwork
    predictor: MaskedNetwork

    @classmethod
    def fit(
        cls,
        train: Rows,
        valid: Rows,
        layout: Layout,
        n_steps: int,
        *,
        seed: int,
        pace: Pace,
        temperatures: tuple[float, ...] = (1.0, 0.5, 0.25, 0.1),
    ) -> "Gdfs":
        """Learn to ask ``n_steps`` questions."""
        torch.manual_seed(seed)  # of the weights and of dropout
        course = Course(layout, n_steps, pace, torch.Generator().manual_seed(seed))
        made = cls(MaskedNetwork(layout, layout.n_questions, pace), predictor(layout, pace))
        pretrain(made.predictor, train, valid, course)
        for temperature in temperatures:

            def loss(batch: Rows, temperature: float = temperature) -> Tensor:
                return made.one_ahead(batch, temperature, course)

            def judge() -> float:
                return walked_loss(made.predictor, made.scores, valid, course)

            improve([made.policy, made.predictor], train, loss, judge, course)
        return made

    def scores(self, columns: Tensor, mask: Tensor) -> Tensor:
        """What the policy prefers [rows, questions]."""
        return self.policy(columns, mask)  # type: ignore[no-any-return]

    def one_ahead(self, batch: Rows, temperature: float, course: Course) -> Tensor:
        """The predictor's loss after each relaxed choice, along a walk of the policy's own draws."""

        def drawn(columns: Tensor, mask: Tensor) -> Tensor:
            return self.scores(columns, mask) + gumbel(mask.shape, course.random)

        found = states(batch, drawn, course, self.policy)
        rows, before = found.rows, found.before
        logits = open_scores(self.scores(rows.columns, before), rows, before)
        noisy = logits + gumbel(logits.shape, course.random)
        relaxed = functional.softmax(noisy / temperature, dim=-1)  # [states, questions]
        after = self.predictor(rows.columns, torch.maximum(before, relaxed))
        return course.layout.losses(after, rows.truth).mean()


def gumbel(shape: torch.Size, random: torch.Generator) -> Tensor:
    """Standard Gumbel noise: the largest of logits plus it is a draw from their softmax."""
    uniform = torch.rand(shape, generator=random).clamp(min=LEAST)
    return -torch.log((-torch.log(uniform)).clamp(min=LEAST))
