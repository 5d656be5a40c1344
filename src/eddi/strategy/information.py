"""Ask what tells most about the target (EDDI)."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from eddi.model.base import Model
from eddi.reward import latent
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Information:
    """EDDI: the question whose answer is expected to tell most about the target, for this row.

    Args:
        n_draws: Monte Carlo draws of answers and target.
        seed: of those draws; they change with the number of answers and are shared by all rows.
    """

    n_draws: int = 50
    seed: int = 0

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        n_seen = int(evidence.observed.sum(1).max(initial=0))
        seed = self.seed * 1_009 + n_seen
        return latent.information(model, evidence, target, n_draws=self.n_draws, seed=seed)
