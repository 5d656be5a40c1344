"""Regressions of targets with levels on the factors, mixed with the predictions of network and factors.

A logistic regression (`network.factors.level_regression`) has few parameters and one penalty. Where a class
is decided by a sum of answers, it needs far fewer rows than a network; on other tables it is worse. The
logits of a target are therefore a weighted mean of both, as in stacking (Wolpert 1992). The rows that
calibration uses determine the penalty and the weight: the penalty is the one with the highest likelihood,
and the weight is its posterior mean under a uniform prior. If these rows tell little, the weight is about
one half, which is better on most tables than either prediction alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.factors.hazard_regression import find_directions
from eddi.model.network.factors.level_regression import LevelRegression, LevelRows
from eddi.model.network.heads import Heads
from eddi.model.network.network import Network
from eddi.model.training.objective import Batch
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

PENALTIES = (128.0, 32.0, 8.0, 2.0, 0.5, 0.1)  # of squared weights of standardised variables
SHARES = torch.linspace(0, 1, 11, dtype=torch.float64)  # of the regression
VIEWS_PER_ROW = 4.0  # a row with different parts hidden tells as much as so many rows
MIN_SHARE = 0.05  # smaller ones change predictions little, and cost time
MIN_ROWS = 10  # with a known level
MAX_ROWS = 2_000  # with more, a network needs no help
MAX_LEVELS = 10  # the time of a Newton step grows with their cube


@dataclass(frozen=True)
class HeldOutTargets:
    """Training rows of a network, and rows that it was not trained on, with parts hidden."""

    network: Network
    training_rows: Evidence
    weights: NDArray[np.float32] | None  # [training rows]; 1 if None
    batch: Batch  # the held-out rows, repeated with different parts hidden


@dataclass(frozen=True)
class _Part:
    """What one network's regressions of a target learn from, and what they are judged by."""

    rows: LevelRows
    held_out: FactorPosterior

    @classmethod
    def from_held_out(cls, part: HeldOutTargets, target: int, ignored: Sequence[int]) -> "_Part | None":
        rows = select_rows(part.network, part.training_rows, part.weights, target, ignored)
        observed = part.batch.observed.clone()
        observed[:, [target, *ignored]] = 0
        held_out = _posterior(part.network, part.batch.values * observed, observed)
        return None if rows is None else cls(rows, held_out)


@dataclass(frozen=True)
class RegressionChoice:
    """A regression that makes predictions of a target better, and the likelihood of held-out rows."""

    regression: LevelRegression | None
    log_likelihood: float


def add_regressions(
    network: Network,
    rows: Evidence,
    weights: NDArray[np.float32] | None,
    *,
    held_out: Sequence[HeldOutTargets],
    outputs: Tensor,
    entry_weights: Tensor,
    targets: Sequence[int],
    ignored: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, RegressionChoice]:
    """Mix a regression into the predictions of each target with levels, as far as it makes them better.

    Args:
        network: gets the regressions, fitted to ``rows`` with these ``weights``.
        held_out: rows with predictions, by the network itself or those of the folds.
        outputs: these predictions, calibrated [all held-out rows, outputs].
        entry_weights: of the entries of these rows; 0 where the value was visible [all rows, variables].
        targets: positions; those that `find_level_targets` does not return are passed over.
        ignored: variables that predictions of a target do not see, by target.

    Returns:
        The choice for each target with levels.
    """
    marginals, choices = network.marginals, {}
    for target in find_level_targets(network, targets):
        assert marginals is not None  # noqa: S101  # there are targets
        own_ignored = (ignored or {}).get(target, ())
        values = torch.cat([part.batch.values for part in held_out])[:, [target]]
        predictions = _Predictions(
            marginals.subset([target]).cpu(),
            outputs[:, marginals.output_rows([target])].cpu().double(),
            values.cpu().double(),
            entry_weights[:, target].cpu().double(),
            is_binary=network.specs[target].kind is Kind.BINARY,
        )
        parts = [_Part.from_held_out(part, target, own_ignored) for part in held_out]
        known = [part for part in parts if part is not None]
        final = select_rows(network, rows, weights, target, own_ignored)
        is_possible = final is not None and len(known) == len(parts)
        choices[target] = predictions.choose(known if is_possible else [], final)
        marginals.set_regression(target, choices[target].regression)
    return choices


def find_level_targets(network: Network, targets: Sequence[int]) -> list[int]:
    """The targets that can have a regression: with a few levels, in a network with factors."""
    if network.marginals is None or not network.n_factors:
        return []
    specs = network.specs
    return [t for t in targets if specs[t].kind.has_levels and 1 < specs[t].n_levels <= MAX_LEVELS]


def select_rows(
    network: Network,
    rows: Evidence,
    weights: NDArray[np.float32] | None,
    target: int,
    ignored: Sequence[int] = (),
) -> LevelRows | None:
    """The rows with a known level of the target, evenly spaced if there are many; None if there are few."""
    known = np.flatnonzero(rows.observed[:, target])
    known = known[:: 1 + len(known) // MAX_ROWS]
    factors = network.set_encoder.factors
    if len(known) < MIN_ROWS or factors is None:
        return None
    own = rows[known]
    observed = torch.from_numpy(own.observed).float()
    observed[:, [target, *ignored]] = 0
    values = torch.from_numpy(own.values)
    row_weights = np.ones(len(own)) if weights is None else weights[known]
    if own.groups is not None:  # all rows of a person count as one
        row_weights = row_weights * (own.n_groups / len(own))
    return LevelRows.from_factors(
        _posterior(network, values * observed, observed),
        values[:, target],
        torch.as_tensor(row_weights),
        n_levels=network.specs[target].n_levels,
        root=find_directions(factors.pack()).cpu(),
    )


@torch.no_grad()
def _posterior(network: Network, values: Tensor, observed: Tensor) -> FactorPosterior:
    """The factors given values [rows, variables], zero where not ``observed``; on the CPU."""
    factors = network.set_encoder.factors
    assert factors is not None  # noqa: S101  # callers check
    packed, device = factors.pack(), factors.mean.device
    posterior = packed.posterior(packed.code(values.to(device), observed.to(device)))
    return FactorPosterior(posterior.mean.cpu(), posterior.covariance.cpu())


@dataclass(frozen=True)
class _Predictions:
    """Predictions of held-out rows by the network, which those of a regression are mixed with."""

    heads: Heads  # of the target alone
    outputs: Tensor  # [masked rows, outputs of the target]
    values: Tensor  # [masked rows, 1]
    weights: Tensor  # [masked rows]
    is_binary: bool

    @torch.no_grad()
    def choose(self, parts: Sequence[_Part], final: LevelRows | None) -> RegressionChoice:
        """The regression of the ``final`` rows with the best penalty and share; none if it adds nothing."""
        without = RegressionChoice(None, float(self._log_likelihoods(self.outputs, torch.zeros(1))[0]))
        if final is None or not parts or not self.weights.any():
            return without
        params, own = [part.rows.start() for part in parts], final.start()
        best, choice = -math.inf, without
        for penalty in PENALTIES:  # each starts from the last result
            params = [part.rows.fit(penalty, start) for part, start in zip(parts, params, strict=True)]
            own = final.fit(penalty, own)
            logits = self._predict(parts, params)
            likelihoods = VIEWS_PER_ROW * self._log_likelihoods(logits, SHARES)
            share = (SHARES * likelihoods.softmax(0)).sum()
            if (evidence := float(likelihoods.logsumexp(0))) > best:  # not if it is NaN
                best = evidence
                regression = final.regression(own, is_binary=self.is_binary)
                regression = replace(regression, share=regression.share * float(share))
                choice = RegressionChoice(
                    regression, float(self._log_likelihoods(logits, share[None])[0])
                )
        is_used = choice.regression is not None and float(choice.regression.share[0]) >= MIN_SHARE
        return choice if is_used else without

    def _predict(self, parts: Sequence[_Part], params: Sequence[Tensor]) -> Tensor:
        """The logits of the regressions for the held-out rows [masked rows, outputs]."""
        logits = [
            part.rows.regression(own, is_binary=self.is_binary).logits(part.held_out)
            for part, own in zip(parts, params, strict=True)
        ]
        return torch.cat(logits).double()

    def _log_likelihoods(self, logits: Tensor, shares: Tensor) -> Tensor:
        """The log-likelihood of the held-out rows for each share of the regression [shares]."""
        mixed = self.outputs + shares[:, None, None] * (logits - self.outputs)  # [shares, rows, outputs]
        log_probs = self.heads.log_prob(mixed, self.values.expand(len(shares), -1, -1))
        return (log_probs[..., 0] * self.weights).sum(-1)
