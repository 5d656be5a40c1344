"""The default reward in a dozen kernels, for tables and targets that they support.

Every variable must be one input of the factors (no category with more than two levels), and the target one
real or binary variable without a regression of its levels. Other models use `DenseRewards`. Nothing waits
for the GPU, so the computation can be captured as a graph.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.features import Features
from eddi.reward.candidates import RevealedVariables
from eddi.reward.enumeration import AnswerColumns
from eddi.reward.fused.packed_rows import PackedRows, RowFactors, is_power_of_two
from eddi.reward.fused.packed_support import PackedSupport
from eddi.reward.fused.packed_tail import PackedTail
from eddi.reward.fused.packed_target import PackedTarget


@dataclass(frozen=True)
class FusedRewards:
    """Rewards of questions that reveal one variable each."""

    frozen: FrozenNetwork
    rows: PackedRows
    support: PackedSupport
    tail: PackedTail
    target: PackedTarget
    columns: AnswerColumns
    n_questions: int

    @classmethod
    def from_predictor(
        cls,
        predictor: MarginalPredictor,
        target: list[int],
        tail: PackedTail,
        revealed: RevealedVariables,
        *,
        n_points: int,
        n_questions: int,
    ) -> "FusedRewards | None":
        """The rewards about a target; None if the kernels do not support it or the table."""
        frozen, support = predictor.frozen, predictor.answer_support(n_points)
        packed_target = PackedTarget.from_head(predictor.target_head(target), target, tail.factors)
        n_inputs, term = tail.factors.factors.n_inputs, tail.term_weight.shape[1]
        if packed_target is None or n_inputs > 1 or not is_power_of_two(term):
            return None
        columns = AnswerColumns.from_support(support, revealed, frozen.device)
        return cls(
            frozen=frozen,
            rows=PackedRows.from_encoder(frozen.encoder, tail),
            support=PackedSupport.from_predictor(predictor, n_points),
            tail=tail,
            target=packed_target,
            columns=AnswerColumns(*(column.int() for column in vars(columns).values())),
            n_questions=n_questions,
        )

    def __call__(self, values: Tensor, visible: Tensor, observed: Tensor) -> Tensor:
        """Expected information of each question about the target; see `DenseRewards`."""
        code, factors = self.rows.encode(values, visible)
        first_layer = self.frozen.first_layer(code)
        before = self._add_features(first_layer, factors)
        answers, probabilities = self.support(self._features(factors), factors)
        return self._sum_rewards(first_layer, factors, before, answers, probabilities, observed)

    def _features(self, factors: RowFactors) -> Features:
        mean = factors.features[:, -factors.variance.shape[1] :]
        return Features(factors.features, FactorPosterior(mean, factors.covariance))

    def _add_features(self, first_layer: Tensor, factors: RowFactors) -> Tensor:
        """Write the hidden features of the rows, and return the predictions of the target [rows, 2]."""
        from eddi.reward.fused.reward_kernels import row_features  # Triton is optional

        tail, target, n_rows = self.tail, self.target, len(first_layer)
        before = first_layer.new_empty((n_rows, 2))
        options = tail.row_options
        row_features[(-(-n_rows // options["ROWS"]),)](
            first_layer, factors.variance, factors.spread, factors.features, before,
            target.loadings, target.constants, *tail.layers,
            n_rows, factors.spread.shape[1], len(tail.inner), factors.variance.shape[1],
            factors.features.shape[1], target.position, IS_REAL=target.is_real, **options,
        )  # fmt: skip
        return before

    def _sum_rewards(
        self,
        first_layer: Tensor,
        factors: RowFactors,
        before: Tensor,
        values: Tensor,
        probabilities: Tensor,
        observed: Tensor,
    ) -> Tensor:
        from eddi.reward.fused.reward_kernels import answer_rewards  # Triton is optional

        answers, n_answers = self._list_answers(probabilities, observed)
        tail, rows, columns, target = self.tail, self.rows, self.columns, self.target
        n_rows, n_columns = len(values), len(columns.place)
        rewards = first_layer.new_zeros((n_rows, self.n_questions))
        changes = first_layer.new_zeros((n_rows, self.n_questions, 2))
        options = tail.answer_options
        answer_rewards[(-(-n_rows * n_columns // options["ROWS"]),)](
            answers, n_answers, values, probabilities, columns.variable, columns.place, columns.question,
            before, rewards, changes, first_layer, factors.features, factors.expected, factors.spread,
            factors.gain, factors.variance_after, rows.precision, target.loadings, target.constants,
            rows.lines, *rows.table, *rows.inputs, tail.term_weight, *tail.layers,
            n_columns, observed.shape[1], values.shape[1], self.n_questions, len(tail.inner),
            factors.variance.shape[1], rows.n_knots, rows.max_levels, factors.features.shape[1],
            target.position, TERM=tail.term_weight.shape[1], KNOTS=rows.padded_knots,
            HAS_RELU=rows.has_relu, HAS_LEVELS=rows.has_levels, IS_REAL=target.is_real, **options,
        )  # fmt: skip
        return (rewards - target.mixture_kl(changes, before)).clamp_min(0)  # rounding

    def _list_answers(self, probabilities: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
        """Positions of the candidate answers, and their number [1]."""
        from eddi.reward.fused.row_kernels import list_answers  # Triton is optional

        n_columns = len(self.columns.place)
        answers = torch.empty(len(observed) * n_columns, dtype=torch.int32, device=observed.device)
        n_answers = answers.new_zeros(1)
        block = min(1_024, 1 << (n_columns - 1).bit_length())
        list_answers[(len(observed),)](
            probabilities, observed.view(torch.uint8), self.columns.variable, self.columns.place,
            answers, n_answers,
            n_columns, observed.shape[1], probabilities.shape[1], self.target.position,
            BLOCK=max(16, block),
        )  # fmt: skip
        return answers, n_answers
