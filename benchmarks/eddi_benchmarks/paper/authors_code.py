"""Differences between the authors' published code and their paper, as settings of a suite.

The library follows the paper. To find out how much the paper's results depend on its code, a suite may
set

- ``kl``: "true", or "published": squared mean differences divided by the standard deviation instead of
  the variance;
- ``draws``: "noisy" (x ~ p(x|z), new at every step), or "means" (the decoder's means, with the same
  random numbers at every step);
- ``masks``: "paper" (one missing rate per training batch, from U(0, 0.7)), or "published" (a rate for
each
  entry from U(0, 1), so that about half of every row is observed and hardly ever nothing);
- ``network``: "paper" (100-50), or "published" (500-200; our decoder has the same sizes reversed);
- ``term``: "paper" (PNP's h(e*x)), or "published" (each variable's raw value and own bias next to e*x).

Not reproduced: scaling by test rows, and one split for all repetitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from eddi.errors import StrategyError
from eddi.model.base import Model, NetworkModel, require_network
from eddi.model.fitted import FittedModel
from eddi.model.network.posterior import Posterior
from eddi.model.network.quasi_random import standard_normal
from eddi.model.recipe import PAPER, Recipe
from eddi.strategy.base import Strategy
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi_benchmarks.harness.experiment import ExperimentError
from eddi_benchmarks.harness.run_result import Settings

Divergence = Literal["true", "published"]
DrawKind = Literal["noisy", "means"]

BATCH_ROWS = 64  # rows scored at once: about 16 MB in the widest layer
MAX_COPIES = 300_000  # rows of a table with masks; 3,000 batches of 100 rows see each about once
PUBLISHED_HIDDEN = (500, 200)  # hidden layers of the published code
OPTIONS = {
    "kl": ("true", "published"),
    "draws": ("noisy", "means"),
    "masks": ("paper", "published"),
    "network": ("paper", "published"),
    "term": ("paper", "published"),
}
"""The values of each setting; the first is the paper's."""
DESCRIPTIONS = {
    "kl": "squared mean differences divided by the standard deviation instead of the variance",
    "draws": "the decoder's means as answers, with the same random numbers at every step",
    "masks": "every entry hidden independently with probability one half",
    "network": "hidden layers of 500 and 200 units",
    "term": "each variable's raw value and own bias next to e*x in PNP's term",
}


def read_options(settings: Settings) -> dict[str, str]:
    """The options of a run; the default is the paper's.

    Raises:
        ExperimentError: an option has an unknown value.
    """
    options = {name: str(settings.get(name, values[0])) for name, values in OPTIONS.items()}
    for name, value in options.items():
        if value not in OPTIONS[name]:
            allowed = " or ".join(map(repr, OPTIONS[name]))
            raise ExperimentError(f"{name} must be {allowed}, got {value!r}. Correct the suite.")
    return options


def changed_options(settings: Settings) -> dict[str, str]:
    """The options that differ from the paper."""
    options = read_options(settings).items()
    return {name: value for name, value in options if value != OPTIONS[name][0]}


def describe_changes(settings: Settings) -> tuple[str, ...]:
    """A sentence on the options that follow the code rather than the paper; none if there are none."""
    changes = [DESCRIPTIONS[name] for name in changed_options(settings)]
    if not changes:
        return ()
    n_steps = int(settings["max_steps"])
    text = f"As in the authors' code rather than their paper: {'; '.join(changes)}."
    return (f"{text} {n_steps:,} training steps.",)


def make_strategy(settings: Settings) -> Strategy:
    """EDDI with the reward of these settings."""
    options, n_draws, seed = read_options(settings), int(settings["n_draws"]), int(settings["seed"])
    if options["kl"] == "true" and options["draws"] == "noisy":
        return Information(reward="latent", n_draws=n_draws, seed=seed)
    return PublishedReward(options["kl"], options["draws"], n_draws, seed)  # type: ignore[arg-type]


def make_recipe(settings: Settings) -> Recipe:
    """The paper's recipe with the changes of these settings."""
    options = read_options(settings)
    hidden = PUBLISHED_HIDDEN if options["network"] == "published" else PAPER.hidden
    # The published masks are part of the training table: see `training_table`.
    max_missing = 0.0 if options["masks"] == "published" else PAPER.max_missing
    recipe = replace(PAPER, hidden=hidden, max_missing=max_missing, max_steps=int(settings["max_steps"]))
    return apply_term(recipe, settings)


def apply_term(recipe: Recipe, settings: Settings) -> Recipe:
    """The recipe with PNP's term of these settings."""
    if read_options(settings)["term"] == "paper":
        return recipe
    # The raw value next to e*x is one more element of e, initialised at random instead of 1.
    return replace(recipe, identity=recipe.identity + 1, offset=1)


def training_table(table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The rows to train on: unchanged, or with the published masks.

    A rate from U(0, 1) for each entry hides it with probability 1/2, independently of the others. So
    the masks can be drawn before training: copies of the rows, each with half of its entries missing,
    as many as training will use.
    """
    if read_options(settings)["masks"] == "paper":
        return table
    n_rows = min(MAX_COPIES, int(settings["max_steps"]) * PAPER.batch_size)
    n_copies = -(-n_rows // len(table))
    copies = np.tile(table.to_numpy(np.float64), (n_copies, 1))
    hidden = np.random.default_rng(int(settings["seed"])).random(copies.shape) < 0.5
    return pd.DataFrame(np.where(hidden, np.nan, copies), columns=table.columns)


@dataclass(frozen=True)
class PublishedReward:
    """EDDI's reward as the published code computes it; with "true" and "noisy", as in the paper.

    Args:
        kl: the divergence: "true", or "published".
        draws: of the answers and the target: "noisy", or the decoder's "means".
        n_draws: number of draws.
        seed: of the draws; "means" use the same draws at every step.
    """

    kl: Divergence = "published"
    draws: DrawKind = "means"
    n_draws: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind in (("kl", Divergence), ("draws", DrawKind)):
            if getattr(self, name) not in get_args(kind):
                allowed = " or ".join(map(repr, get_args(kind)))
                raise StrategyError(f"{name} must be {allowed}, got {getattr(self, name)!r}.")

    def score(self, model: Model, evidence: Evidence, target: Sequence[str]) -> Tensor:
        rewards = torch.zeros((len(evidence), len(model.schema.questions)))
        n_observed = evidence.observed.sum(1)
        network = require_network(model, "the authors' reward")
        for n in np.unique(n_observed):  # draws change with the number of answers, as in `Information`
            rows = np.flatnonzero(n_observed == n)
            for start in range(0, len(rows), BATCH_ROWS):
                batch = rows[start : start + BATCH_ROWS]
                rewards[torch.from_numpy(batch)] = self._score(network, evidence[batch], target, int(n))
        return rewards

    @torch.no_grad()
    def _score(
        self, model: NetworkModel, evidence: Evidence, target: Sequence[str], n_observed: int
    ) -> Tensor:
        """Score rows with the same number of observed variables [rows, questions]."""
        target_positions = set(model.schema.positions(target))
        unobserved = torch.from_numpy(~evidence.observed)
        code = model.code(evidence)  # [rows, width]
        posterior = model.posterior(code)
        values = self._draw_values(model, posterior, n_observed)  # [draws, rows, variables]
        # [draws, rows, width]
        code_with_target = code + _added_terms(model, values, sorted(target_positions), unobserved)
        posterior_with_target = model.posterior(code_with_target)
        rewards = torch.zeros((len(evidence), len(model.schema.questions)))
        for index, question in enumerate(model.schema.questions):
            positions = model.schema.positions(question.reveals)
            if target_positions & set(positions):
                continue
            answer = _added_terms(model, values, positions, unobserved)
            gain = divergence(model.posterior(code + answer), posterior, self.kl)
            # The information about everything except the target.
            other_gain = divergence(
                model.posterior(code_with_target + answer), posterior_with_target, self.kl
            )
            rewards[:, index] = (gain - other_gain).mean(0).cpu()
        return rewards

    def _draw_values(self, model: NetworkModel, posterior: Posterior, n_observed: int) -> Tensor:
        if self.draws == "noisy":
            return model.draw(posterior, self.n_draws, seed=self.seed * 1_009 + n_observed)
        if not isinstance(model, FittedModel) or model.recipe.scaling != "unit":
            raise StrategyError('draws="means" needs a PartialVAE with recipe="paper".')
        device = posterior.mean.device
        noise = standard_normal(self.n_draws, posterior.mean.shape[-1], seed=self.seed).to(device)
        means, _ = model.network.moments(model.network.decode(posterior.draw(noise[:, None])))
        shift, scale = (
            torch.from_numpy(part).to(means.device) for part in (model.coding.shift, model.coding.scale)
        )
        return ((means - shift) / scale).to(posterior.mean.dtype)


def _added_terms(
    model: NetworkModel, values: Tensor, positions: list[int], unobserved: Tensor
) -> Tensor:
    """What the drawn values of variables add to the code; observed variables add nothing."""
    terms = model.term(values[..., positions], positions)  # [draws, rows, n, width]
    return (terms * unobserved[:, positions, None].to(terms.device)).sum(-2)


def divergence(after: Posterior, before: Posterior, kl: Divergence) -> Tensor:
    """KL(after || before), or what the published code computes instead, summed over the latent."""
    if kl == "true":
        return after.kl(before)
    variance_ratio = torch.exp(after.log_var - before.log_var)
    shift = (after.mean - before.mean).square() * torch.exp(-0.5 * before.log_var)
    return 0.5 * (before.log_var - after.log_var + variance_ratio + shift - 1).sum(-1)
