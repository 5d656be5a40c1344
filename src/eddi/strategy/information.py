"""Ask the question with the highest expected information about the target (EDDI)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model, NetworkModel, is_exact, require_network
from eddi.reward.lookahead import first_question_gain, interview_gain, overlooks_question
from eddi.reward.mutual_information import mutual_information
from eddi.reward.paper.latent_information import latent_information
from eddi.table.evidence import Evidence

MAX_LOOKAHEAD_QUESTIONS = 128  # a lookahead over this many takes half a second; more: greedy


@dataclass(frozen=True)
class Information:
    """EDDI: score each question by the expected information of its answer about the target.

    Args:
        reward: "latent", the paper's reward; "target", mutual information in target space, which needs a
            model with marginal predictions; None chooses the best reward that the model supports. None
            also looks one question ahead (see `Lookahead`) at the first question, and at later ones if
            the first shows that a greedy choice overlooks a question.
        n_draws: number of Monte Carlo draws of answers and target.
        seed: of those draws. They change with the number of observed values. Rows with equally many
            observed values share them, so that a row's scores do not depend on its batch.
    """

    reward: Literal["latent", "target"] | None = None
    n_draws: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        if self.reward not in (None, "latent", "target"):
            raise StrategyError(f"reward must be 'latent' or 'target', got {self.reward!r}.")
        if self.n_draws < 1:
            raise StrategyError(f"n_draws must be at least 1, got {self.n_draws}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        if is_exact(model) and self.reward is None:
            return model.mutual_information(evidence, target)
        return self._score_network(require_network(model, f"reward={self.reward!r}"), evidence, target)

    def _score_network(self, model: NetworkModel, evidence: Evidence, target: Sequence[str]) -> Tensor:
        n_observed = evidence.observed.sum(1).tolist()  # [rows]
        if set(n_observed) == {0}:  # rows without an answer all have the same scores
            return self._rewards(model, evidence[:1], target, 0).expand(len(evidence), -1)
        if len(counts := set(n_observed)) == 1 or not self._is_drawn(model):
            return self._rewards(model, evidence, target, max(counts, default=0))
        scores = torch.zeros((len(evidence), len(model.schema.questions)))
        for n in counts:
            rows = np.flatnonzero(np.equal(n_observed, n))
            scores[torch.from_numpy(rows)] = self._rewards(model, evidence[rows], target, n)
        return scores

    def _is_drawn(self, model: NetworkModel) -> bool:
        """Whether answers are drawn: all of the paper's reward, else those that reveal several variables."""
        if self.reward == "latent" or model.marginal_predictor is None:
            return True
        return any(len(question.reveals) > 1 for question in model.schema.questions)

    def _rewards(
        self, model: NetworkModel, evidence: Evidence, target: Sequence[str], n_observed: int
    ) -> Tensor:
        """The rewards of rows with equally many observed values."""
        seed = self.seed * 1_009 + n_observed
        has_marginals = model.marginal_predictor is not None
        if self.reward == "target" and not has_marginals:
            raise StrategyError(
                'reward="target" needs a model with marginal predictions: fit one with recipe="default".'
            )
        use_latent = self.reward == "latent" or not has_marginals
        times = [name for name in target if model.schema[name].survival is not None]
        if use_latent and times:
            raise StrategyError(
                f"the paper's reward is about targets that can be observed, and {times[0]!r} is a survival "
                'variable. Use reward="target" and a model with recipe="default".'
            )
        reward = latent_information if use_latent else mutual_information
        return reward(model, evidence, target, n_draws=self.n_draws, seed=seed).cpu()

    def looks_ahead(self, model: Model, target: Sequence[str]) -> bool:
        """Whether any question has a lookahead gain before the first answer, or would be overlooked.

        No question has one if the reward was chosen by name, if there are more than 128 questions, or for
        an item bank, whose answers are independent given the trait.
        """
        is_greedy = self.reward is not None or is_exact(model)
        if is_greedy or len(model.schema.questions) > MAX_LOOKAHEAD_QUESTIONS:
            return False
        network_model = require_network(model, "lookahead")
        if network_model.marginal_predictor is None:
            return False
        has_gain = bool(first_question_gain(network_model, target).any())
        return has_gain or overlooks_question(network_model, target)

    def lookahead_gain(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        """The lookahead gain of each question [rows, questions]; see `reward.lookahead.interview_gain`."""
        return interview_gain(require_network(model, "lookahead"), evidence, target).cpu()
