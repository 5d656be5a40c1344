"""Rank questions by score per unit of cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class PerCost:
    """Another strategy's score per unit of the question's cost.

    It is the default, around `Information`, if questions have different costs. The lookahead gain of the
    other strategy is divided by the cost, too.
    """

    inner: Strategy

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        score = self.inner.score(model, evidence, target)  # [rows, questions]
        return self.adjust(score, torch.from_numpy(model.schema.costs))

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:
        return scores / costs.to(scores.device, scores.dtype)
