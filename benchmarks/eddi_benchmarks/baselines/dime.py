"""DIME: dynamic feature selection by estimated conditional mutual information (Gadgil et al. 2024).

"Estimating conditional mutual information for dynamic feature selection", ICLR 2024. A value network
learns by how much the answer to each question will reduce the predictor's loss. At the optimum this is
the conditional mutual information of the answer and the target. For a target with levels, a value is
bounded by the entropy of the current prediction, as information is. Both networks are trained on
interviews that ask the question of highest value, or with probability epsilon a random one. Epsilon
falls from stage to stage, and a stage ends when the validation loss stops improving.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from eddi_benchmarks.baselines.masked import (
    InterviewStates,
    Layout,
    MaskedNetwork,
    Rows,
    Task,
    TrainingSettings,
    interview_loss,
    make_predictor,
    pretrain_predictor,
    random_states,
    train_stage,
    visited_states,
)


@dataclass(frozen=True)
class Dime:
    """A value network and a predictor."""

    value: MaskedNetwork
    predictor: MaskedNetwork
    layout: Layout

    @classmethod
    def fit(
        cls,
        train: Rows,
        valid: Rows,
        *,
        layout: Layout,
        n_steps: int,
        seed: int,
        settings: TrainingSettings,
        epsilons: tuple[float, ...] = (0.5, 0.2, 0.05),
    ) -> "Dime":
        """Learn to ask ``n_steps`` questions; ``epsilons`` are the exploration rates of the stages."""
        torch.manual_seed(seed)  # for the weights and dropout
        task = Task(layout, n_steps, settings, torch.Generator().manual_seed(seed))
        value = MaskedNetwork(layout, layout.n_questions, settings)
        model = cls(value, make_predictor(layout, settings), layout)
        pretrain_predictor(model.predictor, train, valid, task)
        model._pretrain_values(train, valid, task)
        for epsilon in epsilons:

            def loss(batch: Rows, epsilon: float = epsilon) -> Tensor:
                return model.joint_loss(batch, epsilon, task)

            def validate() -> float:
                return interview_loss(model.predictor, model.scores, valid, task)

            train_stage([model.value, model.predictor], train, loss, validate, task)
        return model

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

    def _pretrain_values(self, train: Rows, valid: Rows, task: Task) -> None:
        """Train the values on random states before interviews use them."""
        valid_states = random_states(valid, task.random)
        valid_reduction = self._loss_reduction(valid_states)

        def loss(batch: Rows) -> Tensor:
            states = random_states(batch, task.random)
            return self.value_error(states, self._loss_reduction(states))

        def validate() -> float:
            return float(self.value_error(valid_states, valid_reduction))

        train_stage([self.value], train, loss, validate, task)
