"""The possible answers of some rows, and what the model predicts after each of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.inference.answer_support import AnswerSupport
from eddi.model.inference.frozen import Encoding
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.inference.support_head import SupportOutputs
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.atoms import N_ATOMS
from eddi.model.network.factors.factor_model import FactorPosterior, FactorUpdates
from eddi.model.network.features import Features
from eddi.reward.candidate_answers import CandidateAnswers
from eddi.reward.candidates import CandidateCells, CandidatePairs, RevealedVariables
from eddi.reward.enumeration import AnswerColumns, EnumeratedAnswers
from eddi.table.evidence import Evidence

BATCH_ANSWERS = 8_192  # candidate answers per pass: their widest layer fits into a cache
GPU_BATCH_ANSWERS = 2**20  # the same on a GPU: 800 MB per layer


@dataclass(frozen=True)
class EnumerationSettings:
    """How finely possible answers are enumerated.

    Args:
        n_points: maximum number of answers to a quantity.
        n_draws: number of draws of answers that reveal several variables at once.
        seed: of those draws.
    """

    n_points: int = N_ATOMS
    n_draws: int = 50
    seed: int = 0


@dataclass(frozen=True)
class RewardContext:
    """Rows before an answer: their evidence and the features that follow from it."""

    model: NetworkModel
    predictor: MarginalPredictor
    observed: NDArray[np.bool_]  # [rows, variables]
    target: list[int]
    target_head: VariableHead
    encoding: Encoding

    @classmethod
    def from_evidence(
        cls, model: NetworkModel, evidence: Evidence, target: list[int]
    ) -> "RewardContext":
        """The context of each row of evidence."""
        return cls._from_encoding(model, model.encode(evidence), evidence.observed, target)

    @classmethod
    def _from_encoding(
        cls, model: NetworkModel, encoding: Encoding, observed: NDArray[np.bool_], target: list[int]
    ) -> "RewardContext":
        predictor = model.marginal_predictor
        assert predictor is not None  # noqa: S101  # the strategies check it
        return cls(model, predictor, observed, target, predictor.target_head(target), encoding)

    @classmethod
    def unobserved(cls, model: NetworkModel, encoding: Encoding, target: list[int]) -> "RewardContext":
        """The context of rows whose target is not observed, without what else is observed."""
        shape = (len(encoding.first_layer), len(model.schema.variables))
        return cls._from_encoding(model, encoding, np.zeros(shape, dtype=bool), target)

    @property
    def code(self) -> Tensor:
        """The additive code [rows, code width]."""
        return self.encoding.code

    @property
    def first_layer(self) -> Tensor:
        """The output of the tail's linear first layer [rows, width]."""
        return self.encoding.first_layer

    @property
    def factors(self) -> FactorPosterior | None:
        """The posterior of the factors."""
        return self.encoding.factors

    @property
    def features(self) -> Features:
        """The hidden features."""
        return self.encoding.features

    def after(self, answers: CandidateAnswers, observed: NDArray[np.bool_]) -> "RewardContext":
        """The context after each answer, which becomes a row of its own."""
        code = answers.gather_rows(self.code) + self._code_terms(answers)
        encoding = self.predictor.frozen.encode(code)
        return self._from_encoding(self.model, encoding, observed, self.target)

    def _code_terms(self, answers: CandidateAnswers) -> Tensor:
        if answers.code_terms is not None:
            return answers.code_terms
        assert answers.values is not None  # noqa: S101  # either of the two is given
        assert answers.variables is not None  # noqa: S101
        return self.model.term(answers.values, answers.variables)

    def features_after(self, answers: CandidateAnswers) -> Features:
        """Hidden features after each answer."""
        frozen = self.predictor.frozen
        if answers.code_terms is not None:
            return frozen.features(answers.gather_rows(self.code) + answers.code_terms)
        assert answers.first_terms is not None  # noqa: S101  # either of the two is given
        first = answers.gather_rows(self.first_layer) + answers.first_terms
        return frozen.features_from(first, answers.factors)

    def features_after_levels(self, variable: int, n_levels: int, *, rows: slice) -> Features:
        """Hidden features of ``rows`` after each level of a variable [rows * levels, width]."""
        frozen, before = self.predictor.frozen, self.first_layer[rows]
        levels = torch.arange(n_levels, device=before.device)
        values, variables = levels.to(before.dtype), torch.full_like(levels, variable)
        first = (before[:, None] + frozen.first_layer_term(values, variables)).flatten(0, 1)
        updates, inputs = self._factor_updates(rows), frozen.factor_inputs(values, variables)
        if updates is None or inputs is None:
            return frozen.features_from(first, None)
        row = torch.arange(len(before), device=before.device)
        own = updates.select(row * self.observed.shape[1] + variable)
        row = row.repeat_interleave(n_levels)
        return frozen.features_from(first, own.moments(row, row, inputs.repeat(len(before), 1)))

    @property
    def n_factor_cells(self) -> int:
        """The numbers in the largest tensor of `FactorUpdates` for one row; 0 without factors."""
        packed = self.predictor.frozen.factors
        return 0 if packed is None else packed.loadings.numel()

    def rewards(self, settings: EnumerationSettings) -> Tensor:
        """Expected information of each question about the target, in nats [rows, questions]."""
        return self._expected_information(self.candidate_answers(settings))

    def enumerated_rewards(self, is_open: Tensor, settings: EnumerationSettings) -> Tensor:
        """The same for open pairs [rows, pairs] of a question and the only variable that it reveals."""
        return self._expected_information(self._enumerate_answers(is_open, settings))

    def _expected_information(self, candidates: Iterable[CandidateAnswers]) -> Tensor:
        head, shape = self.target_head, (len(self.first_layer), len(self.model.schema.questions))
        rewards = self.first_layer.new_zeros(shape)
        before = self.support_outputs.by_output.index_select(1, head.rows)  # [rows, outputs of target]
        mean_terms: list[Tensor] = []  # [rows, questions, variables, 1 + moments] for each head
        for answers in candidates:
            after, own_before = head(self.features_after(answers)), answers.gather_rows(before)
            if answers.is_drawn:
                nats = head.kl_by_variable(after, own_before)  # [answers, target]
                answers.add_expectation(self._sum_unobserved(nats, answers), rewards)
                continue
            terms = head.divergence_terms(after, own_before)
            mean_terms = mean_terms or [own.new_zeros((*shape, *own.shape[1:])) for own in terms]
            for own, mean in zip(terms, mean_terms, strict=True):
                answers.add_expectation(own, mean)
        if mean_terms:
            nats = head.information_by_variable(mean_terms, before[:, None])
            rewards = rewards + self._sum_unobserved(nats).clamp_min(0)  # rounding
        return rewards

    @cached_property
    def support_outputs(self) -> SupportOutputs:
        """The outputs for all variables and atoms, before the answer."""
        return self.predictor.support_head(self.features)

    def _sum_unobserved(self, nats: Tensor, answers: CandidateAnswers | None = None) -> Tensor:
        """Sum over the unobserved target variables, the last dimension, of rows or of their answers."""
        observed = self.observed[:, self.target]  # [rows, target]
        if not observed.any():
            return nats.squeeze(-1) if nats.shape[-1] == 1 else nats.sum(-1)
        order = self.target_head.order.cpu().numpy()
        unobserved = self._to_device((~observed[:, order]).astype(np.int64))
        return (
            nats * (unobserved[:, None] if answers is None else answers.gather_rows(unobserved))
        ).sum(-1)

    def find_enumerated(self) -> Tensor:
        """The pairs of an open question and the only variable that it reveals [rows, pairs]."""
        return self._to_device(self._find_pairs()[1])

    def _find_pairs(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Open pairs of a question and a variable, and those of a question's only variable."""
        revealed = RevealedVariables.from_model(self.model, self.target)
        is_open = revealed.find_open(self.observed, self.target)
        return is_open, revealed.find_only(is_open)

    def candidate_answers(self, settings: EnumerationSettings) -> Iterator[CandidateAnswers]:
        """The possible answers to all open questions, in batches."""
        revealed = RevealedVariables.from_model(self.model, self.target)
        is_open, is_only = self._find_pairs()
        if is_only.any():
            yield from self._enumerate_answers(self._to_device(is_only), settings)
        if revealed.is_single or not (several := is_open & ~is_only).any():
            return
        cells = CandidateCells.from_mask(revealed, several, self.observed.shape[1])
        yield from self._draw_answers(cells.pairs().to(self.first_layer.device), settings)

    def _enumerate_answers(
        self, is_open: Tensor, settings: EnumerationSettings
    ) -> Iterator[CandidateAnswers]:
        """Answers that reveal one variable: all its levels or atoms.

        ``is_open`` [rows, pairs] are the open pairs of a question and a variable.
        """
        support = self.predictor.answer_support(settings.n_points)
        key = ("answer_columns", tuple(self.target), settings.n_points)
        revealed = RevealedVariables.from_model(self.model, self.target)
        columns = self.model.cache.get(
            key, lambda: AnswerColumns.from_support(support, revealed, self.first_layer.device)
        )
        answers = support.enumerate(self.support_outputs)
        batch_size = BATCH_ANSWERS if is_open.device.type == "cpu" else GPU_BATCH_ANSWERS
        n_rows = max(1, batch_size // len(columns.place))
        for start in range(0, len(is_open), n_rows):
            rows = slice(start, start + n_rows)
            candidates = columns.select(answers, is_open, rows)
            updates = self._factor_updates(rows)
            for first in range(0, len(candidates.rows), batch_size):
                batch = candidates[first : first + batch_size]
                yield self._candidate_answers(batch, support, updates, start)

    def level_probabilities(self, variable: int) -> Tensor:
        """The probabilities of the levels of a variable before the answer [rows, levels]."""
        head = self.predictor.target_head([variable])
        outputs = self.support_outputs.by_output.index_select(1, head.rows)
        return head.groups[0].likelihood.probabilities(outputs)[:, 0]

    def is_unobserved(self, variable: int) -> Tensor:
        """Whether each row has no value of the variable [rows, 1]."""
        return self._to_device(~self.observed[:, [variable]])

    def _factor_updates(self, rows: slice) -> FactorUpdates | None:
        packed = self.predictor.frozen.factors
        if self.factors is None or packed is None:
            return None
        if rows.stop >= len(self.factors.mean) and not rows.start:
            return self._all_factor_updates
        return packed.updates(FactorPosterior(self.factors.mean[rows], self.factors.covariance[rows]))

    @cached_property
    def _all_factor_updates(self) -> FactorUpdates:
        packed = self.predictor.frozen.factors
        assert packed is not None  # noqa: S101  # callers check
        assert self.factors is not None  # noqa: S101
        return packed.updates(self.factors)

    def _candidate_answers(
        self,
        enumerated: EnumeratedAnswers,
        support: AnswerSupport,
        updates: FactorUpdates | None,
        start: int,
    ) -> CandidateAnswers:
        """Enumerated answers of the rows from ``start`` on, and what they add to the network's layers."""
        frozen, rows, variables = self.predictor.frozen, enumerated.rows, enumerated.variables
        terms = support.terms.index_select(0, enumerated.places)
        inputs = None if support.inputs is None else support.inputs.index_select(0, enumerated.places)
        if (other := enumerated.other) is not None:
            values = enumerated.values.index_select(0, other)
            owners = variables.index_select(0, other)
            terms[other] = frozen.first_layer_term(values, owners)
            if inputs is not None and (own_inputs := frozen.factor_inputs(values, owners)) is not None:
                inputs[other] = own_inputs
        factors = None
        if updates is not None and inputs is not None:
            is_single = len(self.first_layer) == 1
            cells = variables if is_single else rows * self.observed.shape[1] + variables
            factors = updates.moments(rows, cells, inputs)
        return CandidateAnswers(
            rows + start if start else rows,
            enumerated.questions,
            enumerated.probabilities,
            values=enumerated.values,
            variables=variables,
            first_terms=terms,
            factors=factors,
        )

    def _draw_answers(
        self, pairs: CandidatePairs, settings: EnumerationSettings
    ) -> Iterator[CandidateAnswers]:
        """Answers that reveal several variables, drawn jointly."""
        n_draws = settings.n_draws
        posterior = self.predictor.frozen.posterior_from_features(self.features.inputs)
        values = self.model.draw(posterior, n_draws, seed=settings.seed)  # [draws, rows, variables]
        drawn = values.flatten(1).index_select(1, pairs.cells)
        terms = pairs.sum_cells(self.model.term(drawn, pairs.variables))  # [draws, pairs, width]
        for batch in pairs.batches(max(1, BATCH_ANSWERS // n_draws)):
            rows = pairs.rows[batch].repeat(n_draws)
            questions = pairs.questions[batch].repeat(n_draws)
            equal = terms.new_full(rows.shape, 1 / n_draws)
            code_terms = terms[:, batch].flatten(0, 1)
            yield CandidateAnswers(rows, questions, equal, code_terms=code_terms)

    def _to_device(self, array: NDArray[np.int64] | NDArray[np.bool_]) -> Tensor:
        return torch.from_numpy(array).to(self.first_layer.device)
