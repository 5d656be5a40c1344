"""What the authors' published code does otherwise than their paper, as switches of a suite.

The library follows the paper. To see how much of the paper's picture hangs on its code, a suite may set

- ``kl``: "true", or "published": squared mean differences over the standard deviation, not the variance;
- ``draws``: "noisy" (x ~ p(x|z), new at every step), or "means" (the decoder's means, by the same
  random numbers at every step);
- ``masks``: "paper" (one missing rate a training batch, from U(0, 0.7)), or "published" (a rate for each
  entry by itself, from U(0, 1), so that about half of every row is seen and hardly ever nothing);
- ``network``: "paper" (100-50), or "published" (500-200; our decoder has the same sizes reversed);
- ``term``: "paper" (PNP's h(e*x)), or "published" (each variable's raw value and own bias beside e*x).

Not here: scaling by test rows, one split for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model
from eddi.model.inference.predictive import standard_normal
from eddi.model.network.posterior import Posterior
from eddi.model.partial_vae import PartialVAE
from eddi.model.recipe import PAPER, Recipe
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi_benchmarks.harness.experiment import ExperimentError, Settings

Divergence = Literal["true", "published"]
DrawKind = Literal["noisy", "means"]

ROWS_AT_ONCE = 64  # whose draws are weighed together: some 16 MB in the widest layer
MAX_COPIES = 300_000  # rows of a table that holds its masks; 3,000 batches of 100 see each about once
WIDE = (500, 200)  # the code's hidden layers
SWITCHES = {
    "kl": ("true", "published"),
    "draws": ("noisy", "means"),
    "masks": ("paper", "published"),
    "network": ("paper", "published"),
    "term": ("paper", "published"),
}
"""What each switch may be; the first is the paper's."""


def switches(settings: Settings) -> dict[str, str]:
    """The switches of a run, those left out being the paper's.

    Raises:
        ExperimentError: one has a value it cannot have.
    """
    chosen = {name: str(settings.get(name, values[0])) for name, values in SWITCHES.items()}
    for name, value in chosen.items():
        if value not in SWITCHES[name]:
            either = " or ".join(map(repr, SWITCHES[name]))
            raise ExperimentError(f"{name} must be {either}, got {value!r}. Correct the suite.")
    return chosen


SAID = {
    "kl": "squared mean differences divided by the standard deviation instead of the variance",
    "draws": "answers that are the decoder's means, by the same random numbers at every step",
    "masks": "every entry hidden with chance one half, whatever the others",
    "network": "hidden layers of 500 and 200",
    "term": "in PNP's term, each variable's raw value and own bias beside e*x",
}


def said(settings: Settings) -> tuple[str, ...]:
    """A sentence on what of the authors' code these settings have; nothing where all is the paper's."""
    on = [SAID[name] for name, value in switches(settings).items() if value != SWITCHES[name][0]]
    if not on:
        return ()
    steps = int(settings["max_steps"])
    return (
        f"As the authors' code, not their paper, has it: {'; '.join(on)}. {steps:,} training steps.",
    )


def information(settings: Settings) -> Strategy:
    """EDDI with the reward these settings ask for."""
    chosen, n_draws, seed = switches(settings), int(settings["n_draws"]), int(settings["seed"])
    if chosen["kl"] == "true" and chosen["draws"] == "noisy":
        return Information(reward="latent", n_draws=n_draws, seed=seed)
    return PublishedReward(chosen["kl"], chosen["draws"], n_draws, seed)  # type: ignore[arg-type]


def recipe(settings: Settings) -> Recipe:
    """The paper's recipe with the changes these settings ask for."""
    chosen = switches(settings)
    hidden = WIDE if chosen["network"] == "published" else PAPER.hidden
    # The published masks are in the training table itself: see `training_table`.
    most = 0.0 if chosen["masks"] == "published" else PAPER.max_missing
    recipe = replace(PAPER, hidden=hidden, max_missing=most, max_steps=int(settings["max_steps"]))
    return with_term(recipe, settings)


def with_term(recipe: Recipe, settings: Settings) -> Recipe:
    """The recipe with PNP's term as these settings have it."""
    if switches(settings)["term"] == "paper":
        return recipe
    # The raw value beside e*x is one more number of e, which starts at random rather than at 1.
    return replace(recipe, identity=recipe.identity + 1, offset=1)


def training_table(table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The rows to train on: as they are, or with the published masks.

    A rate from U(0, 1) for each entry by itself hides it with chance 1/2, whatever happens to the
    others. So the masks can be drawn before training: copies of the rows, each with half its entries
    missing, as many as training will see.
    """
    if switches(settings)["masks"] == "paper":
        return table
    n_rows = min(MAX_COPIES, int(settings["max_steps"]) * PAPER.batch_size)
    n_copies = -(-n_rows // len(table))
    copies = np.tile(table.to_numpy(np.float64), (n_copies, 1))
    hidden = np.random.default_rng(int(settings["seed"])).random(copies.shape) < 0.5
    return pd.DataFrame(np.where(hidden, np.nan, copies), columns=table.columns)


@dataclass(frozen=True)
class PublishedReward:
    """EDDI's reward as the published code reckons it; with "true" and "noisy", as the paper does.

    Args:
        kl: the divergence: "true", or "published".
        draws: of the answers and the target: "noisy", or the decoder's "means".
        n_draws: how many.
        seed: of the draws; means take the same at every step.
    """

    kl: Divergence = "published"
    draws: DrawKind = "means"
    n_draws: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind in (("kl", Divergence), ("draws", DrawKind)):
            if getattr(self, name) not in get_args(kind):
                either = " or ".join(map(repr, get_args(kind)))
                raise StrategyError(f"{name} must be {either}, got {getattr(self, name)!r}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        rewards = torch.zeros((len(evidence), len(model.schema_.questions)))
        n_seen = evidence.observed.sum(1)
        for n in np.unique(n_seen):  # draws change with the number of answers, as in `Information`
            rows = np.flatnonzero(n_seen == n)
            for start in range(0, len(rows), ROWS_AT_ONCE):
                some = rows[start : start + ROWS_AT_ONCE]
                rewards[torch.from_numpy(some)] = self._rewards(model, evidence[some], target, int(n))
        return rewards

    @torch.no_grad()
    def _rewards(self, model: Model, evidence: Evidence, target: Sequence[str], n_seen: int) -> Tensor:
        """Of rows that have answered as much [rows, questions]."""
        wanted = set(model.schema_.positions(target))
        unseen = torch.from_numpy(~evidence.observed)
        code = model.code(evidence)  # [rows, width]
        now = model.posterior(code)
        values = self._values(model, now, n_seen)  # [draws, rows, variables]
        told = code + _term(model, values, sorted(wanted), unseen)  # [draws, rows, width]
        knowing = model.posterior(told)
        rewards = torch.zeros((len(evidence), len(model.schema_.questions)))
        for place, question in enumerate(model.schema_.questions):
            positions = model.schema_.positions(question.reveals)
            if wanted & set(positions):
                continue
            answer = _term(model, values, positions, unseen)
            all_of_it = divergence(model.posterior(code + answer), now, self.kl)
            beside = divergence(model.posterior(told + answer), knowing, self.kl)
            rewards[:, place] = (all_of_it - beside).mean(0).cpu()
        return rewards

    def _values(self, model: Model, now: Posterior, n_seen: int) -> Tensor:
        if self.draws == "noisy":
            return model.draw(now, self.n_draws, seed=self.seed * 1_009 + n_seen)
        if not isinstance(model, PartialVAE) or model.recipe_.scaling != "unit":
            raise StrategyError('the decoder\'s means need a PartialVAE with recipe="paper".')
        noise = standard_normal(self.n_draws, now.mean.shape[-1], seed=self.seed).to(now.mean.device)
        means, _ = model.network_.moments(model.network_.decode(now.draw(noise[:, None])))
        shift, scale = (torch.from_numpy(each) for each in (model.coding_.shift, model.coding_.scale))
        return ((means - shift.to(means.device)) / scale.to(means.device)).to(now.mean.dtype)


def _term(model: Model, values: Tensor, positions: list[int], unseen: Tensor) -> Tensor:
    """What these variables' drawn values add to the code; those already seen add nothing."""
    terms = model.term(values[..., positions], positions)  # [draws, rows, n, width]
    return (terms * unseen[:, positions, None].to(terms.device)).sum(-2)


def divergence(asked: Posterior, before: Posterior, kl: Divergence) -> Tensor:
    """KL(asked || before), or what the published code takes for it, summed over the latent."""
    if kl == "true":
        return asked.kl(before)
    spread = torch.exp(asked.log_var - before.log_var)
    shift = (asked.mean - before.mean).square() * torch.exp(-0.5 * before.log_var)
    return 0.5 * (before.log_var - asked.log_var + spread + shift - 1).sum(-1)
