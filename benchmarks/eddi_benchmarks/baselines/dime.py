"""DIME: dynamic feature selection by estimated conditional mutual information (Gadgil et al. 2024).

"Estimating conditional mutual information for dynamic feature selection", ICLR 2024. A value network
learns by how much the answer to each question will reduce the predictor's loss. At the optimum this is
the conditional mutual information of the answer and the target. For a target with levels, a value is
bounded by the entropy of the current prediction, as information is. Both networks are trained on
interviews that ask the question of highest value, or with probability epsilon a random one. Epsilon
falls from stage to stage, and a stage ends when the validation loss stops improving.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from eddi_benchmarks.baselines.masked import (
    InterviewStates,
    Layout,
    MaskedNetwork,
    Rows,
    Task,
    random_states,
    visited_states,
)
from eddi_benchmarks.baselines.training import Stage, interview_loss

EPSILONS = (0.5, 0.2, 0.05)  # exploration rates of the stages


@dataclass(frozen=True)
class Dime:
    """A value network and a predictor."""

    value: MaskedNetwork
    predictor: MaskedNetwork
    layout: Layout

    @classmethod
    def untrained(cls, predictor: MaskedNetwork, layout: Layout) -> "Dime":
        """New values for a trained predictor."""
        return cls(predictor.with_outputs(layout, layout.n_questions), predictor, layout)

    def stages(self, valid: Rows, task: Task) -> Iterator[Stage]:
        """The values alone on random states, then both networks with less and less exploration."""
        yield self._value_stage(valid, task)
        for epsilon in EPSILONS:
            yield Stage(
                [self.value, self.predictor],
                loss=partial(self.joint_loss, epsilon=epsilon, task=task),
                validate=lambda: interview_loss(self, valid, task),
            )

    def scores(self, columns: Tensor, mask: Tensor) -> Tensor:
        """The expected reduction of the loss by each answer [rows, questions]."""
        values = self.value(columns, mask)
        if not self.layout.n_levels:
            return functional.softplus(values)
        with torch.no_grad():
            log_probabilities = functional.log_softmax(self.predictor(columns, mask), dim=-1)
        entropy = -(log_probabilities.exp() * log_probabilities).sum(-1, keepdim=True)  # [rows, 1] nats
        bounded: Tensor = values.sigmoid() * entropy
        return bounded

    def joint_loss(self, batch: Rows, epsilon: float, task: Task) -> Tensor:
        """The predictor's loss plus the squared error of the values, in exploring interviews."""

        def explore(columns: Tensor, mask: Tensor) -> Tensor:
            scores = self.scores(columns, mask)
            random_scores = torch.rand(scores.shape, generator=task.random)
            is_random = torch.rand((len(scores), 1), generator=task.random) < epsilon
            return torch.where(is_random, random_scores, scores)

        states = visited_states(batch, explore, task, self.value)
        before, after = self._losses(states)
        return (before + after).mean() / 2 + self.value_error(states, (before - after).detach())

    def value_error(self, states: InterviewStates, reduction: Tensor) -> Tensor:
        """The mean squared error of the values as predictions of the loss ``reduction`` [states]."""
        values = self.scores(states.rows.columns, states.before)
        return (values.gather(1, states.asked[:, None])[:, 0] - reduction).square().mean()

    def _losses(self, states: InterviewStates) -> tuple[Tensor, Tensor]:
        """The predictor's loss before and after the answer [states]."""
        columns, truth = states.rows.columns, states.rows.truth
        before, after = (
            self.layout.losses(self.predictor(columns, mask), truth)
            for mask in (states.before, states.after)
        )
        return before, after

    @torch.no_grad()
    def _loss_reduction(self, states: InterviewStates) -> Tensor:
        before, after = self._losses(states)
        return before - after

    def _value_stage(self, valid: Rows, task: Task) -> Stage:
        """Train the values on random states before interviews use them."""
        valid_states = random_states(valid, task.random)
        valid_reduction = self._loss_reduction(valid_states)

        def loss(batch: Rows) -> Tensor:
            states = random_states(batch, task.random)
            return self.value_error(states, self._loss_reduction(states))

        return Stage([self.value], loss, lambda: float(self.value_error(valid_states, valid_reduction)))
