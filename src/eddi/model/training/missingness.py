"""Weights for tables whose values are not missing completely at random.

A blood test is ordered for people who look ill, so the observed results are not representative. A
prediction from little evidence must not treat them as such. Each observed entry is therefore weighted by
the inverse of its propensity, the probability that it was observed given the rest of its row (Horvitz and
Thompson 1952; Robins, Rotnitzky and Zhao 1994). This corrects values missing at random. Values missing
not at random, for reasons in the hidden value itself, cannot be corrected from the table alone. The
propensities of interviews are known, see `question_weights`.
"""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.training.flat_weights import adam_step
from eddi.model.training.question_weights import InterviewEvidence
from eddi.table.evidence import Evidence

MIN_MISSING_SHARE = 0.02  # of a column; with less there is nothing to correct
MAX_VARIABLES = 512  # in wider tables all entries have equal weights
MAX_ROWS = 10_000  # enough to estimate propensities
N_ITERATIONS = 200
LEARNING_RATE = 0.05
PENALTY = 1.0  # on the squared weights of a logistic regression, against the likelihood of all rows
MAX_WEIGHT = 5.0  # weights are clipped to [1 / MAX_WEIGHT, MAX_WEIGHT]


def weigh_entries(evidence: Evidence) -> NDArray[np.float32]:
    """The weight of each entry [rows, variables]; those of interviews, whose questions are known, are 1."""
    if not isinstance(evidence, InterviewEvidence):
        return inverse_propensity_weights(evidence)
    weights = evidence.observed.astype(np.float32)
    rows = np.flatnonzero(~evidence.question_weights.is_known)
    weights[rows] = inverse_propensity_weights(Evidence(evidence.values[rows], evidence.observed[rows]))
    return weights


def inverse_propensity_weights(evidence: Evidence) -> NDArray[np.float32]:
    """The weight of each entry [rows, variables]: 0 if missing; observed ones have mean 1."""
    weights = evidence.observed.astype(np.float32)
    missing = 1 - weights.mean(0) if len(weights) else np.zeros(weights.shape[1])
    columns = np.flatnonzero((missing > MIN_MISSING_SHARE) & (missing < 1))
    if not len(columns) or weights.shape[1] > MAX_VARIABLES:
        return weights
    observed = evidence.observed[:, columns]
    weight = (1 - missing[columns]) / np.maximum(_propensities(evidence, columns), 1e-6)
    weight = np.where(observed, weight.clip(1 / MAX_WEIGHT, MAX_WEIGHT), 0)
    weights[:, columns] = weight / weight.sum(0) * observed.sum(0)
    return weights


def _propensities(evidence: Evidence, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probability that each of the columns is observed, given the rest of the row."""
    # Values are clipped, since an extreme value is no stronger reason for a missing one.
    rest = np.concatenate([evidence.values.clip(-3, 3), evidence.observed], axis=1, dtype=np.float32)
    step = max(1, len(rest) // MAX_ROWS)
    inputs, observed = torch.from_numpy(rest), torch.from_numpy(evidence.observed[:, columns]).float()
    own = torch.zeros(
        len(columns), rest.shape[1], dtype=torch.bool
    )  # inputs a column must not use: itself
    place = torch.from_numpy(columns)
    own.scatter_(1, torch.stack([place, place + evidence.n_variables], dim=1), True)
    weight, bias = _fit_logistic(inputs[::step], observed[::step], own)
    return torch.sigmoid(F.linear(inputs, weight, bias)).double().numpy()


def _fit_logistic(inputs: Tensor, observed: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
    """Logistic regressions of the columns ``observed`` [rows, n], all at once; ``own`` masks inputs."""
    bias = torch.logit(observed.mean(0), eps=1e-3)
    params = torch.cat([torch.zeros(own.shape), bias[:, None]], dim=1)
    moments, steps = (torch.zeros_like(params), torch.zeros_like(params)), torch.zeros(())
    for _ in range(N_ITERATIONS):
        free = params.clone().requires_grad_(True)
        with torch.enable_grad():
            weight = free[:, :-1]
            logits = F.linear(inputs, weight.masked_fill(own, 0), free[:, -1])
            fit = F.binary_cross_entropy_with_logits(logits, observed, reduction="sum")
            total = (fit + 0.5 * PENALTY * weight.square().sum()) / len(inputs)
        (gradient,) = torch.autograd.grad(total, free)
        adam_step(params, gradient, moments, steps, LEARNING_RATE)
    return params[:, :-1].masked_fill(own, 0), params[:, -1]
