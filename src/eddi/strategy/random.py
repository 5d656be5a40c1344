"""Ask in a random order (RAND), the baseline that every strategy must beat."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Random:
    """A random order for each row, drawn from ``seed``."""

    seed: int = 0

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:  # noqa: ARG002
        random = torch.Generator().manual_seed(self.seed)
        return torch.rand((len(evidence), len(model.schema.questions)), generator=random)
