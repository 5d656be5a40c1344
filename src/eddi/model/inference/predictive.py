"""p(x | x_O): what a posterior says about the variables, as a mixture over draws of z."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from eddi.model.network.heads import Head, Heads
from eddi.model.network.likelihood import LevelLikelihood
from eddi.model.network.network import Network
from eddi.model.network.posterior import Posterior
from eddi.model.training.objective import mean_exp

BISECTIONS = 32  # halvings of a bracket of coded values: finer than float32 tells apart
MAX_KEPT_NUMBERS = 65_536  # a set of random numbers larger than this is drawn anew each time: 256 kB
MAX_KEPT_SETS = 1_024  # one for each number of answers that some row of a large table has given
ALMOST = 1e-6  # keeps uniform numbers off 0 and 1, where quantiles are infinite


def standard_normal(n_draws: int, latent: int, *, seed: int) -> Tensor:
    """Quasi-random standard normal numbers [draws, latent], evener than chance (scrambled Sobol)."""
    return torch.special.ndtri(uniform(n_draws, latent, seed=seed))  # type: ignore[no-any-return]


def uniform(n_draws: int, width: int, *, seed: int) -> Tensor:
    """Quasi-random numbers in (0, 1) [draws, width]; plain ones where Sobol has too few dimensions.

    Numbers asked for before may be the same tensor again: do not write into it.
    """
    kept = n_draws * width <= MAX_KEPT_NUMBERS
    return _kept_uniform(n_draws, width, seed) if kept else _uniform(n_draws, width, seed)


def _uniform(n_draws: int, width: int, seed: int) -> Tensor:
    if width > torch.quasirandom.SobolEngine.MAXDIM:
        random = torch.Generator().manual_seed(seed)
        return torch.rand((n_draws, width), generator=random).clamp(ALMOST, 1 - ALMOST)
    sobol = torch.quasirandom.SobolEngine(width, scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    return sobol.draw(n_draws).clamp(ALMOST, 1 - ALMOST)


def shared_noise(n_draws: int, latent: int, n_variables: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Normal numbers to draw z by [draws, latent], uniform ones for each variable [draws, variables].

    They are one quasi-random set, so that answers drawn with both are even too. Do not write into them.
    """
    kept = n_draws * (latent + n_variables) <= MAX_KEPT_NUMBERS
    return (_kept_noise if kept else _noise)(n_draws, latent, n_variables, seed)


def _noise(n_draws: int, latent: int, n_variables: int, seed: int) -> tuple[Tensor, Tensor]:
    points = _uniform(n_draws, latent + n_variables, seed)
    return torch.special.ndtri(points[:, :latent]), points[:, latent:].contiguous()


_kept_noise = lru_cache(MAX_KEPT_SETS)(_noise)


# Scrambling takes longer than all else a question needs, and interviews ask for the same seeds.
_kept_uniform = lru_cache(MAX_KEPT_SETS)(_uniform)


@dataclass(frozen=True)
class Belief:
    """Outputs, for draws of z or one alone without z, and what they say about each variable."""

    network: Heads
    outputs: Tensor  # [draws, rows, outputs]
    outside: Tensor  # [rows, variables] what a 90% interval leaves out on either side

    @classmethod
    def of(cls, network: Network, posterior: Posterior, noise: Tensor) -> "Belief":
        """From standard normal noise [draws, latent], the same for every row.

        Shared draws make a row's belief the same alone and in any batch.
        """
        outputs = network.decode(posterior.draw(noise[:, None]))
        return cls(network, outputs, network.left_out(outputs))

    def moments(self) -> tuple[Tensor, Tensor]:
        """Mean and sd of every variable in the table's own numbers [rows, variables]."""
        means, variances = self.network.moments(self.outputs)
        mean = means.mean(0)
        return mean, (variances + (means - mean).square()).mean(0).sqrt()

    def log_prob(self, values: Tensor) -> Tensor:
        """log p(x_d | x_O) of coded values [rows, variables]."""
        return mean_exp(self.network.log_prob(self.outputs, values))

    def probabilities(self) -> Iterator[tuple[int, Tensor]]:
        """Each variable of levels with the probabilities of its levels [rows, levels]."""
        for head in self.network.heads():
            levels = [self.network.forms[variable].n_levels for variable in head.variables.tolist()]
            if any(levels):
                chances = self._level_chances(head, max(levels)).mean(0)  # [rows, n, most levels]
                for place, (variable, n) in enumerate(zip(head.variables.tolist(), levels, strict=True)):
                    if n:
                        yield variable, chances[:, place, :n]

    def _level_chances(self, head: Head, most: int) -> Tensor:
        outputs = self.outputs[..., head.outputs]
        if isinstance(head.likelihood, LevelLikelihood):
            return head.likelihood.probabilities(outputs)
        # Levels coded as numbers with a Gaussian, as in the paper: a level takes the belief nearest
        # to its position, the first and last also all beyond.
        forms = [self.network.forms[variable] for variable in head.variables.tolist()]
        below = [torch.zeros_like(outputs)]
        for position in range(1, most):
            edges = torch.tensor([(position - 0.5 - form.shift) / form.scale for form in forms])
            last = torch.tensor([position >= form.n_levels for form in forms])
            reached = head.likelihood.cdf(outputs, edges.to(outputs.device).expand_as(outputs))
            below.append(torch.where(last.to(outputs.device), 1.0, reached))
        return torch.stack([*below, torch.ones_like(outputs)], dim=-1).diff(dim=-1)

    def interval(self, variables: list[int]) -> tuple[Tensor, Tensor]:
        """The two ends of the central 90%, as calibrated, in coded values [rows, n] each."""
        return self.quantile(self.outside, variables), self.quantile(1 - self.outside, variables)

    def quantile(self, level: Tensor, variables: list[int]) -> Tensor:
        """Coded values below which a ``level`` share [rows, variables] of each belief lies [rows, n]."""
        wanted = set(variables)
        found = {
            variable: column
            for head in self.network.heads()
            if wanted & set(head.variables.tolist())
            for variable, column in zip(
                head.variables.tolist(),
                self._head_quantile(head, level[:, head.variables]).unbind(-1),
                strict=True,
            )
        }
        return torch.stack([found[variable] for variable in variables], dim=-1)

    def _head_quantile(self, head: Head, level: Tensor) -> Tensor:
        """By bisection: a mixture's quantile lies between its parts' lowest and highest."""
        outputs = self.outputs[..., head.outputs]
        shape = (*outputs.shape[:-1], len(head.variables))
        parts = head.likelihood.quantile(outputs, level.expand(shape))
        if len(parts) == 1:
            return parts[0]
        low, high = parts.amin(0), parts.amax(0)  # [rows, n]
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            reached = head.likelihood.cdf(outputs, middle.expand(shape)).mean(0) >= level
            low, high = torch.where(reached, low, middle), torch.where(reached, middle, high)
        return high
