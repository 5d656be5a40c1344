"""Estimate the parameters of graded response items from answers, by marginal maximum likelihood."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from eddi.errors import TrainingError
from eddi.model.item_bank.item import MAX_PARAMETER, Item
from eddi.model.item_bank.trait import Trait
from eddi.table.evidence import Evidence

N_STEPS = 60  # of L-BFGS; 25 items with 6 levels converge in 20 to 40
N_POINTS = 41  # of the grid: quadrature over the trait
RANGE = 5.0
MIN_GAP = 1e-3  # between thresholds times the discrimination
PRIOR_SD = 1.5  # of the logarithm of a discrimination: keeps items without variation finite
INTERCEPT_SD = 5.0  # of the first intercept


class _GradedItems(nn.Module):
    """P(level | theta) of items with the same number of levels, in slope and intercept form."""

    def __init__(self, shares: Tensor) -> None:
        super().__init__()
        at_most = shares.cumsum(1)[:, :-1].clamp(0.005, 0.995)
        cuts = torch.logit(at_most) * 1.3  # marginal log odds are flatter than those given the trait
        gaps = cuts.diff(dim=1).clamp(min=0.05)
        self.log_slope = nn.Parameter(torch.full((len(shares),), 0.2, dtype=torch.float64))
        self.first = nn.Parameter(cuts[:, :1].clone())
        self.gaps = nn.Parameter(torch.log(torch.expm1(gaps)))

    def cuts(self) -> Tensor:
        """a_j b_jk, rising [items, thresholds]."""
        gaps = nn.functional.softplus(self.gaps) + MIN_GAP
        return torch.cat([self.first, self.first + gaps.cumsum(1)], dim=1)

    def forward(self, grid: Tensor) -> Tensor:
        """Log probabilities of the levels [items, levels, points]."""
        linear = self.log_slope.exp()[:, None, None] * grid - self.cuts()[:, :, None]
        at_least = torch.sigmoid(linear)
        ends = at_least.new_ones((len(at_least), 1, len(grid)))
        steps = torch.cat([ends, at_least, 0 * ends], dim=1)
        return (steps[:, :-1] - steps[:, 1:]).clamp_min(1e-12).log()

    def log_prior(self) -> Tensor:
        """Weak priors, so that estimates are finite."""
        slope, first = self.log_slope / PRIOR_SD, self.first / INTERCEPT_SD
        return -0.5 * (slope.square().sum() + first.square().sum())


def calibrate(
    evidence: Evidence, positions: Sequence[int], names: Sequence[str], trait: Trait
) -> tuple[Item, ...]:
    """Items that measure one trait, with parameters estimated from answers.

    Missing answers are ignored, which is right if they are missing at random.

    Args:
        evidence: rows of answers; levels are positions, lowest first.
        positions: of the items' variables, which have equally many levels.
        names: of the items.
        trait: the trait; its population defines the scale.

    Raises:
        TrainingError: an item has fewer than two levels among the answers.
    """
    values = torch.from_numpy(evidence.values[:, positions]).round().long()
    observed = torch.from_numpy(evidence.observed[:, positions])
    shares = _count_shares(values, observed, names)
    items = _GradedItems(shares)
    grid = torch.linspace(-RANGE, RANGE, N_POINTS, dtype=torch.float64)
    log_prior = torch.log_softmax(-0.5 * grid.square(), dim=0)
    optimizer = torch.optim.LBFGS(items.parameters(), max_iter=N_STEPS, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = -(_log_likelihood(items(grid), values, observed, log_prior) + items.log_prior())
        loss = loss / max(len(values), 1)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    optimizer.step(closure)  # type: ignore[no-untyped-call]
    return _read_items(items, names, trait)


def _count_shares(values: Tensor, observed: Tensor, names: Sequence[str]) -> Tensor:
    """The share of each level among the answers to each item [items, levels]."""
    n_levels = int(values[observed].max()) + 1 if observed.any() else 0
    shares = []
    for place, name in enumerate(names):
        counts = torch.bincount(values[observed[:, place], place], minlength=n_levels).double()
        if int((counts > 0).sum()) < 2:
            raise TrainingError(f"the answers to {name!r} do not differ, so it cannot be calibrated.")
        shares.append((counts + 0.5) / (counts + 0.5).sum())
    return torch.stack(shares)


def _log_likelihood(log_probs: Tensor, values: Tensor, observed: Tensor, log_prior: Tensor) -> Tensor:
    """log p(answers), with the trait integrated over the grid."""
    total = log_prior.expand(len(values), -1)
    for place, by_level in enumerate(log_probs):
        total = total + by_level[values[:, place]] * observed[:, place, None]
    return torch.logsumexp(total, dim=1).sum()


def _read_items(items: _GradedItems, names: Sequence[str], trait: Trait) -> tuple[Item, ...]:
    slopes = items.log_slope.detach().exp().numpy()
    thresholds = items.cuts().detach().numpy() / slopes[:, None]
    limited = np.clip(thresholds, -MAX_PARAMETER / 2, MAX_PARAMETER / 2)
    return tuple(
        Item(name, a / trait.sd, tuple(trait.mean + trait.sd * b), trait.name)
        for name, a, b in zip(names, slopes.tolist(), limited, strict=True)
    )
