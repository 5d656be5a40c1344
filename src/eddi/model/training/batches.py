"""Training batches: random rows, masks and noise, determined by the seed and the step alone."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from eddi.model.recipe import Recipe
from eddi.model.training.extra_rows import ExtraRows
from eddi.model.training.missingness import weigh_entries
from eddi.model.training.objective import Batch
from eddi.model.training.question_weights import SubsetLookup
from eddi.model.training.streaming import StreamedEvidence
from eddi.table.evidence import Evidence

ROUND_STEPS = 100  # steps between two validations; checkpoints count in rounds
WINDOW_ROUNDS = 4  # before other rows of a streamed table are read, which takes about as long as a round
BLOCK_CELLS = 1_000_000  # cells drawn at once: 4 MB per tensor, about the size of a core's cache
TARGET_VISIBLE_SHARE = 0.1  # share of rows in which a declared target may be visible
TARGET_WEIGHT = 2.0  # total weight of the declared targets, relative to all other variables


class BatchSampler:
    """Random batches of a table; a step has the same batch whenever it is drawn."""

    def __init__(
        self,
        evidence: Evidence | StreamedEvidence,
        recipe: Recipe,
        *,
        n_latent: int,
        seed: int,
        device: torch.device,
        targets: Sequence[int],
        extra: ExtraRows | None = None,
    ) -> None:
        self.extra = extra
        self.targets = list(targets) if recipe.objective != "observed" else []
        self.loss_weights = loss_weights(evidence.n_variables, self.targets, recipe).to(device)
        self.recipe, self.n_latent, self.seed, self.device = recipe, n_latent, seed, device
        self.stream = evidence if isinstance(evidence, StreamedEvidence) else None
        self.window = -1  # number of the window in memory; none yet
        self._set_rows(evidence if isinstance(evidence, Evidence) else Evidence.empty(0, 0))
        n_cells = recipe.batch_size * (evidence.n_variables + recipe.draws * n_latent)
        self.block_steps = max(1, min(ROUND_STEPS, BLOCK_CELLS // n_cells))

    def _set_rows(self, evidence: Evidence) -> None:
        is_weighted = self.recipe.weigh
        weights = weigh_entries(evidence) if is_weighted else evidence.observed
        n_extra = 0 if self.extra is None else len(self.extra.rows)
        self.lookup = (
            SubsetLookup.from_evidence(evidence, self.device, n_extra=n_extra) if is_weighted else None
        )
        values, rates = [evidence.values], [np.ones(len(evidence))]
        self.is_uniform = self.extra is None
        entry_weights = [weights.astype(np.float32)]
        if self.extra is not None:
            values.append(self.extra.rows.values)
            entry_weights.append(self.extra.rows.observed.astype(np.float32))
            rates.append(np.full(len(self.extra.rows), self.extra.weight))
        self.values = torch.from_numpy(np.concatenate(values)).to(self.device)
        self.weights = torch.from_numpy(np.concatenate(entry_weights)).to(self.device)
        self.rates = torch.from_numpy(np.concatenate(rates))  # in which rows are drawn

    def batches(self, first: int, last: int) -> Iterator[Batch]:
        """The batches of the steps of one round."""
        for block in self.blocks(first, last):
            parts = (block.values, block.weights, block.observed, block.noise)
            for step in zip(*parts, strict=True):
                yield Batch(*step, self.loss_weights)

    def blocks(self, first: int, last: int) -> Iterator[Batch]:
        """The batches of the steps of one round, several steps at once [steps, ...]."""
        window = first // (ROUND_STEPS * WINDOW_ROUNDS)
        if self.stream is not None and window != self.window:
            self.window = window
            self._set_rows(self.stream.window(window))
        for start in range(first, last, self.block_steps):
            yield self._draw_block(start, min(start + self.block_steps, last))

    def _draw_rows(self, n: int, random: torch.Generator) -> Tensor:
        if self.is_uniform:
            return torch.randint(len(self.values), (n,), generator=random)
        return torch.multinomial(self.rates, n, replacement=True, generator=random)

    def _draw_block(self, start: int, stop: int) -> Batch:
        random = torch.Generator().manual_seed(mix_seed(self.seed, start))
        n_steps, n_rows = stop - start, self.recipe.batch_size
        rows = self._draw_rows(n_steps * n_rows, random).to(self.device)
        shape = (n_steps, n_rows, self.values.shape[1])
        values = self.values[rows].view(shape)
        weights = self.weights[rows].view(shape)
        visible = draw_visible(shape, self.recipe, random)
        if self.targets:
            is_shown = torch.rand((n_steps, n_rows, 1), generator=random) < TARGET_VISIBLE_SHARE
            visible[..., self.targets] *= is_shown.float()
        visible = visible.to(self.device)
        noise_shape = (n_steps, self.recipe.draws, n_rows, self.n_latent)
        noise = torch.randn(noise_shape, generator=random).to(self.device)
        observed = (weights > 0) * visible
        if self.lookup is not None:
            by_question = self.lookup.weights(rows, observed.view(len(rows), -1))
            weights = weights * by_question.view(shape)
        return Batch(values, weights, observed, noise, self.loss_weights)


def draw_visible(shape: tuple[int, ...], recipe: Recipe, random: torch.Generator) -> Tensor:
    """A mask [steps, rows, variables], 1 where an entry stays visible.

    Missing rates are uniform, so the number of visible entries is, too.
    """
    n_steps, n_rows, _ = shape
    rate_shape = (n_steps, 1, 1) if recipe.rate_per == "batch" else (n_steps, n_rows, 1)
    missing_rate = torch.rand(rate_shape, generator=random) * recipe.max_missing
    return (torch.rand(shape, generator=random) >= missing_rate).float()


def loss_weights(n_variables: int, targets: Sequence[int], recipe: Recipe) -> Tensor:
    """The weight of a hidden entry of each variable [variables].

    With marginal heads, the declared targets together weigh twice as much as all other variables.
    """
    weights = torch.ones(n_variables)
    if targets and recipe.objective == "direct":
        n_targets = len(targets)
        weights[list(targets)] = max(1.0, TARGET_WEIGHT * (n_variables - n_targets) / n_targets)
    return weights


def mix_seed(seed: int, step: int) -> int:
    """The seed of a generator for a step of a run; the seeds of neighbouring steps do not overlap."""
    return (seed * 1_000_003 + step * 7_919 + 12_345) % (2**63)
