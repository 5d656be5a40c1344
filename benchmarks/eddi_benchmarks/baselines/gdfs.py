"""GDFS: greedy dynamic feature selection with a learned policy (Covert et al. 2023).

"Learning to maximize mutual information for dynamic feature selection", ICML 2023. Choosing the
question that most reduces the loss of an optimal predictor in one step is choosing by conditional
mutual information. A policy network learns this choice: it is relaxed to a Concrete distribution
(Maddison et al. 2017), so that the predictor's loss after the choice has a gradient. The temperature
falls from stage to stage. A stage ends when the loss of interviews with validation rows, without noise,
stops improving.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from eddi_benchmarks.baselines.masked import (
    Layout,
    MaskedNetwork,
    Rows,
    Task,
    close_unavailable,
    visited_states,
)
from eddi_benchmarks.baselines.training import Stage, interview_loss

TEMPERATURES = (1.0, 0.5, 0.25, 0.1)  # of the stages
TINY = 1e-20  # lower bound of a uniform number, so that its logarithm is finite


@dataclass(frozen=True)
class Gdfs:
    """A policy network and a predictor."""

    policy: MaskedNetwork
    predictor: MaskedNetwork

    @classmethod
    def untrained(cls, predictor: MaskedNetwork, layout: Layout) -> "Gdfs":
        """A new policy for a trained predictor."""
        return cls(predictor.with_outputs(layout, layout.n_questions), predictor)

    def stages(self, valid: Rows, task: Task) -> Iterator[Stage]:
        """One stage per temperature."""
        for temperature in TEMPERATURES:
            yield Stage(
                [self.policy, self.predictor],
                loss=partial(self.relaxed_loss, temperature=temperature, task=task),
                validate=lambda: interview_loss(self, valid, task),
            )

    def scores(self, columns: Tensor, mask: Tensor) -> Tensor:
        """The logits of the policy [rows, questions]."""
        return self.policy(columns, mask)  # type: ignore[no-any-return]

    def relaxed_loss(self, batch: Rows, temperature: float, task: Task) -> Tensor:
        """The predictor's loss after each relaxed choice, in interviews with random choices."""

        def random_choice(columns: Tensor, mask: Tensor) -> Tensor:
            return self.scores(columns, mask) + gumbel_noise(mask.shape, task.random)

        states = visited_states(batch, random_choice, task, self.policy)
        rows, before = states.rows, states.before
        logits = close_unavailable(self.scores(rows.columns, before), rows, before)
        noisy = logits + gumbel_noise(logits.shape, task.random)
        relaxed = functional.softmax(noisy / temperature, dim=-1)  # [states, questions]
        after = self.predictor(rows.columns, torch.maximum(before, relaxed))
        return task.layout.losses(after, rows.truth).mean()


def gumbel_noise(shape: torch.Size, random: torch.Generator) -> Tensor:
    """Standard Gumbel noise: the argmax of logits plus this noise is a draw from their softmax."""
    uniform = torch.rand(shape, generator=random).clamp(min=TINY)
    return -torch.log((-torch.log(uniform)).clamp(min=TINY))
