"""Figures of the decision process on Boston housing: the first questions and their rewards."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi import PartialVAE, simulate
from eddi.evaluate import plots
from eddi.model.base import Model
from eddi.strategy.base import Strategy
from eddi.strategy.fixed_order import FixedOrder
from eddi.table.evidence import Evidence

N_STEPS = 4  # as in the paper


@dataclass(frozen=True)
class MeanReward:
    """The score that defines a single best order: another strategy's score, averaged over ``rows``.

    The mask of the interviewed row is applied to all rows, so the best open question is the next one of
    the order.
    """

    rows: Evidence
    inner: Strategy

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        means = [self._mean_score(model, observed, target) for observed in evidence.observed]
        return torch.stack(means)  # [rows, questions]

    def _mean_score(self, model: Model, observed: NDArray[np.bool_], target: Sequence[str]) -> Tensor:
        masked = self.rows.hide(np.broadcast_to(~observed, self.rows.observed.shape))
        return self.inner.score(model, masked, target).mean(0)


def plot_decisions(
    model: PartialVAE,
    test: pd.DataFrame,
    folder: Path,
    *,
    information: Strategy,
    order: FixedOrder,
) -> dict[str, str]:
    """Plot the first decisions of EDDI and of the single best order; return captions by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    curves = simulate(model, test, strategy=information, max_steps=N_STEPS)
    plots.choices(curves, folder / "choices.png", n_steps=N_STEPS)
    mean_reward = MeanReward(model.evidence(test), information)
    for name, strategy in (("eddi.png", information), ("sing.png", mean_reward)):
        plots.decision_process(
            model.fitted(), test.iloc[:1], folder / name, strategy=strategy, n_steps=N_STEPS
        )
    first = ", ".join(order.order[:N_STEPS])
    legend = (
        "Bars: the information reward of each open question. Violins: the predictive distribution of "
        "unobserved variables; the dot is the true value."
    )
    return {
        "choices.png": (
            f"EDDI's first {N_STEPS} questions: the share of {len(test)} test rows that are asked each. "
            f"The single best order asks every row {first}."
        ),
        "eddi.png": f"The first {N_STEPS} decisions of EDDI for one test row. {legend}",
        "sing.png": (
            "The same row with the single best order, whose rewards are averaged over all test rows. "
            f"{legend}"
        ),
    }
