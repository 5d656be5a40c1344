"""Possible values of an answer or of the target: one per draw, or every level with its probability.

An answer with few levels need not be drawn. For each draw of z the model gives the probability of each
level, so the expectation over answers is a sum and only z is random: 50 draws then achieve what several
hundred would otherwise (`python -m eddi_benchmarks reward-speed`).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.reward.candidates import CandidatePairs

MAX_LEVELS = 8  # enumerating more levels takes more passes than it saves draws


@dataclass(frozen=True)
class Options:
    """Terms of possible values, and their probabilities."""

    terms: Tensor  # [options, pairs, width]
    probabilities: Tensor | None  # [options, draws, pairs] for each draw; None: the options are draws

    def select(self, pairs: slice) -> "Options":
        """The options of some of the pairs."""
        probabilities = None if self.probabilities is None else self.probabilities[..., pairs]
        return Options(self.terms[:, pairs], probabilities)


@dataclass(frozen=True)
class JointDraws:
    """Joint draws for some rows, with the level probabilities for each draw."""

    model: NetworkModel
    code: Tensor  # [rows, width]
    values: Tensor  # [draws, rows, variables]
    probabilities: dict[int, Tensor]  # of each variable with few levels [draws, rows, levels]

    @classmethod
    def from_code(cls, model: NetworkModel, code: Tensor, n_draws: int, seed: int) -> "JointDraws":
        """Draw from the posterior of each row's code."""
        posterior = model.posterior(code)
        by_variable = model.level_probabilities(posterior, n_draws, seed=seed)
        few = {d: p for d, p in by_variable.items() if p.shape[-1] <= MAX_LEVELS}
        return cls(model, code, model.draw(posterior, n_draws, seed=seed), few)

    @property
    def n_levels(self) -> dict[int, int]:
        """The number of levels of each variable whose levels are enumerated, by position."""
        return {variable: p.shape[-1] for variable, p in self.probabilities.items()}

    def answers(self, pairs: CandidatePairs, n_levels: int) -> Options:
        """The answers to each pair's question: ``n_levels`` levels, or drawn values if 0."""
        if not n_levels:
            drawn = self.values.flatten(1).index_select(1, pairs.cells)  # [draws, cells]
            return Options(pairs.sum_cells(self.model.term(drawn, pairs.variables)), None)
        level = torch.arange(n_levels, dtype=self.values.dtype, device=self.values.device)
        terms = self.model.term(level[:, None].expand(-1, len(pairs)), pairs.variables)
        variables = [variable for variable, n in self.n_levels.items() if n == n_levels]
        stacked = torch.stack([self.probabilities[v] for v in variables])  # [n, draws, rows, levels]
        place = torch.zeros(self.values.shape[-1], dtype=torch.long, device=level.device)
        place[variables] = torch.arange(len(variables), device=level.device)
        by_pair = stacked.transpose(1, 2)[place[pairs.variables], pairs.rows]  # [pairs, draws, levels]
        return Options(terms, by_pair.permute(2, 1, 0))

    def target(self, target: list[int], unobserved: NDArray[np.bool_]) -> Options:
        """The values of the target for each row; observed ones add nothing."""
        probabilities = self.probabilities.get(target[0]) if len(target) == 1 else None
        if probabilities is None:
            values = self.values[..., target]  # [draws, rows, target]
        else:
            n_levels, device = probabilities.shape[-1], probabilities.device
            level = torch.arange(n_levels, dtype=self.values.dtype, device=device)
            values = level[:, None, None].expand(-1, len(unobserved), -1)  # [levels, rows, 1]
        terms = self.model.term(values, target)  # [options, rows, target, width]
        if not unobserved.all():
            terms = terms * torch.from_numpy(unobserved).to(terms.device)[..., None]
        by_draw = None if probabilities is None else probabilities.permute(2, 0, 1)
        return Options(terms.sum(-2), by_draw)
