"""How a belief about the target stands against the truth, one step at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.network.heads import log_mean_exp
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

Numbers = NDArray[np.float64]
LEAST_CHANCE = 1e-30  # of a level that a Gaussian, coding levels as numbers, rules out


@dataclass(frozen=True)
class Measured:
    """Beliefs about one target against its truth; see `Curves`, which has a step axis besides."""

    mean: Numbers  # [rows]
    draw_squares: Numbers  # [rows]
    log_prob: Numbers  # [rows]
    probabilities: Numbers | None  # [rows, levels]
    rank: Numbers | None  # [rows]
    covered: NDArray[np.bool_] | None  # [rows]

    @classmethod
    def stack(cls, parts: Sequence["Measured"], axis: int) -> dict[str, Any]:
        """The fields of several, by name, side by side along a new axis."""
        return {name: _combined(parts, name, lambda each: np.stack(each, axis)) for name in _names()}

    @classmethod
    def concatenate(cls, parts: Sequence["Measured"]) -> "Measured":
        """Consecutive chunks of rows as one."""
        return cls(**{name: _combined(parts, name, np.concatenate) for name in _names()})


def _names() -> list[str]:
    return [field.name for field in fields(Measured)]


def _combined(parts: Sequence[Measured], name: str, combine: Any) -> Any:
    each = [getattr(part, name) for part in parts]
    return None if each[0] is None else combine(each)


@torch.no_grad()
def measure(model: Model, seen: Evidence, truth: Evidence, target: str) -> Measured:
    """What ``seen`` makes the model believe of the target, against what is true of it.

    The belief is that of `Model.predict`, draw for draw. Rows whose target nobody knows are
    measured against nothing in particular; `Curves` leaves them out.
    """
    parts, start = [], 0
    for belief in model.predictive_distributions(seen):
        stop = start + belief.n_rows
        parts.append(_Target(model, belief, target).measured(truth[start:stop]))
        start = stop
    return Measured.concatenate(parts)


class _Target:
    """The target's share of the beliefs of some rows."""

    def __init__(self, model: Model, belief: PredictiveDistribution, target: str) -> None:
        self.model, self.variable = model, model.schema[target]
        self.position = model.schema.position(target)
        self.form = belief.heads.specs[self.position]
        self.belief = belief
        self.head, self.place = belief.heads.head_of(self.position)
        self.outputs = belief.outputs[..., self.head.outputs]  # [draws, rows, outputs]

    def measured(self, truth: Evidence) -> Measured:
        values = torch.from_numpy(truth.values).to(self.outputs.device)[:, self.head.variables]
        true = torch.from_numpy(actual(self.model, truth, self.variable.name)).to(values.device)
        means = self.head.likelihood.moments(self.outputs)[0][..., self.place].double()
        log_prob = log_mean_exp(self.head.likelihood.log_prob(self.outputs, values))[:, self.place]
        if self.variable.kind.has_levels:
            return self._of_levels(means, true, log_prob)
        squares = (means - true).square().mean(0)
        rank, covered = self._rank(values, log_prob)
        # A density in the table's units is the coded one over the scale; a probability is as it is.
        scale = self.model.coding.scale[self.position] if self.form.kind is Kind.REAL else 1.0
        return Measured(
            _numpy(means.mean(0)), _numpy(squares), _numpy(log_prob) - np.log(scale), None, rank, covered
        )

    def _of_levels(self, means: Tensor, true: Tensor, log_prob: Tensor) -> Measured:
        chances = self._level_chances()  # [draws, rows, levels]
        level = true.long()
        probabilities = chances.mean(0)
        if self.form.kind is Kind.REAL:  # the paper's coding: a density, not the level's probability
            chance = probabilities.gather(-1, level[:, None])[:, 0]
            log_prob = chance.clamp(min=LEAST_CHANCE).log()
        if self.variable.kind is Kind.CATEGORY:
            sure = torch.nn.functional.one_hot(level, self.variable.n_levels)
            squares = (chances - sure).square().sum(-1).mean(0) / 2
            mean = torch.full_like(squares, torch.nan)
        else:
            squares, mean = (means - true).square().mean(0), means.mean(0)
        return Measured(
            _numpy(mean), _numpy(squares), _numpy(log_prob), _numpy(probabilities), None, None
        )

    def _level_chances(self) -> Tensor:
        """Each draw's probabilities of the target's levels [draws, rows, levels]."""
        n_draws, n_rows, _ = self.belief.outputs.shape
        # A belief of one draw and draws times as many rows names the chances of each draw.
        apart = replace(self.belief, outputs=self.belief.outputs.flatten(0, 1)[None])
        chances = next(found for variable, found in apart.probabilities() if variable == self.position)
        return chances.view(n_draws, n_rows, -1).double()

    def _rank(self, values: Tensor, log_prob: Tensor) -> tuple[Numbers, NDArray[np.bool_]]:
        """The share of the belief below the truth, and whether the truth is in the 90% interval."""
        reached = self.head.likelihood.cdf(self.outputs, values.expand(len(self.outputs), -1, -1))
        at_most = _numpy(reached[..., self.place].mean(0))
        exactly = _numpy(log_prob.exp()) if self.form.kind is Kind.COUNT else 0.0
        low = _numpy(self.belief.tail_mass[:, self.position])
        high = 1 - low
        return at_most - exactly / 2, (at_most >= low) & (at_most - exactly < high)


def actual(model: Model, truth: Evidence, target: str) -> Numbers:
    """What is true of the target in the table's own numbers [rows]; anything where nobody knows."""
    numbers = model.coding.decode(truth.values)[:, model.schema.position(target)]
    # A whole number that was coded in float32 comes back close to one.
    return numbers if model.schema[target].kind is Kind.REAL else np.rint(numbers)


def _numpy(tensor: Tensor) -> Numbers:
    return np.asarray(tensor.double().cpu().numpy())
