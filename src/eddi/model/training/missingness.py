"""What a known entry stands for, where a table has holes that are not there by chance alone.

A blood test is ordered for those who look ill, so the known results are not those of everybody. A
belief that has seen little of a row must not take them for such. An entry therefore counts for all that
are like it in whatever else is known of their rows: by the inverse of the chance that it was known
(Horvitz and Thompson 1952; Robins, Rotnitzky and Zhao 1994). Where nothing but the hidden value itself
says why it is hidden, no table can tell, and this does not.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.table.evidence import Evidence

FEW_HOLES = 0.02  # of a column: below it nothing is gained
MOST_VARIABLES = 512  # in wider tables every entry counts alike
ENOUGH_ROWS = 10_000  # to learn the chances from
ITERATIONS = 200
RATE = 0.05
PENALTY = 1.0  # of a logistic regression's squared weights, against the likelihood of all rows
MOST = 5.0  # an entry counts for so many at most, and for one in so many at least


def counts(evidence: Evidence) -> NDArray[np.float32]:
    """How much each entry counts [rows, variables]: 0 where it is not known, elsewhere 1 on average."""
    known = evidence.observed.astype(np.float32)
    missing = 1 - known.mean(0) if len(known) else np.zeros(known.shape[1])
    holed = np.flatnonzero((missing > FEW_HOLES) & (missing < 1))
    if not len(holed) or known.shape[1] > MOST_VARIABLES:
        return known
    chance = _chances(evidence, holed)
    weight = (1 - missing[holed]) / np.maximum(chance, 1e-6)
    weight = np.where(evidence.observed[:, holed], weight.clip(1 / MOST, MOST), 0)
    known[:, holed] = weight / weight.sum(0) * evidence.observed[:, holed].sum(0)
    return known


def _chances(evidence: Evidence, holed: NDArray[np.int64]) -> NDArray[np.float64]:
    """How likely each of the columns with holes was to be known, by the rest of its row."""
    # The values may be far out; what they say of a hole is not more for that.
    rest = np.concatenate([evidence.values.clip(-3, 3), evidence.observed], axis=1, dtype=np.float32)
    step = max(1, len(rest) // ENOUGH_ROWS)
    inputs, known = torch.from_numpy(rest), torch.from_numpy(evidence.observed[:, holed]).float()
    own = torch.zeros(len(holed), rest.shape[1], dtype=torch.bool)  # what a column must not look at
    place = torch.from_numpy(holed)
    own.scatter_(1, torch.stack([place, place + evidence.n_variables], dim=1), True)
    weight, bias = _logistic(inputs[::step], known[::step], own)
    return torch.sigmoid(F.linear(inputs, weight, bias)).double().numpy()


def _logistic(inputs: Tensor, known: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Logistic regressions of the columns ``known`` [rows, n] on what each may look at, all at once."""
    weight = torch.zeros(own.shape, requires_grad=True)
    bias = torch.logit(known.mean(0), eps=1e-3).requires_grad_(True)
    optimiser = torch.optim.Adam([weight, bias], lr=RATE)
    with torch.enable_grad():
        for _ in range(ITERATIONS):
            optimiser.zero_grad()
            logits = F.linear(inputs, weight.masked_fill(own, 0), bias)
            fit = F.binary_cross_entropy_with_logits(logits, known, reduction="sum")
            total = (fit + 0.5 * PENALTY * weight.square().sum()) / len(inputs)
            total.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return weight.detach().masked_fill(own, 0), bias.detach()
