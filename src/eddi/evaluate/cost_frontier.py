"""What certainty costs: error against money, for one price of information after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers
from eddi.evaluate.simulate import simulate
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.strategy.price import Priced


@dataclass(frozen=True)
class Frontier:
    """Interviews at several prices: every row stops when nothing is worth its price to it."""

    prices: tuple[float, ...]  # rising
    curves: tuple[Curves, ...]  # one simulation a price

    @property
    def cost(self) -> Numbers:
        """What an interview costs on average [prices]."""
        return np.array([each.spent[:, -1].mean() for each in self.curves])

    @property
    def n_asked(self) -> Numbers:
        """How many questions an interview has on average [prices]."""
        return np.array([each.n_asked.mean() for each in self.curves])

    def error(self, metric: Metric = "rmse") -> Numbers:
        """A metric of the predictions that interviews ended with [prices]."""
        means = [each.per_row(metric)[each.known, -1].mean() for each in self.curves]
        return np.sqrt(means) if metric in ("rmse", "draw_rmse") else np.array(means)

    def standard_error(self, metric: Metric = "rmse") -> Numbers:
        """Of `error` over rows [prices]."""
        return np.array([each.standard_error_of(metric)[-1] for each in self.curves])


def frontier(
    model: Model,
    table: Any,
    target: str | None = None,
    *,
    prices: Sequence[float],
    strategy: Strategy | None = None,
) -> Frontier:
    """Interview every row of ``table`` once for each price.

    Args:
        model: what was learned; its schema has the costs.
        table: held-out rows.
        target: what one wants to know; the model's own target where None.
        prices: nats that one unit of cost must bring.
        strategy: whose score is weighed against the price; EDDI where None.
    """
    rising = tuple(sorted(set(prices)))
    if not rising:
        raise EvaluationError("a frontier needs prices, got none. Give some, such as 0.001, 0.01, 0.1.")
    chooser = strategy or Information()
    played = (simulate(model, table, target, strategy=Priced(chooser, price)) for price in rising)
    return Frontier(rising, tuple(played))
