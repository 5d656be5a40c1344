"""The default reward with dense tensors: every answer of every row, whether it is a candidate or not.

Shapes do not depend on the data and nothing waits for the GPU, so the computation can be captured as a
graph. Only the tail takes time for each answer, and it skips those that are no candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from eddi.model.inference.answer_support import AnswerSupport
from eddi.model.inference.frozen import Encoding, FrozenNetwork
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.factors.factor_model import FactorMoments
from eddi.reward.candidates import RevealedVariables
from eddi.reward.enumeration import AnswerColumns


class Tail(Protocol):
    """The layers after the first one, up to the outputs of the target. `PackedTail` is one."""

    def outputs(
        self, encoding: Encoding, values: Tensor, variables: Tensor, is_candidate: Tensor
    ) -> tuple[Tensor, FactorMoments | None]:
        """Outputs of the head without those of the factors, and the factors, after candidate answers."""


@dataclass(frozen=True)
class DenseRewards:
    """Rewards of questions that reveal one variable each."""

    frozen: FrozenNetwork
    support: AnswerSupport
    head: VariableHead
    tail: Tail
    columns: AnswerColumns
    target: Tensor  # positions
    n_questions: int

    @classmethod
    def from_predictor(
        cls,
        predictor: MarginalPredictor,
        target: Sequence[int],
        tail: Tail,
        revealed: RevealedVariables,
        *,
        n_points: int,
        n_questions: int,
    ) -> "DenseRewards":
        """The rewards about target variables at these positions."""
        frozen, support = predictor.frozen, predictor.answer_support(n_points)
        head = predictor.target_head(target)
        return cls(
            frozen=frozen,
            support=support,
            head=head,
            tail=tail,
            columns=AnswerColumns.from_support(support, revealed, frozen.device),
            target=torch.tensor(list(target), device=frozen.device)[head.order],
            n_questions=n_questions,
        )

    def __call__(self, values: Tensor, visible: Tensor, observed: Tensor) -> Tensor:
        """Expected information of each question about the target, in nats [rows, questions].

        Args:
            values: coded [rows, variables].
            visible: 1 where the network sees the value [rows, variables]; some are outside its range.
            observed: whether there is a value [rows, variables].
        """
        encoding = self.frozen.encode(self.frozen.encoder.code(values, visible))
        answers = self.support(encoding.features)
        coded = answers.values.index_select(1, self.columns.place)  # [rows, columns]
        probabilities = answers.probabilities.index_select(1, self.columns.place)
        unobserved_target = ~observed.index_select(1, self.target)  # [rows, target]
        is_open = ~observed.index_select(1, self.columns.variable)
        is_candidate = is_open & unobserved_target.any(1, keepdim=True) & (probabilities > 0)
        probabilities = torch.where(is_candidate, probabilities, 0.0)
        outputs, factors = self.tail.outputs(encoding, coded, self.columns.variable, is_candidate)
        after = self.head.add_factors(outputs, factors).view(*coded.shape, -1)
        before = self.head(encoding.features)[:, None]  # [rows, 1, outputs]
        terms = self.head.divergence_terms(after, before)  # [rows, columns, target, 1 + moments] each
        mean_terms = [self._expect(own, probabilities) for own in terms]
        nats = self.head.information_by_variable(mean_terms, before)  # [rows, questions, target]
        return (nats * unobserved_target[:, None]).sum(-1).clamp_min(0)  # rounding

    def _expect(self, values: Tensor, probabilities: Tensor) -> Tensor:
        """The expectation over answers of ``values`` [rows, columns, ...]: [rows, questions, ...]."""
        weights = probabilities.view(*probabilities.shape, *[1] * (values.dim() - 2))
        expected = torch.where(weights > 0, values * weights, 0.0)  # nothing is known of other answers
        total = values.new_zeros((len(values), self.n_questions, *values.shape[2:]))
        return total.index_add_(1, self.columns.question, expected)
