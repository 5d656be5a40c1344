"""Ask the question that carries most information together with the question after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model, require_network
from eddi.reward.lookahead import COARSE, TwoStepLookahead
from eddi.reward.mutual_information import mutual_information
from eddi.reward.reward_context import EnumerationSettings
from eddi.table.evidence import Evidence

N_DRAWS = 50  # of a first answer that reveals several variables, for its own reward


@dataclass(frozen=True)
class Lookahead:
    """Score a question by its information and by how much it improves the next question.

    A greedy choice fails if one answer carries no information about the target but determines which
    other answers do: the context of a measurement, or half of an exclusive or. `Information` looks ahead
    at the first question, and later only if that one shows that a greedy choice overlooks a question.
    This strategy always does. If no question has a lookahead gain, both choose alike. It needs a model
    with marginal predictions, and far more time.

    Args:
        min_gain: subtracted from every gain, as a share of the information of two greedy questions.
        n_candidates: number of questions per row whose gain is computed; see `TwoStepLookahead`.
        n_points: answers to a quantity that are enumerated at either question to find candidates.
        n_draws: number of draws of answers that reveal several variables at once.
        seed: of those draws.
    """

    min_gain: float = TwoStepLookahead.min_gain
    n_candidates: int = TwoStepLookahead.n_candidates
    n_points: int = COARSE.n_points
    n_draws: int = COARSE.n_draws
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.min_gain >= 0:
            raise StrategyError(f"min_gain must be 0 or more, got {self.min_gain:g}.")
        counts = {
            "n_candidates": self.n_candidates,
            "n_points": self.n_points,
            "n_draws": self.n_draws,
        }
        for name, count in counts.items():
            if count < 1:
                raise StrategyError(f"{name} must be at least 1, got {count}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        network_model = require_network(model, "Lookahead")
        if network_model.marginal_predictor is None:
            raise StrategyError(
                'Lookahead needs a model with marginal predictions: fit one with recipe="default".'
            )
        if len(evidence) > 1 and not evidence.observed.any():  # all rows have the same scores
            return self.score(model, evidence[:1], target).repeat(len(evidence), 1)
        rewards = mutual_information(network_model, evidence, target, n_draws=N_DRAWS, seed=self.seed)
        settings = EnumerationSettings(self.n_points, self.n_draws, self.seed)
        lookahead = TwoStepLookahead(self.n_candidates, self.min_gain, settings, self.n_draws)
        return (rewards + lookahead.gain(network_model, evidence, target)).cpu()
