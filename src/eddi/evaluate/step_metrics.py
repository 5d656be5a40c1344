"""Compare predictions of the target with the truth at one step of a simulation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.network.heads import log_mean_exp
from eddi.model.survival_curve import SurvivalCurve
from eddi.table.evidence import Evidence
from eddi.table.survival.survival import Survival
from eddi.table.variable import Kind

Numbers = NDArray[np.float64]
MIN_PROBABILITY = 1e-30  # of a level whose probability underflows in the paper's Gaussian coding


@dataclass(frozen=True)
class StepMetrics:
    """Predictions of one target against its truth. `Curves` describes the fields and adds a step axis."""

    mean: Numbers  # [rows]
    draw_squares: Numbers  # [rows]
    log_prob: Numbers  # [rows]
    probabilities: Numbers | None  # [rows, levels]
    rank: Numbers | None  # [rows]
    covered: NDArray[np.bool_] | None  # [rows]
    bin_probabilities: Numbers | None = None  # [rows, bins]

    @classmethod
    def stack(cls, steps: Sequence["StepMetrics"]) -> dict[str, Any]:
        """The fields of consecutive steps by name, stacked along a new second axis."""
        return _combine(steps, lambda arrays: np.stack(arrays, axis=1))

    @classmethod
    def concatenate(cls, chunks: Sequence["StepMetrics"]) -> "StepMetrics":
        """Consecutive chunks of rows as one."""
        return cls(**_combine(chunks, np.concatenate))

    def split(self, n: int) -> "list[StepMetrics]":
        """``n`` chunks of equally many consecutive rows: the inverse of `concatenate`."""
        parts: dict[str, list[Any]] = {
            name: [None] * n
            if array is None
            else list(array.reshape(n, len(array) // n, *array.shape[1:]))
            for name, array in vars(self).items()
        }
        return [StepMetrics(**{name: part[place] for name, part in parts.items()}) for place in range(n)]


def _combine(parts: Sequence[StepMetrics], combine: Callable[[list[Any]], Any]) -> dict[str, Any]:
    columns = {
        field.name: [getattr(part, field.name) for part in parts] for field in fields(StepMetrics)
    }
    return {name: None if arrays[0] is None else combine(arrays) for name, arrays in columns.items()}


@torch.no_grad()
def compute_step_metrics(model: Model, evidence: Evidence, truth: Evidence, target: str) -> StepMetrics:
    """Predict the target from ``evidence`` and compare it with ``truth``.

    Predictions equal those of `Model.predict_evidence`, including the draws, except that its predictions
    are less certain after an extreme value. Rows whose target is not observed get arbitrary values, which
    `Curves` ignores.
    """
    chunks, start = [], 0
    variables = [model.schema.position(target)]
    for predictive in model.predictive_distributions(evidence, variables=variables):
        stop = start + predictive.n_rows
        chunks.append(_TargetMetrics(model, predictive, target).compute(truth[start:stop]))
        start = stop
    return StepMetrics.concatenate(chunks)


def compute_joint_metrics(
    model: Model, steps: Sequence[Evidence], truth: Evidence, target: str
) -> list[StepMetrics]:
    """The metrics of several steps of the same rows, from one pass through the model."""
    if len(steps) == 1:
        return [compute_step_metrics(model, steps[0], truth, target)]
    joint = compute_step_metrics(model, Evidence.concatenate(steps), truth.repeat(len(steps)), target)
    return joint.split(len(steps))


class _TargetMetrics:
    """Metrics of the target's part of a predictive distribution."""

    def __init__(self, model: Model, predictive: PredictiveDistribution, target: str) -> None:
        self.model, self.variable = model, model.schema[target]
        self.position = model.schema.position(target)
        (self.place,) = predictive.places([self.position])
        self.predictive = predictive
        self.coded_kind = predictive.heads.specs[self.place].kind  # the paper codes levels as real
        self.head, self.column = predictive.heads.head_of(self.place)
        self.outputs = predictive.outputs[..., self.head.outputs]  # [draws, rows, outputs]

    def compute(self, truth: Evidence) -> StepMetrics:
        places = self.head.variables.tolist()
        positions = self.predictive.positions
        own = places if positions is None else [positions[place] for place in places]
        values = torch.from_numpy(truth.values[:, own]).to(self.outputs.device)
        true = torch.from_numpy(true_numbers(self.model, truth, self.variable.name)).to(values.device)
        means = self.head.likelihood.moments(self.outputs)[0][..., self.column].double()
        log_prob = log_mean_exp(self.head.likelihood.log_prob(self.outputs, values))[:, self.column]
        if self.variable.survival is not None:
            return self._compare_times(self.variable.survival, log_prob)
        if self.variable.kind.has_levels:
            return self._compare_levels(means, true, log_prob)
        rank, covered = self._rank(values, log_prob)
        # The density in the table's units is the coded one over the scale. Probabilities of counts stay.
        scale = self.model.coding.scale[self.position] if self.coded_kind is Kind.REAL else 1.0
        return StepMetrics(
            mean=_to_numpy(means.mean(0)),
            draw_squares=_to_numpy((means - true).square().mean(0)),
            log_prob=_to_numpy(log_prob) - np.log(scale),
            probabilities=None,
            rank=rank,
            covered=covered,
        )

    def _compare_levels(self, means: Tensor, true: Tensor, log_prob: Tensor) -> StepMetrics:
        draw_probabilities = self._draw_probabilities()  # [draws, rows, levels]
        true_level = true.long()
        probabilities = draw_probabilities.mean(0)
        if self.coded_kind is Kind.REAL:  # log_prob is a density, not the log-probability of the level
            probability = probabilities.gather(-1, true_level[:, None])[:, 0]
            log_prob = probability.clamp(min=MIN_PROBABILITY).log()
        if self.variable.kind is Kind.CATEGORY:
            one_hot = torch.nn.functional.one_hot(true_level, self.variable.n_levels)
            squares = (draw_probabilities - one_hot).square().sum(-1).mean(0) / 2
            mean = torch.full_like(squares, torch.nan)
        else:
            squares, mean = (means - true).square().mean(0), means.mean(0)
        return StepMetrics(
            mean=_to_numpy(mean),
            draw_squares=_to_numpy(squares),
            log_prob=_to_numpy(log_prob),
            probabilities=_to_numpy(probabilities),
            rank=None,
            covered=None,
        )

    def _compare_times(self, survival: Survival, log_prob: Tensor) -> StepMetrics:
        probabilities = _to_numpy(self._draw_probabilities().mean(0))
        mean = SurvivalCurve(np.array(survival.edges), probabilities).restricted_mean()
        return StepMetrics(
            mean=mean,
            draw_squares=np.full(len(mean), np.nan),
            log_prob=_to_numpy(log_prob),
            probabilities=None,
            rank=None,
            covered=None,
            bin_probabilities=probabilities,
        )

    def _draw_probabilities(self) -> Tensor:
        """Probabilities of the target's levels for each draw [draws, rows, levels]."""
        n_draws, n_rows, _ = self.predictive.outputs.shape
        # Draws become rows of a distribution with one draw, so that they are not averaged.
        flat = replace(self.predictive, outputs=self.predictive.outputs.flatten(0, 1)[None])
        probabilities = next(values for k, values in flat.probabilities() if k == self.place)
        return probabilities.view(n_draws, n_rows, -1).double()

    def _rank(self, values: Tensor, log_prob: Tensor) -> tuple[Numbers, NDArray[np.bool_]]:
        """Predicted probability below the truth, and whether the 90% interval contains the truth."""
        cdf = self.head.likelihood.cdf(self.outputs, values.expand(len(self.outputs), -1, -1))
        at_most = _to_numpy(cdf[..., self.column].mean(0))
        exactly = _to_numpy(log_prob.exp()) if self.coded_kind is Kind.COUNT else 0.0
        tail_mass = _to_numpy(self.predictive.tail_mass[:, self.place])
        covered = (at_most >= tail_mass) & (at_most - exactly < 1 - tail_mass)
        return at_most - exactly / 2, covered


def true_numbers(model: Model, truth: Evidence, target: str) -> Numbers:
    """The target in the table's own numbers [rows]; arbitrary where it is not observed."""
    numbers = model.coding.decode(truth.values)[:, model.schema.position(target)]
    # Integers are only approximately recovered from their float32 coding.
    kind = model.schema[target].kind
    return numbers if kind in (Kind.REAL, Kind.SURVIVAL) else np.rint(numbers)


def _to_numpy(tensor: Tensor) -> Numbers:
    return np.asarray(tensor.double().cpu().numpy())
