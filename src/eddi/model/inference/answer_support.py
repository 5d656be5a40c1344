"""The possible answers to every variable, with their probabilities under the marginal predictions.

An answer need not be drawn if its distribution is discrete: the reward enumerates all levels of a
variable, and all atoms of a quantity (see `network.atoms`). To save time, neighbouring answers can be
merged.

The values of atoms, the means of bins, are the same for every row. Where the observed answers predict a
quantity more precisely than its bins, as with collinear variables, its possible answers are points of the
predicted distribution instead.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.inference.support_head import SupportHead, SupportOutputs
from eddi.model.inference.traced import is_tracing
from eddi.model.network.atoms import Atoms, merge_atoms
from eddi.model.network.features import Features
from eddi.model.network.heads import Head
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.marginals import Marginals
from eddi.table.variable import Kind

MAX_VARIANCE_RATIO = 2.0  # variance of the atoms' distribution / predicted variance
MAX_RATIO_WITH_TIES = (
    4.0  # the same where many rows share a value, such as 0: no normal distribution does
)
MAX_NORMAL_DISTANCE = 0.25  # in sds; a uniform distribution has 0.15, an exponential one 0.4
N_QUADRATURE_POINTS = 8  # of a distribution over which a function is averaged
N_POINTS = 5  # of a predicted distribution; eight give the same decisions
MAX_LEVELS = 16  # of an ordinal; with more, neighbouring levels are merged, as those of a quantity


@dataclass(frozen=True)
class AnswerProbabilities:
    """The possible answers of some rows; the answers to one variable are adjacent.

    An answer with probability 0 may be padding; its value has no meaning.
    """

    values: Tensor  # [rows, answers] coded
    probabilities: Tensor  # [rows, answers], summing to 1 for each variable
    depends_on_row: Tensor | None = None  # [rows, answers] whether the value does; None if none does


@dataclass(frozen=True)
class AnswerSupport:
    """The possible answers to every variable."""

    head: SupportHead
    parts: "tuple[_FullSupport | _MergedSupport | QuantitySupport, ...]"
    first: NDArray[np.int64]  # [variables] position of the first answer to each
    count: NDArray[np.int64]  # [variables] number of answers to each
    terms: Tensor  # [answers, width] added to the first layer, unless the value depends on the row
    inputs: Tensor | None  # [answers, inputs] of the factors, likewise; None without factors

    @classmethod
    def from_marginals(
        cls,
        marginals: Marginals,
        frozen: FrozenNetwork,
        n_points: int,
        *,
        head: SupportHead | None = None,
    ) -> "AnswerSupport":
        """Enumerate the answers, at most ``n_points`` for a quantity."""
        head = head or SupportHead.from_marginals(marginals, frozen)
        zeros = head.weights[0].new_zeros((1, len(marginals.specs)))
        with torch.no_grad():
            prior = head(frozen.features(frozen.code(zeros, zeros)))
        parts = tuple(_build_parts(marginals, head, n_points, prior))
        variables = np.array([variable for part in parts for variable in part.variables])
        counts = np.array([count for part in parts for count in part.counts])
        first, count = np.zeros_like(counts), np.zeros_like(counts)
        count[variables] = counts
        first[variables] = counts.cumsum() - counts
        owners = torch.from_numpy(np.repeat(variables, counts)).to(frozen.device)
        values = torch.cat([part.values for part in parts])
        terms = frozen.first_layer_term(values, owners)
        return cls(head, parts, first, count, terms, frozen.factor_inputs(values, owners))

    def __call__(self, features: Features) -> AnswerProbabilities:
        """The answers and their probabilities for the hidden features of each row."""
        return self.enumerate(self.head(features))

    def enumerate(self, outputs: SupportOutputs) -> AnswerProbabilities:
        """The same for the outputs of `head`."""
        found = [part(outputs) for part in self.parts]
        if len(found) == 1:
            return found[0]
        values = torch.cat([part.values for part in found], dim=1)
        probabilities = torch.cat([part.probabilities for part in found], dim=1)
        if all(part.depends_on_row is None for part in found):
            return AnswerProbabilities(values, probabilities)
        masks = [
            torch.zeros_like(part.values, dtype=torch.bool)
            if part.depends_on_row is None
            else part.depends_on_row
            for part in found
        ]
        return AnswerProbabilities(values, probabilities, torch.cat(masks, dim=1))


@dataclass(frozen=True)
class _DiscreteVariables:
    """Some variables with their possible values, and the function that gives the probabilities."""

    variables: list[int]
    counts: list[int]  # number of values of each
    values: Tensor  # [variables, max count]
    probabilities: Callable[[SupportOutputs], Tensor]  # to [rows, variables, max count]; padding has 0

    def select(self, places: list[int]) -> "_DiscreteVariables":
        """The variables at these places."""
        if len(places) == len(self.variables):
            return self
        index = torch.tensor(places, device=self.values.device)
        return _DiscreteVariables(
            variables=[self.variables[place] for place in places],
            counts=[self.counts[place] for place in places],
            values=self.values[index],
            probabilities=lambda outputs: self.probabilities(outputs).index_select(1, index),
        )


class _FullSupport:
    """All values of some variables."""

    def __init__(self, discrete: _DiscreteVariables) -> None:
        self.variables, self.counts = discrete.variables, discrete.counts
        self._probabilities = discrete.probabilities
        width = discrete.values.shape[1]
        cells = [row * width + n for row, count in enumerate(discrete.counts) for n in range(count)]
        self._cells = torch.tensor(cells, device=discrete.values.device)
        self._has_padding = len(cells) < discrete.values.numel()
        self.values = discrete.values.flatten()[self._cells]

    def __call__(self, outputs: SupportOutputs) -> AnswerProbabilities:
        probabilities = self._probabilities(outputs).flatten(1)
        if self._has_padding:
            probabilities = probabilities.index_select(1, self._cells)
        return AnswerProbabilities(self.values.expand(len(probabilities), -1), probabilities)


class _MergedSupport:
    """Neighbouring values of some variables merged into ``n`` groups."""

    def __init__(self, discrete: _DiscreteVariables, n: int) -> None:
        self.variables, self.counts = discrete.variables, [n] * len(discrete.variables)
        self._discrete, self._n = discrete, n
        self.values = _first_values(discrete, n)

    def __call__(self, outputs: SupportOutputs) -> AnswerProbabilities:
        probabilities = self._discrete.probabilities(outputs)
        values, merged = merge_atoms(self._discrete.values, probabilities, self._n)
        depends_on_row = torch.ones_like(merged, dtype=torch.bool)
        return AnswerProbabilities(values.flatten(1), merged.flatten(1), depends_on_row.flatten(1))


class QuantitySupport:
    """Atoms of some quantities or, where they are too coarse, points of the predicted distribution.

    Atoms are too coarse for a row if the variance of their distribution, including that inside bins, is
    more than MAX_VARIANCE_RATIO times the predicted variance (MAX_RATIO_WITH_TIES if an atom is a single
    value). Otherwise atoms are better, because their distribution can have any shape. If few values are far
    from all others, the predicted variance is too small even without evidence, where the atoms are the
    values of the table. The limit is therefore multiplied by the ratio without evidence, if that is above 1.
    """

    def __init__(
        self,
        discrete: _DiscreteVariables,
        spread: Tensor,
        marginals: Marginals,
        n: int,
        prior: SupportOutputs,
    ) -> None:
        self.variables, self.counts = discrete.variables, [n] * len(discrete.variables)
        self._discrete, self._n = discrete, n
        self.heads = marginals.subset(discrete.variables).to(spread.device)
        rows = marginals.subset_rows(self.heads, discrete.variables)
        self._rows = torch.tensor(rows, device=spread.device)
        self._has_all_rows = rows == list(range(marginals.layer.out_features))
        self.values = _first_values(discrete, n)
        has_ties = (spread == 0).any(1)
        self.second_moments = spread.square() + discrete.values.square()  # [variables, atoms]
        without_evidence = (
            self._variance(discrete.probabilities(prior))[0] / self._predict_variance(prior)[0]
        )
        self.max_ratio = torch.where(
            has_ties, MAX_RATIO_WITH_TIES, MAX_VARIANCE_RATIO
        ) * without_evidence.clamp(min=1.0)
        self.is_normal = (
            self._normal_distance(discrete.probabilities(prior)[0]) < MAX_NORMAL_DISTANCE
        )  # [variables] whether the prediction without evidence is about normal
        n_points = min(n, N_POINTS)
        self.is_merged = n < discrete.values.shape[1]
        self.point_levels = normal_levels(n_points).to(spread.device)
        self._quadrature_levels = normal_levels(N_QUADRATURE_POINTS).to(spread.device)
        padded = F.pad(self.point_levels, (0, n - n_points), value=0.5)
        self._padded_levels = padded[:, None, None].expand(-1, 1, len(spread))
        self.point_probabilities = F.pad(spread.new_full((n_points,), 1 / n_points), (0, n - n_points))

    def __call__(self, support_outputs: SupportOutputs) -> AnswerProbabilities:
        probabilities = self._discrete.probabilities(support_outputs)  # [rows, variables, atoms]
        is_coarse = self._is_coarse(probabilities, support_outputs)
        values = self._discrete.values.expand_as(probabilities)
        if self.is_merged:
            values, probabilities = merge_atoms(self._discrete.values, probabilities, self._n)
        # On a GPU, the question whether any row is coarse would wait for the answer.
        has_coarse = is_coarse.is_cuda or is_tracing() or bool(is_coarse.any())
        if not has_coarse and not self.is_merged:
            return AnswerProbabilities(values.flatten(1), probabilities.flatten(1))
        if has_coarse:
            outputs = self.own_outputs(support_outputs.by_output)[None]
            points = self.heads.quantile(outputs, self._padded_levels).movedim(0, -1)
            values = torch.where(is_coarse[..., None], points, values)
            probabilities = torch.where(is_coarse[..., None], self.point_probabilities, probabilities)
        depends_on_row = torch.ones_like(is_coarse) if self.is_merged else is_coarse
        mask = depends_on_row[..., None].expand_as(values)
        return AnswerProbabilities(values.flatten(1), probabilities.flatten(1), mask.flatten(1))

    def is_coarse(self, outputs: SupportOutputs) -> Tensor:
        """Whether atoms are too coarse for the quantities [rows, variables]."""
        return self._is_coarse(self._discrete.probabilities(outputs), outputs)

    def _is_coarse(self, probabilities: Tensor, outputs: SupportOutputs) -> Tensor:
        return self._variance(probabilities) > self.max_ratio * self._predict_variance(outputs)

    def own_outputs(self, by_output: Tensor) -> Tensor:
        """The outputs of these quantities among those of all variables [..., outputs]."""
        return by_output if self._has_all_rows else by_output.index_select(-1, self._rows)

    def quadrature_points(self, own_outputs: Tensor) -> Tensor:
        """Equally likely points of the predicted distributions [points, ..., variables]."""
        levels = self._quadrature_levels.view(-1, *[1] * own_outputs.dim())
        return self.heads.quantile(own_outputs, levels.expand(*levels.shape[:-1], len(self.variables)))

    def _predict_variance(self, outputs: SupportOutputs) -> Tensor:
        """The predicted variances [rows, variables]."""
        return self.heads.predictive_scale(self.own_outputs(outputs.by_output)).square()

    def _normal_distance(self, probabilities: Tensor) -> Tensor:
        """Distance of a distribution of atoms from a normal one, in sds [variables].

        It is the Wasserstein distance, with both distributions reduced to the means of bins that have these
        ``probabilities`` [variables, atoms].
        """
        mean = (probabilities * self._discrete.values).sum(-1, keepdim=True)
        sd = self._variance(probabilities)[:, None].clamp_min(1e-12).sqrt()
        edges = F.pad(probabilities.cumsum(-1), (1, 0)).clamp(0, 1)
        density = torch.exp(-0.5 * torch.special.ndtri(edges).square()) / math.sqrt(2 * math.pi)
        normal_means = (density[:, :-1] - density[:, 1:]) / probabilities.clamp_min(1e-12)
        distance = (self._discrete.values - mean) / sd - normal_means
        return (probabilities * distance.square()).sum(-1).sqrt()

    def _variance(self, probabilities: Tensor) -> Tensor:
        """The variance of the distributions [rows, variables]."""
        mean = (probabilities * self._discrete.values).sum(-1)
        return (probabilities * self.second_moments).sum(-1) - mean.square()


def _first_values(discrete: _DiscreteVariables, n: int) -> Tensor:
    """The first ``n`` values of each variable [variables * n]."""
    return discrete.values[:, :n].flatten()


def normal_levels(n: int) -> Tensor:
    """Cumulative probabilities of ``n`` equally likely points that have mean 0 and variance 1 together.

    They start from the medians of ``n`` equally likely intervals of a normal distribution. Those have too
    small a variance, so they are scaled outwards.
    """
    middles = torch.special.ndtri((torch.arange(n, dtype=torch.float64) + 0.5) / n)
    levels: Tensor = torch.special.ndtr(middles / middles.square().mean().sqrt().clamp_min(1e-9))
    return levels.float()


def _build_parts(
    marginals: Marginals, support_head: SupportHead, n_points: int, prior: SupportOutputs
) -> Iterator[_FullSupport | _MergedSupport | QuantitySupport]:
    if marginals.atoms is not None:
        yield from _build_quantity_parts(marginals, marginals.atoms, n_points, prior)
    for head in support_head.head.groups:
        if head.likelihood.has_levels:
            discrete = _from_levels(marginals, head)
            specs = [marginals.specs[variable] for variable in discrete.variables]
            yield from _full_or_merged(discrete, n_points, [_can_merge(spec) for spec in specs])


def _build_quantity_parts(
    marginals: Marginals, atoms: Atoms, n_points: int, prior: SupportOutputs
) -> Iterator[_FullSupport | _MergedSupport | QuantitySupport]:
    discrete = _from_atoms(atoms, marginals.quantities.tolist())
    has_spread = (atoms.spread > 0).any(1).tolist()
    if fixed := [place for place, spread in enumerate(has_spread) if not spread]:
        yield from _full_or_merged(discrete.select(fixed), n_points, [True] * len(fixed))
    if other := [place for place, spread in enumerate(has_spread) if spread]:
        selected = discrete.select(other)
        n = min(n_points, atoms.values.shape[1])
        yield QuantitySupport(selected, atoms.spread[other], marginals, n, prior)


def _full_or_merged(
    discrete: _DiscreteVariables, n_points: int, can_merge: Sequence[bool]
) -> Iterator[_FullSupport | _MergedSupport]:
    is_merged = [can and count > n_points for can, count in zip(can_merge, discrete.counts, strict=True)]
    if full := [place for place, merged in enumerate(is_merged) if not merged]:
        yield _FullSupport(discrete.select(full))
    if merged := [place for place, merged in enumerate(is_merged) if merged]:
        yield _MergedSupport(discrete.select(merged), n_points)


def _can_merge(spec: VariableSpec) -> bool:
    """Whether neighbouring levels may be merged: many ordered ones."""
    return spec.kind is Kind.ORDINAL and spec.n_levels > MAX_LEVELS


def _from_atoms(atoms: Atoms, quantities: list[int]) -> _DiscreteVariables:
    return _DiscreteVariables(
        variables=quantities,
        counts=(1 + atoms.upper.isfinite().sum(1)).tolist(),
        values=atoms.values,
        probabilities=lambda outputs: outputs.atom_logits.softmax(-1),
    )


def _from_levels(marginals: Marginals, head: Head) -> _DiscreteVariables:
    likelihood, variables = head.likelihood, head.variables.tolist()
    counts = [marginals.specs[variable].n_levels for variable in variables]
    return _DiscreteVariables(
        variables=variables,
        counts=counts,
        values=torch.arange(float(max(counts)), device=head.variables.device).expand(len(counts), -1),
        probabilities=lambda outputs: likelihood.probabilities(outputs.by_output[:, head.outputs]),
    )
