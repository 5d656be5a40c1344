"""What may be heard of a question or the target: one value a draw, or every level with its chance.

An answer of few levels need not be drawn. Behind each draw of z the model tells how likely each level
is, so the mean over answers is a sum and only z is left to chance: 50 draws then do what several hundred
did (`python -m eddi_benchmarks reward-speed`).
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import Model
from eddi.reward.candidates import Pairs

MAX_LEVELS = 8  # a longer sum takes more passes than it saves draws


@dataclass(frozen=True)
class Options:
    """What each of some options would add to the code, and how likely it is."""

    terms: Tensor  # [options, pairs, width]
    chances: Tensor | None  # [options, draws, pairs] behind each draw; None: the options are the draws

    def of(self, pairs: slice) -> "Options":
        """The same for some of the pairs."""
        chances = None if self.chances is None else self.chances[..., pairs]
        return Options(self.terms[:, pairs], chances)


@dataclass(frozen=True)
class Draws:
    """Joint draws for some rows, with the chances of the levels behind each."""

    model: Model
    code: Tensor  # [rows, width]
    values: Tensor  # [draws, rows, variables]
    chances: dict[int, Tensor]  # of each variable of few levels [draws, rows, levels]

    @classmethod
    def of(cls, model: Model, code: Tensor, n_draws: int, seed: int) -> "Draws":
        now = model.posterior(code)
        chances = model.chances(now, n_draws, seed=seed)
        few = {d: chance for d, chance in chances.items() if chance.shape[-1] <= MAX_LEVELS}
        return cls(model, code, model.draw(now, n_draws, seed=seed), few)

    @property
    def n_levels(self) -> dict[int, int]:
        """The number of levels of each variable that is summed over, by position."""
        return {variable: chance.shape[-1] for variable, chance in self.chances.items()}

    def answers(self, pairs: Pairs, n_levels: int) -> Options:
        """What may be heard of each pair's question: ``n_levels`` levels, or drawn values where 0."""
        if not n_levels:
            drawn = self.values.flatten(1).index_select(1, pairs.cells)  # [draws, cells]
            return Options(pairs.sum(self.model.term(drawn, pairs.variables)), None)
        level = torch.arange(n_levels, dtype=self.values.dtype, device=self.values.device)
        terms = self.model.term(level[:, None].expand(-1, len(pairs)), pairs.variables)
        same = [variable for variable, n in self.n_levels.items() if n == n_levels]
        chances = torch.stack([self.chances[variable] for variable in same])  # [n, draws, rows, levels]
        place = torch.zeros(self.values.shape[-1], dtype=torch.long, device=level.device)
        place[same] = torch.arange(len(same), device=level.device)
        chosen = chances.transpose(1, 2)[place[pairs.variables], pairs.rows]  # [pairs, draws, levels]
        return Options(terms, chosen.permute(2, 1, 0))

    def target(self, target: list[int], unseen: NDArray[np.bool_]) -> Options:
        """What may be heard of the target, for each row; what is already known adds nothing."""
        chances = self.chances.get(target[0]) if len(target) == 1 else None
        if chances is None:
            values = self.values[..., target]  # [draws, rows, target]
        else:
            level = torch.arange(chances.shape[-1], dtype=self.values.dtype, device=chances.device)
            values = level[:, None, None].expand(-1, len(unseen), -1)  # [levels, rows, 1]
        terms = self.model.term(values, target)  # [options, rows, target, width]
        if not unseen.all():
            terms = terms * torch.from_numpy(unseen).to(terms.device)[..., None]
        return Options(terms.sum(-2), None if chances is None else chances.permute(2, 0, 1))
