"""Regressions of targets with levels on the factors, mixed with the predictions of network and factors.

A logistic regression (`network.factors.level_regression`) has few parameters and one penalty. Where a class
is decided by a sum of answers, it needs far fewer rows than a network; on other tables it is worse. The
logits of a target are therefore a weighted mean of both, as in stacking (Wolpert 1992). The rows that
calibration uses determine the penalty and the weight: the weight is its posterior mean under a uniform
prior, and the penalty is the one with the highest likelihood, averaged over the weights. If these rows tell
little, the weight is about one half, which is better on most tables than either prediction alone. If they
give the regression a small weight, it is not used.
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
from eddi.model.training.calibration import CalibrationData
from eddi.model.training.extra_rows import ExtraRows, weigh_rows
from eddi.model.training.objective import Batch
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

PENALTIES = (128.0, 32.0, 8.0, 2.0, 0.5, 0.1)  # of squared weights of standardised variables
MIXING_WEIGHTS = torch.linspace(0, 1, 11, dtype=torch.float64)  # of the regression
LIKELIHOOD_POWER = 4.0  # a held-out row counts as four, since it is predicted with many different masks
MIN_WEIGHT = 0.25  # of a regression that is used: a smaller one made no prediction better
MIN_ROWS = 10  # with a known level, for a regression
MAX_ROWS = 2_000  # that a regression is fitted to
MAX_LEVELS = 10  # the time of a Newton step grows with their cube


@dataclass(frozen=True)
class TrainingRows:
    """Rows that a network was trained on, and how many rows each of them counts as."""

    evidence: Evidence
    weights: NDArray[np.float32] | None = None  # [rows]; 1 if None

    @classmethod
    def join(cls, evidence: Evidence, extra: ExtraRows | None, targets: Sequence[int]) -> "TrainingRows":
        """The rows of a table and the extra ones, as a network is trained on them."""
        return cls(*weigh_rows(evidence, extra and extra.complete(evidence, targets)))


@dataclass(frozen=True)
class HeldOutRows:
    """Rows that a network was not trained on, with parts hidden."""

    network: Network
    training_rows: TrainingRows
    batch: Batch  # the held-out rows, repeated with different parts hidden
    n_rows: int  # before they were repeated

    def predict(self, ignored: Mapping[int, Sequence[int]] | None = None) -> CalibrationData:
        """The network's predictions of them, by network and factors."""
        return CalibrationData.from_batch(self.network, self.batch, self.n_rows, ignored=ignored)


@dataclass(frozen=True)
class RegressionChoice:
    """The regression that makes predictions of a target better, if any.

    Args:
        regression: of the network itself; None for no regression.
        of_parts: those of the networks with held-out rows, in their order; empty without a regression.
        log_likelihood: of the held-out rows, with the regression.
    """

    regression: LevelRegression | None
    of_parts: tuple[LevelRegression, ...]
    log_likelihood: float


def find_level_targets(network: Network, targets: Sequence[int]) -> list[int]:
    """The targets that can have a regression: with a few levels, in a network with factors."""
    if network.marginals is None or not network.n_factors:
        return []
    specs = network.specs
    return [t for t in targets if specs[t].kind.has_levels and 1 < specs[t].n_levels <= MAX_LEVELS]


def add_regressions(
    network: Network,
    rows: TrainingRows,
    *,
    held_out: Sequence[HeldOutRows],
    data: CalibrationData,
    outputs: Tensor,
    targets: Sequence[int],
    ignored: Mapping[int, Sequence[int]] | None = None,
) -> dict[int, RegressionChoice]:
    """Mix a regression into the predictions of each target with levels, as far as it makes them better.

    Args:
        network: gets the regressions, fitted to ``rows``. So do the networks with held-out rows, for
            measures of quality.
        rows: that the network was trained on.
        held_out: with predictions by the network itself, or by those of the folds.
        data: these predictions.
        outputs: the same, calibrated [all held-out rows, outputs].
        targets: positions of all declared targets; see `find_level_targets`.
        ignored: variables that predictions of a target do not see, by target.

    Returns:
        The choice for each target with levels.
    """
    marginals, choices = network.marginals, {}
    weights = data.entry_weights()
    for target in find_level_targets(network, targets):
        assert marginals is not None  # noqa: S101  # there are targets
        hidden = [*targets, *(ignored or {}).get(target, ())]
        predictions = _Predictions(
            marginals.subset([target]).cpu(),
            outputs[:, marginals.output_rows([target])].cpu().double(),
            data.values[:, [target]].cpu().double(),
            weights[:, target].cpu().double(),
            is_binary=network.specs[target].kind is Kind.BINARY,
        )
        parts = [_Part.from_held_out(own, target, hidden) for own in held_out]
        known = [part for part in parts if part is not None]
        is_own = held_out[0].network is network  # not that of a fold
        final = known[0].rows if is_own and known else select_rows(network, rows, target, hidden)
        choice = predictions.choose(known if len(known) == len(parts) else [], final)
        choices[target] = choice
        for own, regression in zip(held_out, choice.of_parts or [None] * len(held_out), strict=True):
            assert own.network.marginals is not None  # noqa: S101  # like the network itself
            own.network.marginals.set_level_regression(target, regression)
        marginals.set_level_regression(target, choice.regression)
    return choices


def select_rows(
    network: Network, rows: TrainingRows, target: int, hidden: Sequence[int]
) -> LevelRows | None:
    """At most MAX_ROWS rows with a known level of the target; None if there are fewer than MIN_ROWS.

    The regression does not see the ``hidden`` variables, such as the target itself.
    """
    known = np.flatnonzero(rows.evidence.observed[:, target])
    factors = network.set_encoder.factors
    if len(known) < MIN_ROWS or factors is None:
        return None
    if len(known) > MAX_ROWS:
        known = np.sort(np.random.default_rng(0).choice(known, MAX_ROWS, replace=False))
    own = rows.evidence[known]
    observed = torch.from_numpy(own.observed).float()
    observed[:, list(hidden)] = 0
    values = torch.from_numpy(own.values)
    weights = np.ones(len(own)) if rows.weights is None else rows.weights[known]
    if own.groups is not None:  # all rows of a person count as one
        weights = weights * (own.n_groups / len(own))
    return LevelRows.from_factors(
        _find_factors(network, values * observed, observed),
        values[:, target],
        torch.as_tensor(weights),
        n_levels=network.specs[target].n_levels,
        root=find_directions(factors.pack(), excluded=hidden).cpu(),
    )


@torch.no_grad()
def _find_factors(network: Network, values: Tensor, observed: Tensor) -> FactorPosterior:
    """The factors given values [rows, variables], zero where not ``observed``; on the CPU."""
    factors = network.set_encoder.factors
    assert factors is not None  # noqa: S101  # callers check
    packed, device = factors.pack(), factors.mean.device
    posterior = packed.posterior(packed.code(values.to(device), observed.to(device)))
    return FactorPosterior(posterior.mean.cpu(), posterior.covariance.cpu())


@dataclass(frozen=True)
class _Part:
    """What one network's regressions of a target learn from, and what they are judged by."""

    rows: LevelRows
    held_out: FactorPosterior

    @classmethod
    def from_held_out(cls, part: HeldOutRows, target: int, hidden: Sequence[int]) -> "_Part | None":
        rows = select_rows(part.network, part.training_rows, target, hidden)
        observed = part.batch.observed.clone()
        observed[:, list(hidden)] = 0
        held_out = _find_factors(part.network, part.batch.values * observed, observed)
        return None if rows is None else cls(rows, held_out)


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
        """The regression of the ``final`` rows with the best penalty and weight; none if it adds nothing."""
        without = RegressionChoice(
            None, (), float(self._log_likelihoods(self.outputs, torch.zeros(1))[0])
        )
        if final is None or not parts or not self.weights.any():
            return without
        all_rows = [final, *(part.rows for part in parts if part.rows is not final)]
        params = [rows.start() for rows in all_rows]
        best, choice = -math.inf, without
        for penalty in PENALTIES:  # each starts from the last result
            params = [rows.fit(penalty, own) for rows, own in zip(all_rows, params, strict=True)]
            regressions = [
                rows.regression(own, is_binary=self.is_binary)
                for rows, own in zip(all_rows, params, strict=True)
            ]
            of_parts = regressions[-len(parts) :]
            logits = torch.cat(
                [own.logits(part.held_out) for own, part in zip(of_parts, parts, strict=True)]
            ).double()
            likelihoods = LIKELIHOOD_POWER * self._log_likelihoods(logits, MIXING_WEIGHTS)
            if (evidence := float(likelihoods.logsumexp(0))) > best:  # not if it is NaN
                best = evidence
                weight = (MIXING_WEIGHTS * likelihoods.softmax(0)).sum()
                own, *others = [replace(r, mixing_weight=weight * r.mixing_weight) for r in regressions]
                log_likelihood = float(self._log_likelihoods(logits, weight[None])[0])
                choice = RegressionChoice(own, tuple(others or [own]), log_likelihood)
        is_used = choice.regression is not None and choice.regression.mixing_weight[0] >= MIN_WEIGHT
        return choice if is_used else without

    def _log_likelihoods(self, logits: Tensor, mixing_weights: Tensor) -> Tensor:
        """The log-likelihood of the held-out rows for each weight of the regression [weights]."""
        mixed = self.outputs + mixing_weights[:, None, None] * (logits - self.outputs)
        log_probs = self.heads.log_prob(mixed, self.values.expand(len(mixing_weights), -1, -1))
        return (log_probs[..., 0] * self.weights).sum(-1)
