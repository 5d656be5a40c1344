"""Ask questions that are worth their price, and stop when none is."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence


@dataclass(frozen=True)
class Priced:
    """Another strategy's score minus the price of the question: the net value of information.

    A question that is not worth its price is never asked, so an interview ends by itself. The higher the
    price, the lower the cost and the larger the error: `evaluate.cost_frontier` shows the trade-off.
    `PerCost` is for a budget that is spent in any case. The lookahead gain of the other strategy counts
    towards the value.

    Args:
        inner: the strategy whose score is reduced; it should be in nats.
        price: nats that one unit of cost must bring (Heckerman, Horvitz and Middleton 1993).
    """

    inner: Strategy
    price: float

    def __post_init__(self) -> None:
        if not 0 <= self.price < float("inf"):
            raise StrategyError(f"price must be 0 or more nats per unit of cost, got {self.price:g}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        score = self.inner.score(model, evidence, target)  # [rows, questions]
        return self.adjust(score, torch.from_numpy(model.schema.costs))

    def adjust(self, scores: Tensor, costs: Tensor) -> Tensor:
        net = scores - self.price * costs.to(scores.device, scores.dtype)
        return net.masked_fill(net <= 0, -torch.inf)
