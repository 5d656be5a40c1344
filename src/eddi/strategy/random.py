"""Ask in a random order (RAND), the baseline that every strategy must beat."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Random:
    """A random order for each row of a batch, drawn from ``seed``.

    An `Interview` is a batch of one, so all interviews with the same seed have the same order.
    """

    seed: int = 0

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:  # noqa: ARG002
        random = torch.Generator().manual_seed(self.seed)
        return torch.rand((len(evidence), len(model.schema.questions)), generator=random)
