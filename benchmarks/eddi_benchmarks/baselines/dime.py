"""DIME: what each answer is worth, regressed from the fall of the loss (Gadgil, Covert & Lee 2024).

"Estimating conditional mutual information for dynamic feature selection", ICLR 2024. A value network
learns, for every question, by how much the predictor's loss will fall with the answer; at the optimum
that is its conditional mutual information with the target. For levels a value lies between 0 and
the entropy of the present prediction, as information does. Both networks learn together on walks that
take the best value, or with chance epsilon anything; epsilon falls from stage to stage, and a stage ends
when validation rows no longer gain.
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
    States,
    improve,
    predictor,
    pretrain,
    random_states,
    states,
    walked_loss,
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
        layout: Layout,
        n_steps: int,
        *,
        seed: int,
        pace: Pace,
        chances: tuple[float, ...] = (0.5, 0.2, 0.05),
    ) -> "Dime":
        """Learn to ask ``n_steps`` questions; ``chances`` are the epsilons."""
        torch.manual_seed(seed)  # of the weights and of dropout
        course = Course(layout, n_steps, pace, torch.Generator().manual_seed(seed))
        made = cls(MaskedNetwork(layout, layout.n_questions, pace), predictor(layout, pace), layout)
        pretrain(made.predictor, train, valid, course)
        made._value_everything(train, valid, course)
        for chance in chances:

            def loss(batch: Rows, chance: float = chance) -> Tensor:
                return made.together(batch, chance, course)

            def judge() -> float:
                return walked_loss(made.predictor, made.scores, valid, course)

            improve([made.value, made.predictor], train, loss, judge, course)
        return made

    def scores(self, columns: Tensor, mask: Tensor) -> Tensor:
        """By how much each answer is expected to lower the loss [rows, questions]."""
        values = self.value(columns, mask)
        if not self.layout.n_levels:
            return functional.softplus(values)
        with torch.no_grad():
            beliefs = functional.log_softmax(self.predictor(columns, mask), dim=-1)
        entropy = -(beliefs.exp() * beliefs).sum(-1, keepdim=True)  # [rows, 1] nats
        bounded: Tensor = values.sigmoid() * entropy
        return bounded

    def together(self, batch: Rows, chance: float, course: Course) -> Tensor:
        """The predictor's loss along an exploring walk, and the squared error of the values on it."""

        def exploring(columns: Tensor, mask: Tensor) -> Tensor:
            scores = self.scores(columns, mask)
            anything = torch.rand(scores.shape, generator=course.random)
            explores = torch.rand((len(scores), 1), generator=course.random) < chance
            return torch.where(explores, anything, scores)

        found = states(batch, exploring, course, self.value)
        then, now = self._losses(found)
        return (then + now).mean() / 2 + self.error(found, (then - now).detach())

    def error(self, found: States, fall: Tensor) -> Tensor:
        """The squared error of the values as predictions of the loss's ``fall``."""
        values = self.scores(found.rows.columns, found.before).gather(1, found.asked[:, None])[:, 0]
        return (values - fall).square().mean()

    def _losses(self, found: States) -> tuple[Tensor, Tensor]:
        """The predictor's loss before and after the answer [states]."""
        columns, truth = found.rows.columns, found.rows.truth
        before, after = (
            self.layout.losses(self.predictor(columns, mask), truth)
            for mask in (found.before, found.after)
        )
        return before, after

    @torch.no_grad()
    def _fall(self, found: States) -> Tensor:
        before, after = self._losses(found)
        return before - after

    def _value_everything(self, train: Rows, valid: Rows, course: Course) -> None:
        """A first idea of all values, from random states, before they are followed anywhere."""
        held_out = random_states(valid, course.random)
        fall = self._fall(held_out)

        def loss(batch: Rows) -> Tensor:
            found = random_states(batch, course.random)
            return self.error(found, self._fall(found))

        improve([self.value], train, loss, lambda: float(self.error(held_out, fall)), course)
