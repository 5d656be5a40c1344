"""The Boston decision process: what EDDI and the single best order ask first, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.evaluate import plots
from eddi.evaluate.simulate import simulate
from eddi.model.base import Model
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.strategy.fixed_order import FixedOrder
from eddi.table.evidence import Evidence

N_STEPS = 4  # as the paper shows


@dataclass(frozen=True)
class MeanReward:
    """The score by which a single best order is found: another strategy's, averaged over all rows.

    Every row is given what the row that is asked about has been asked, so the best open question is the
    next of the order.
    """

    rows: Evidence
    inner: Strategy

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        each = [self._mean(model, asked, target) for asked in evidence.observed]
        return torch.stack(each)  # [rows, questions]

    def _mean(self, model: Model, asked: NDArray[np.bool_], target: Sequence[str]) -> Tensor:
        seen = self.rows.hide(np.broadcast_to(~asked, self.rows.observed.shape))
        return self.inner.score(model, seen, target).mean(0)


def draw_decisions(
    model: PartialVAE, test: pd.DataFrame, information: Strategy, order: FixedOrder, folder: Path
) -> dict[str, str]:
    """Draw the first decisions of both strategies; returns the captions by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    curves = simulate(model, test, strategy=information, max_steps=N_STEPS)
    plots.choices(curves, folder / "choices.png", n_steps=N_STEPS)
    averaged = MeanReward(model.evidence(test), information)
    for name, strategy in (("eddi.png", information), ("sing.png", averaged)):
        plots.decision_process(model, test.iloc[:1], folder / name, strategy=strategy, n_steps=N_STEPS)
    first = ", ".join(order.order[:N_STEPS])
    violins = (
        "Bars: the information reward of each question that is still open; violins: what is believed of "
        "what is not yet known, the dot being the truth."
    )
    return {
        "choices.png": (
            f"EDDI's first {N_STEPS} questions: the share of {len(test)} test rows asked each. "
            f"The single best order asks {first} of every row."
        ),
        "eddi.png": f"The first {N_STEPS} decisions of EDDI for one test row. {violins}",
        "sing.png": (
            "The same row led by the single best order, its rewards averaged over all test rows. "
            f"{violins}"
        ),
    }
