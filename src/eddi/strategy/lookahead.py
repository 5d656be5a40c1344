"""Ask what tells most about the target together with the question after it."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.reward.lookahead import GLANCE, Ahead
from eddi.reward.mutual_information import Care, information
from eddi.table.evidence import Evidence

N_DRAWS = 50  # of a first answer that reveals several variables, for its own reward


@dataclass(frozen=True)
class Lookahead:
    """What an answer tells about the target, and what it opens: how much better the next question gets.

    `Information` takes the best answer at hand, but for its first question. That fails where one answer
    says nothing of the target but says which others do: the context of a measurement, half of an
    exclusive or. Where no answer opens anything the two choose alike. It needs a model with direct
    beliefs, and far more time.

    Args:
        doubt: how much must be opened to count, as a share of what two greedy questions tell.
        n_candidates: how many questions of a row are looked behind; see `reward.ahead.Ahead`.
        n_points: answers of a quantity that are gone through, at either question, before all are.
        n_draws: of answers that reveal several variables at once.
        seed: of those draws.
    """

    doubt: float = Ahead.doubt
    n_candidates: int = Ahead.n_candidates
    n_points: int = GLANCE.n_points
    n_draws: int = GLANCE.n_draws
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.doubt >= 0:
            raise StrategyError(f"doubt must be 0 or more, got {self.doubt:g}.")
        for name in ("n_candidates", "n_points", "n_draws"):
            if (n := getattr(self, name)) < 1:
                raise StrategyError(f"{name} must be at least 1, got {n}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        if model.direct_ is None:
            raise StrategyError('Lookahead needs direct beliefs: fit a model with recipe="default".')
        if len(evidence) > 1 and not evidence.observed.any():  # rows that have said nothing are alike
            return self.score(model, evidence[:1], target).repeat(len(evidence), 1)
        rewards = information(model, evidence, target, n_draws=N_DRAWS, seed=self.seed)
        care = Care(self.n_points, self.n_draws, self.seed)
        ahead = Ahead(self.n_candidates, self.doubt, care)
        return (rewards + ahead.opened(model, evidence, target)).cpu()
