"""The trade-off between error and cost: interviews at different prices of information."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers
from eddi.evaluate.simulate import simulate
from eddi.model.base import ModelSource
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.price import Priced


@dataclass(frozen=True)
class CostFrontier:
    """Simulations at several prices. A row stops once no question is worth its price."""

    prices: tuple[float, ...]  # ascending
    curves: tuple[Curves, ...]  # one simulation per price

    @property
    def cost(self) -> Numbers:
        """Mean cost of an interview [prices]."""
        return np.array([curves.spent[:, -1].mean() for curves in self.curves])

    @property
    def n_asked(self) -> Numbers:
        """Mean number of questions of an interview [prices]."""
        return np.array([curves.n_asked.mean() for curves in self.curves])

    def error(self, metric: Metric = "rmse") -> Numbers:
        """A metric of the final predictions [prices]."""
        return np.array([curves.metric(metric)[-1] for curves in self.curves])

    def standard_error(self, metric: Metric = "rmse") -> Numbers:
        """Standard error of `error` over rows [prices]."""
        return np.array([curves.standard_error_of(metric)[-1] for curves in self.curves])


def simulate_prices(
    model: ModelSource,
    table: Any,
    target: str | None = None,
    *,
    prices: Sequence[float],
    strategy: Strategy | None = None,
) -> CostFrontier:
    """Interview every row of ``table`` once per price.

    Args:
        model: a fitted model whose schema has the costs.
        table: held-out rows.
        target: the variable to predict; None means the model's own target.
        prices: nats that one unit of cost must bring.
        strategy: its score is compared with the price; None means EDDI (`Information`).
    """
    ascending = tuple(sorted(set(prices)))
    if not ascending:
        raise EvaluationError(
            "a cost frontier needs prices, got none. Give some, such as 0.001, 0.01, 0.1."
        )
    base = strategy or Information()
    curves = (simulate(model, table, target, strategy=Priced(base, price)) for price in ascending)
    return CostFrontier(ascending, tuple(curves))
