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
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.heads import Head, Heads
from eddi.model.likelihood import Form
from eddi.model.network import Marginals, Network
from eddi.model.perceptron import Weights
from eddi.model.settled import Settled

N_POINTS = 5  # of the quadrature for a quantity: twice as many choose no better
LEAST_LEVEL = 1e-6  # beyond it float32 has no quantiles
MAX_LEVELS = 16  # a variable of more levels is met at points, as a quantity is


@dataclass(frozen=True)
class Answers:
    """Every answer that is gone through, those to one variable standing together."""

    values: Tensor  # [rows, answers] coded
    chances: Tensor  # [rows, answers] that add up to 1 for each variable


@dataclass(frozen=True)
class Layout:
    """Where the answers to each variable stand."""

    first: NDArray[np.int64]  # [variables]
    count: NDArray[np.int64]  # [variables]


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


@dataclass(frozen=True, eq=False)  # one is itself: it is a key by which things are kept
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

    def layout(self, n_points: int = N_POINTS) -> Layout:
        """Where the answers to each variable stand, with so many for a quantity."""
        return _layout(self, n_points)

    def answers(self, hidden: Tensor, n_points: int = N_POINTS) -> Answers:
        """Possible answers to every variable, for what the tail made of each row's code."""
        outputs = F.linear(hidden, *self.settled.marginal)  # type: ignore[misc]  # [rows, outputs]
        parts = [part(outputs) for part in _parts(self, n_points)]
        if len(parts) == 1:
            return Answers(*parts[0])
        values, chances = zip(*parts, strict=True)
        return Answers(torch.cat(values, dim=1), torch.cat(chances, dim=1))


@dataclass(frozen=True)
class _Levels:
    """Variables of few levels: their answers are the levels."""

    head: Head
    variables: list[int]
    counts: list[int]  # of levels
    cells: Tensor  # [answers] where the levels stand among the head's, which are padded to equal numbers
    values: Tensor  # [answers] the levels themselves

    @classmethod
    def of(
        cls, head: Head, places: list[int], counts: list[int], padded: int, device: torch.device
    ) -> "_Levels":
        found = zip(places, counts, strict=True)
        levels = [(place * padded + level, level) for place, count in found for level in range(count)]
        cells, values = torch.tensor(levels, device=device).T
        variables = [int(head.variables[place]) for place in places]
        return cls(head, variables, counts, cells, values.float())

    def __call__(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        chances = self.head.likelihood.probabilities(outputs[:, self.head.outputs])  # type: ignore[attr-defined]
        return self.values.expand(len(outputs), -1), chances.flatten(1).index_select(1, self.cells)


@dataclass(frozen=True)
class _Points:
    """Variables met at the points of a quadrature of their belief."""

    head: Head
    variables: list[int]
    counts: list[int]
    places: Tensor | None  # of these variables in their head; None: all of it
    level: Tensor  # [points, 1, 1] cumulative probability of each point
    weights: Tensor  # [answers]

    @classmethod
    def of(cls, head: Head, places: list[int], n_points: int, device: torch.device) -> "_Points":
        points, weights = _quadrature(n_points, device)
        whole = len(places) == len(head.variables)
        return cls(
            head=head,
            variables=[int(head.variables[place]) for place in places],
            counts=[n_points] * len(places),
            places=None if whole else torch.tensor(places, device=device),
            level=torch.special.ndtr(points).clamp(LEAST_LEVEL, 1 - LEAST_LEVEL)[:, None, None],
            weights=weights.repeat(len(places)),
        )

    def __call__(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        values = self.head.likelihood.quantile(outputs[:, self.head.outputs], self.level)
        values = values if self.places is None else values[..., self.places]  # [points, rows, n]
        return values.permute(1, 2, 0).flatten(1), self.weights.expand(len(outputs), -1)


def _has_few_levels(form: Form) -> bool:
    return form.kind.has_levels and form.n_levels <= MAX_LEVELS


@lru_cache(64)
def _parts(direct: Direct, n_points: int) -> list[_Levels | _Points]:
    """How the answers of each group of variables are come by."""
    forms, device = direct.marginals.forms, direct.settled.device
    parts: list[_Levels | _Points] = []
    for head in direct.marginals.heads():
        variables = head.variables.tolist()
        few = [place for place, each in enumerate(variables) if _has_few_levels(forms[each])]
        if few:
            counts = [forms[variables[place]].n_levels for place in few]
            padded = max(forms[each].n_levels for each in variables)
            parts.append(_Levels.of(head, few, counts, padded, device))
        if many := [place for place in range(len(variables)) if place not in few]:
            parts.append(_Points.of(head, many, n_points, device))
    return parts


@lru_cache(64)
def _layout(direct: Direct, n_points: int) -> Layout:
    parts = _parts(direct, n_points)
    variables = np.array([variable for part in parts for variable in part.variables])
    counts = np.array([count for part in parts for count in part.counts])
    first, count = np.zeros_like(counts), np.zeros_like(counts)
    count[variables] = counts
    first[variables] = counts.cumsum() - counts
    return Layout(first, count)


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
