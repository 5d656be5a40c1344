"""Ask what is worth its price, and stop when nothing is."""

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
    """Another strategy's score less what the question costs: the net value of information.

    What is not worth its price is never asked, so that an interview ends by itself when nothing is worth
    it any more. The higher the price, the less is spent and the less is known: `evaluate.frontier` shows
    the exchange. `PerCost` is for a budget that is spent in any case.

    Args:
        inner: whose score is weighed; it should be in nats.
        price: nats that one unit of cost must bring (Heckerman, Horvitz and Middleton 1993).
    """

    inner: Strategy
    price: float

    def __post_init__(self) -> None:
        if not 0 <= self.price < float("inf"):
            raise StrategyError(f"price must be 0 or more nats a unit of cost, got {self.price:g}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        score = self.inner.score(model, evidence, target)  # [rows, questions]
        costs = torch.from_numpy(model.schema_.costs).to(score.device, score.dtype)
        net = score - self.price * costs
        return net.masked_fill(net <= 0, -torch.inf)
