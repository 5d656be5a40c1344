"""Ask what tells most about the target (EDDI)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.reward import mutual_information as target_space
from eddi.reward.lookahead import opening
from eddi.reward.paper import latent_information
from eddi.table.evidence import Evidence

MOST_AHEAD = 128  # questions among which the first is chosen with the next in mind: half a second, once


@dataclass(frozen=True)
class Information:
    """EDDI: the question whose answer is expected to tell most about the target, for this row.

    Args:
        reward: "latent", the paper's; "target", the same in the space of the target, which needs a model
            with direct beliefs; None takes the best the model allows. That is the latter, and the very
            first question of an interview, the same for everybody, is chosen with the one after it in
            mind: what an answer opens counts then, if it is much (see `Lookahead`).
        n_draws: Monte Carlo draws of answers and target.
        seed: of those draws; they change with the number of answers, and rows that have answered as
            much share them, so that a row scores the same alone and in any batch.
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
        n_seen = evidence.observed.sum(1).tolist()  # [rows]
        if set(n_seen) == {0}:  # rows that have said nothing yet all score alike
            return self._nats(model, evidence[:1], target, 0).expand(len(evidence), -1)
        if len(counts := set(n_seen)) == 1:
            return self._nats(model, evidence, target, n_seen[0])
        scores = torch.zeros((len(evidence), len(model.schema_.questions)))
        for n in counts:
            rows = np.flatnonzero(np.equal(n_seen, n))
            scores[torch.from_numpy(rows)] = self._nats(model, evidence[rows], target, n)
        return scores

    def _nats(self, model: Model, evidence: Evidence, target: Sequence[str], n_seen: int) -> Tensor:
        """The rewards of rows that have answered as much."""
        seed = self.seed * 1_009 + n_seen
        wanted = self.reward or ("latent" if model.direct_ is None else "target")
        if wanted == "target" and model.direct_ is None:
            raise StrategyError(
                'reward="target" needs a model with direct beliefs: fit one with recipe="default".'
            )
        reward = latent_information.information if wanted == "latent" else target_space.information
        return reward(model, evidence, target, n_draws=self.n_draws, seed=seed).cpu()

    def opening(self, model: Model, target: Sequence[str]) -> Tensor:
        """Nats that each answer opens to whoever begins [questions]; it is worked out once.

        Nothing of a reward that was asked for by name, or among more than 128 questions.
        """
        n_questions = len(model.schema_.questions)
        if self.reward is not None or model.direct_ is None or n_questions > MOST_AHEAD:
            return torch.zeros(n_questions)
        return opening(model, target).cpu()
