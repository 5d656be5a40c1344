"""Output heads: which outputs of a layer parametrise the likelihood of which variable."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from eddi.model.network.hazards import DiscreteHazard
from eddi.model.network.likelihood import Likelihood, VariableSpec
from eddi.model.prediction import COVERAGE
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

LikelihoodFactory = Callable[[list[VariableSpec]], Likelihood]


@dataclass(frozen=True)
class Head:
    """A group of variables of one kind: their positions, their outputs, and their likelihood."""

    variables: Tensor  # positions among the columns of the evidence
    outputs: slice  # of the layer's outputs
    likelihood: Likelihood


class Heads(nn.Module):
    """Distributions of variables with these specs, given outputs [..., outputs]."""

    by_kind: Tensor  # [variables] positions, grouped by kind as the heads are
    inverse: Tensor  # [variables] the inverse permutation of by_kind

    def __init__(
        self, specs: Sequence[VariableSpec], factories: Mapping[Kind, LikelihoodFactory]
    ) -> None:
        super().__init__()
        self.specs = tuple(specs)
        groups = {kind: [spec for spec in specs if spec.kind is kind] for kind in factories}
        built = {kind.value: factories[kind](group) for kind, group in groups.items() if group}
        self.likelihoods = nn.ModuleDict(built)
        self.extents = _extents(specs, self.likelihoods)
        self.n_outputs = self.extents[-1][2].stop
        by_kind = [d for kind in self.likelihoods for d in _positions_of_kind(specs, kind)]
        self.register_buffer("by_kind", torch.tensor(by_kind), persistent=False)
        self.register_buffer("inverse", torch.argsort(torch.tensor(by_kind)), persistent=False)
        self.is_sorted = by_kind == sorted(by_kind)
        self.has_levels = any(spec.kind.is_discrete for spec in self.specs)

    def heads(self) -> Iterator[Head]:
        """The groups of variables that share a likelihood, in the order of the outputs."""
        for kind, variables, outputs in self.extents:
            likelihood = cast("Likelihood", self.likelihoods[kind])
            yield Head(self.by_kind[variables], outputs, likelihood)

    def head_of(self, variable: int) -> tuple[Head, int]:
        """The head of a variable (position), and the variable's place in it."""
        for head in self.heads():
            if variable in (variables := head.variables.tolist()):
                return head, variables.index(variable)
        raise IndexError(f"there is no variable {variable}.")

    def init_hazards(self, evidence: Evidence) -> None:
        """Set the base hazards of survival variables to those of a table."""
        for head in self.heads():
            if isinstance(head.likelihood, DiscreteHazard):
                values, observed = (
                    evidence.values[:, head.variables],
                    evidence.observed[:, head.variables],
                )
                head.likelihood.init_from_data(torch.from_numpy(values), torch.from_numpy(observed))

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Log-likelihood of every variable [..., variables], in nats of the coded value."""
        return self._map(lambda head, out, x: head.log_prob(out, x), outputs, values)

    def training_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """The score of every variable that training maximises [..., variables]."""
        return self._map(lambda head, out, x: head.training_score(out, x), outputs, values)

    def validation_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """The score of every variable that early stopping maximises [..., variables]."""
        return self._map(lambda head, out, x: head.validation_score(out, x), outputs, values)

    def predictive_scale(self, outputs: Tensor) -> Tensor:
        """Scale of every variable's distribution in coded units [..., variables]; 0 for levels."""
        return self._map(lambda head, out: head.predictive_scale(out), outputs)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        """Coded values at cumulative probability ``level``; draws, if the levels are uniform."""
        return self._map(lambda head, out, u: head.quantile(out, u), outputs, level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance in the table's own units, each [..., variables]."""
        mean, variance = self._map(lambda head, out: torch.stack(head.moments(out)), outputs).unbind()
        return mean, variance

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        """P(X_d <= coded value) of every variable [..., variables]."""
        return self._map(lambda head, out, x: head.cdf(out, x), outputs, values)

    def interval_tail_mass(self, outputs: Tensor) -> Tensor:
        """Probability left on either side of a 90% interval [rows, variables].

        ``outputs`` are [draws, rows, outputs]. `Marginals` replaces this by calibrated values.
        """
        return outputs.new_full((outputs.shape[1], len(self.specs)), (1 - COVERAGE) / 2)

    def _map(
        self, method: Callable[..., Tensor], outputs: Tensor, by_variable: Tensor | None = None
    ) -> Tensor:
        """Apply a likelihood's method head by head and put the variables back in order."""
        if len(self.extents) == 1:  # a single head needs no indexing
            only = self.likelihoods[self.extents[0][0]]
            return method(only, outputs) if by_variable is None else method(only, outputs, by_variable)
        parts = []
        for head in self.heads():
            arguments = () if by_variable is None else (by_variable[..., head.variables],)
            parts.append(method(head.likelihood, outputs[..., head.outputs], *arguments))
        joined = torch.cat(parts, dim=-1)
        return joined if self.is_sorted else joined[..., self.inverse]


def log_mean_exp(log_prob: Tensor) -> Tensor:
    """Log of the mean of exp(log_prob) over draws, the first axis."""
    return torch.logsumexp(log_prob, dim=0) - math.log(len(log_prob))


def _extents(
    specs: Sequence[VariableSpec], likelihoods: nn.ModuleDict
) -> list[tuple[str, slice, slice]]:
    """For each kind, the slices of its variables (grouped by kind) and of its outputs."""
    extents, variable, output = [], 0, 0
    for kind, likelihood in likelihoods.items():
        variables = slice(variable, variable + len(_positions_of_kind(specs, kind)))
        outputs = slice(output, output + cast("Likelihood", likelihood).n_outputs)
        extents.append((kind, variables, outputs))
        variable, output = variables.stop, outputs.stop
    return extents


def _positions_of_kind(specs: Sequence[VariableSpec], kind: str) -> list[int]:
    return [position for position, spec in enumerate(specs) if spec.kind == kind]
