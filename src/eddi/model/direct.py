"""What the direct beliefs offer to a reward: possible answers with their chances, and what each tells.

An answer need not be drawn where its own distribution is at hand: a variable of few levels is summed
over, a quantity, or one of many levels, is met at the points of a Gaussian quadrature of its belief.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.heads import Head, Heads
from eddi.model.likelihood import Form, LevelLikelihood
from eddi.model.network import Marginals, Network
from eddi.model.perceptron import Weights
from eddi.model.settled import Settled

N_POINTS = 8  # of the quadrature for a quantity
MAX_LEVELS = 16  # a variable of more levels is met at points, as a quantity is


@dataclass(frozen=True)
class Answers:
    """Possible answers to some variables that have equally many."""

    variables: Tensor  # [n] positions
    values: Tensor  # [options, rows, n] coded
    chances: Tensor  # [options, rows, n]


@dataclass(frozen=True)
class Told:
    """The direct beliefs about a target alone: its rows of the layer, and its likelihoods."""

    heads: Heads
    layer: Weights

    def __call__(self, hidden: Tensor) -> Tensor:
        """Outputs [..., outputs of the target] for what the tail made of a code."""
        return F.linear(hidden, *self.layer)

    def kl(self, after: Tensor, before: Tensor) -> Tensor:
        """KL(after || before) in nats, summed over the target's variables."""
        return self.kl_each(after, before).sum(-1)

    def kl_each(self, after: Tensor, before: Tensor) -> Tensor:
        """The same of each variable [..., target], those of a kind together as the heads have them."""
        parts = [
            head.likelihood.kl(after[..., head.outputs], before[..., head.outputs])  # type: ignore[attr-defined]
            for head in self.heads.heads()
        ]
        return torch.cat(parts, dim=-1)


@dataclass(frozen=True)
class Direct:
    """The direct beliefs of a network at rest."""

    marginals: Marginals
    settled: Settled

    @classmethod
    def of(cls, network: Network, settled: Settled) -> "Direct | None":
        return None if network.marginals is None else cls(network.marginals, settled)

    def hidden(self, code: Tensor) -> Tensor:
        """What the tail makes of a code [..., last hidden width]."""
        return self.settled.hidden(code)

    def told(self, target: Sequence[int]) -> Told:
        """The beliefs about these variables alone."""
        return _told(self, tuple(target))

    def n_options(self, n_points: int = N_POINTS) -> dict[int, int]:
        """How many answers are gone through for each variable, by position."""
        return {
            variable: form.n_levels if _has_few_levels(form) else n_points
            for variable, form in enumerate(self.marginals.forms)
        }

    def answers(self, hidden: Tensor, n_points: int = N_POINTS) -> dict[int, Answers]:
        """Possible answers to every variable, by their number."""
        outputs = self.marginals(hidden)  # [rows, outputs]
        found: dict[int, list[Answers]] = {}
        for head in self.marginals.heads():
            part = outputs[:, head.outputs]
            few = [_has_few_levels(self.marginals.forms[each]) for each in head.variables.tolist()]
            if isinstance(head.likelihood, LevelLikelihood) and any(few):
                for each in self._levels(head.variables, head.likelihood.probabilities(part)):
                    found.setdefault(len(each.values), []).append(each)
            if not all(few):
                many = torch.tensor([not each for each in few], device=part.device)
                found.setdefault(n_points, []).append(self._points(head, part, many, n_points))
        return {n: _joined(some) for n, some in found.items()}

    def _points(self, head: Head, outputs: Tensor, which: Tensor, n_points: int) -> Answers:
        """The points of the quadrature for some variables of a head."""
        points, weights = _quadrature(n_points, outputs.device)
        level = torch.special.ndtr(points)[:, None, None].expand(-1, len(outputs), len(head.variables))
        values = head.likelihood.quantile(outputs[None], level)[..., which]
        return Answers(head.variables[which], values, weights[:, None, None].expand_as(values))

    def _levels(self, variables: Tensor, chances: Tensor) -> list[Answers]:
        """Each variable of few levels: its levels, with the chances [rows, n, most levels] they have."""
        found = []
        for place, variable in enumerate(variables.tolist()):
            n = self.marginals.forms[variable].n_levels
            if _has_few_levels(self.marginals.forms[variable]):
                its = chances[:, place, :n].T[..., None]  # [levels, rows, 1]
                level = torch.arange(n, dtype=its.dtype, device=its.device)[:, None, None]
                found.append(Answers(variables[place : place + 1], level.expand_as(its), its))
        return found


def _has_few_levels(form: Form) -> bool:
    return form.kind.has_levels and form.n_levels <= MAX_LEVELS


def _joined(some: list[Answers]) -> Answers:
    return Answers(
        torch.cat([each.variables for each in some]),
        torch.cat([each.values for each in some], dim=-1),
        torch.cat([each.chances for each in some], dim=-1),
    )


@lru_cache(8)
def _quadrature(n_points: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Points and weights for the mean of a function of a standard normal number (Gauss-Hermite)."""
    points, weights = np.polynomial.hermite_e.hermegauss(n_points)
    weights = weights / weights.sum()
    return tuple(torch.tensor(each, dtype=torch.float32, device=device) for each in (points, weights))  # type: ignore[return-value]


@lru_cache(64)
def _told(direct: Direct, target: tuple[int, ...]) -> Told:
    marginals = direct.marginals
    heads = marginals.alone(target).to(direct.settled.device)
    rows: list[int] = []
    for head in heads.heads():
        wanted = [target[place] for place in head.variables.tolist()]
        rows += marginals.rows_of(wanted)
    weight, bias = direct.settled.marginal  # type: ignore[misc]
    chosen = torch.tensor(rows, device=weight.device)
    return Told(heads, (weight[chosen], bias[chosen]))
