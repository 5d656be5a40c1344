"""Predictive distributions p(x_d | x_O): mixtures over draws of z, or marginal predictions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from eddi.model.network.heads import Head, Heads, log_mean_exp

N_BISECTIONS = 32  # halvings of an interval of coded values: finer than float32 resolves


@dataclass(frozen=True)
class PredictiveDistribution:
    """The distribution of every variable, for some rows.

    Args:
        heads: the likelihoods of the variables.
        outputs: their parameters for each draw of z, or one set without z [draws, rows, outputs].
        tail_mass: probability left on either side of a 90% interval [rows, variables].
        positions: those of the variables among all; None if these are all variables.
        log_hazard_sd: of survival variables, by column [rows]; empty without factors.
    """

    heads: Heads
    outputs: Tensor
    tail_mass: Tensor
    positions: tuple[int, ...] | None = None
    log_hazard_sd: Mapping[int, Tensor] = field(default_factory=dict)

    @classmethod
    def from_outputs(cls, heads: Heads, outputs: Tensor) -> "PredictiveDistribution":
        """The distributions for outputs [draws, rows, outputs] of ``heads``."""
        return cls(heads, outputs, heads.interval_tail_mass(outputs))

    def places(self, positions: Sequence[int]) -> list[int]:
        """The columns of the variables at these positions among all."""
        if self.positions is None:
            return list(positions)
        return [self.positions.index(position) for position in positions]

    @property
    def n_rows(self) -> int:
        return self.outputs.shape[1]

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean and sd of every variable in the table's own units [rows, variables]."""
        means, variances = self.heads.moments(self.outputs)
        mean = means.mean(0)
        return mean, (variances + (means - mean).square()).mean(0).sqrt()

    def log_prob(self, values: Tensor) -> Tensor:
        """log p(x_d | x_O) of coded values [rows, variables]."""
        return log_mean_exp(self.heads.log_prob(self.outputs, values))

    def probabilities(self) -> Iterator[tuple[int, Tensor]]:
        """Each variable with levels (position) and the probabilities of its levels [rows, levels]."""
        for head in self.heads.heads():
            n_levels = [self.heads.specs[variable].n_levels for variable in head.variables.tolist()]
            if any(n_levels):
                probabilities = self._level_probabilities(head, max(n_levels)).mean(0)
                for place, (variable, n) in enumerate(
                    zip(head.variables.tolist(), n_levels, strict=True)
                ):
                    if n:
                        yield variable, probabilities[:, place, :n]

    def _level_probabilities(self, head: Head, max_levels: int) -> Tensor:
        """[draws, rows, n, max levels]"""
        outputs = self.outputs[..., head.outputs]
        if head.likelihood.has_levels:
            return head.likelihood.probabilities(outputs)
        # The paper codes levels as numbers with a Gaussian likelihood. A level gets the probability
        # nearest to its position; the first and last levels also get everything beyond.
        specs = [self.heads.specs[variable] for variable in head.variables.tolist()]
        below = [torch.zeros_like(outputs)]
        for position in range(1, max_levels):
            edges = torch.tensor([(position - 0.5 - spec.shift) / spec.scale for spec in specs])
            is_last = torch.tensor([position >= spec.n_levels for spec in specs])
            cdf = head.likelihood.cdf(outputs, edges.to(outputs.device).expand_as(outputs))
            below.append(torch.where(is_last.to(outputs.device), 1.0, cdf))
        return torch.stack([*below, torch.ones_like(outputs)], dim=-1).diff(dim=-1)

    def interval(self, variables: list[int]) -> tuple[Tensor, Tensor]:
        """Both ends of the calibrated central 90% interval, in coded values [rows, n] each."""
        both = torch.stack([self.tail_mass, 1 - self.tail_mass])  # [2, rows, variables]
        low, high = self.quantile(both, variables).unbind()
        return low, high

    def quantile(self, level: Tensor, variables: list[int]) -> Tensor:
        """Quantiles at ``level`` [..., rows, variables] of some variables, in coded values [..., rows, n]."""
        quantiles: dict[int, Tensor] = {}
        for head in self.heads.heads():
            own = head.variables.tolist()
            if set(variables) & set(own):
                columns = self._head_quantile(head, level[..., head.variables]).unbind(-1)
                quantiles.update(zip(own, columns, strict=True))
        return torch.stack([quantiles[variable] for variable in variables], dim=-1)

    def _head_quantile(self, head: Head, level: Tensor) -> Tensor:
        """By bisection: a mixture's quantile lies between those of its components."""
        outputs = self.outputs[..., head.outputs]
        if len(outputs) == 1:
            return head.likelihood.quantile(outputs[0], level)
        if level.dim() > 2:
            return torch.stack([self._head_quantile(head, part) for part in level])
        shape = (*outputs.shape[:-1], len(head.variables))
        components = head.likelihood.quantile(outputs, level.expand(shape))
        low, high = components.amin(0), components.amax(0)  # [rows, n]
        for _ in range(N_BISECTIONS):
            middle = 0.5 * (low + high)
            is_reached = head.likelihood.cdf(outputs, middle.expand(shape)).mean(0) >= level
            low = torch.where(is_reached, low, middle)
            high = torch.where(is_reached, middle, high)
        return high
