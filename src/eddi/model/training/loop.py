"""One training loop for every recipe.

Tiny networks are all overhead, so a step does little besides its arithmetic: random numbers, masks
and rows of many steps are drawn at once, all weights live in one flat tensor, and one fused kernel
updates them. Randomness is a function of the seed and the step, so a resumed run walks the same path.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor

from eddi.errors import TrainingError
from eddi.model.inference.predictive import standard_normal
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training import missingness
from eddi.model.training.calibration import calibrate
from eddi.model.training.checkpoint import Checkpoint, Course, Progress
from eddi.model.training.distributed import Ranks
from eddi.model.training.flat_weights import FlatWeights
from eddi.model.training.objective import Batch, loss, mean_exp
from eddi.model.training.streaming import Windows
from eddi.table.evidence import Evidence

STEPS_A_ROUND = 100  # between looks at the validation rows; also what a checkpoint counts in
ROUNDS_A_WINDOW = 4  # before other rows of a table on disk are read: that takes as long as a round or so
BLOCK_CELLS = 1_000_000  # cells drawn at once: 4 MB a tensor, about what a core's cache holds
MIN_VALIDATION_ROWS = 5  # fewer say nothing about when to stop
MAX_VALIDATION_ROWS = 500  # more cost time and tell no more
CALIBRATION_ROWS = 4_000  # each held-out row with much and with little of it known: narrow and broad
CALIBRATION_CELLS = 250_000  # of these rows at most, for every cell is gone through a hundred times
VALIDATION_DRAWS = 128  # fewer understate a belief that is broad in z and sharp in x
SECONDS_BETWEEN_SAVES = 1.0
SMALL_STEP = 10_000_000  # multiplications a step below which a second thread costs more than it brings
TARGET_SEEN = 0.1  # share of rows that may show a declared target while training
TARGET_WORTH = 2.0  # what the declared targets count, all others together counting 1
WARM_UP = 0.15  # share of a cycle in which the learning rate rises


OnProgress = Callable[[Progress], None]


def train(
    network: Network,
    evidence: Evidence | Windows,
    recipe: Recipe,
    *,
    seed: int,
    device: torch.device,
    targets: Sequence[int] = (),
    checkpoint: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
) -> list[Progress]:
    """Fit ``network`` to ``evidence`` in place; returns how it went.

    ``targets`` (positions) are hidden more often than the rest, where the recipe scores what is
    hidden: what one wants to know is rarely among what one has been told. Started by `torchrun`, each
    process takes its part of every batch, and the first alone writes the checkpoint and tells progress.
    """
    ranks = Ranks.here(device)
    training, validation = split(evidence, recipe, seed)
    network.to(device)
    weights = FlatWeights(network, recipe)
    examination = _Examination(validation, recipe, seed, device, targets) if validation else None
    course = checkpoint.restore(weights) if checkpoint else Course()
    kept = checkpoint if ranks.is_first else None
    rows = _Rows(training, recipe, network.latent, seed, device, targets)
    saved = began = time.monotonic()
    spent = course.history[-1].seconds if course.history else 0.0
    with _threads(weights.flat.numel() * recipe.batch_size * recipe.draws):
        while course.round * STEPS_A_ROUND < recipe.max_steps and course.stale <= recipe.patience:
            mean_loss = _round(network, weights, rows, recipe, course.round, ranks)
            with weights.averaged():
                score = examination(network) if examination else None
            progress = _advance(course, weights, recipe, mean_loss, score)
            progress = replace(progress, seconds=spent + time.monotonic() - began)
            course.history.append(progress)
            if on_progress and ranks.is_first:
                on_progress(progress)
            if kept and time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                kept.save(weights, course)
                saved = time.monotonic()
    if kept:
        kept.save(weights, course)
    weights.use_best()
    if examination:
        calibrate(network, examination.for_calibration(), len(examination))
    return course.history


@contextmanager
def _threads(multiplications: int) -> Iterator[None]:
    """One thread for steps too small to share out; as many as torch was given for the rest."""
    given = torch.get_num_threads()
    torch.set_num_threads(1 if multiplications < SMALL_STEP else given)
    try:
        yield
    finally:
        torch.set_num_threads(given)


def _advance(
    course: Course, weights: FlatWeights, recipe: Recipe, mean_loss: float, score: float | None
) -> Progress:
    if not math.isfinite(mean_loss):
        raise TrainingError(
            f"the loss became {mean_loss} at step {course.round * STEPS_A_ROUND}. "
            "Look for extreme values in the table, or lower the learning rate."
        )
    course.round += 1
    if course.improved(score):
        weights.keep_best()
        course.best = course.best if score is None else score
        course.stale = 0
    else:
        course.stale += 1
    step = min(course.round * STEPS_A_ROUND, recipe.max_steps)
    best = None if score is None else course.best
    return Progress(step, recipe.max_steps, mean_loss, score, best, 0.0)


def _round(
    network: Network,
    weights: FlatWeights,
    rows: "_Rows",
    recipe: Recipe,
    number: int,
    ranks: Ranks,
) -> float:
    """Up to STEPS_A_ROUND optimiser steps; returns the mean loss."""
    first = number * STEPS_A_ROUND
    last = min(first + STEPS_A_ROUND, recipe.max_steps)
    losses: list[Tensor] = []
    for step, batch in enumerate(rows.batches(first, last), start=first):
        batch_loss = ranks.loss(batch, lambda part: loss(network, recipe.objective, part))
        weights.descend(batch_loss, learning_rate(recipe, step), ranks)
        losses.append(batch_loss.detach())
    return float(ranks.average(torch.stack(losses).mean()))


def learning_rate(recipe: Recipe, step: int) -> float:
    """The learning rate at ``step``."""
    if recipe.schedule == "constant":
        return recipe.learning_rate
    done = step / recipe.max_steps
    if done < WARM_UP:
        return recipe.learning_rate * (0.05 + 0.95 * done / WARM_UP)
    return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP)))


class _Rows:
    """Batches of random rows, masks and noise; the same for a step whoever asks and whenever."""

    def __init__(
        self,
        evidence: Evidence | Windows,
        recipe: Recipe,
        latent: int,
        seed: int,
        device: torch.device,
        targets: Sequence[int],
    ) -> None:
        self.targets = list(targets) if recipe.objective != "observed" else []
        self.worth = worth(evidence.n_variables, self.targets, recipe).to(device)
        self.recipe, self.latent, self.seed, self.device = recipe, latent, seed, device
        self.windows = evidence if isinstance(evidence, Windows) else None
        self.window = -1  # the number of the one held; none yet
        self._hold(evidence if isinstance(evidence, Evidence) else Evidence.empty(0, 0))
        cells = recipe.batch_size * (evidence.n_variables + recipe.draws * latent)
        self.steps_a_block = max(1, min(STEPS_A_ROUND, BLOCK_CELLS // cells))

    def _hold(self, evidence: Evidence) -> None:
        self.values = torch.from_numpy(evidence.values).to(self.device)
        known = missingness.counts(evidence) if self.recipe.weigh else evidence.observed
        self.known = torch.from_numpy(known).to(self.device, torch.float32)

    def batches(self, first: int, last: int) -> Iterator[Batch]:
        """The batches of the steps of one round."""
        window = first // (STEPS_A_ROUND * ROUNDS_A_WINDOW)
        if self.windows is not None and window != self.window:
            self.window = window
            self._hold(self.windows.window(window))
        for start in range(first, last, self.steps_a_block):
            yield from self._block(start, min(start + self.steps_a_block, last))

    def _block(self, start: int, stop: int) -> Iterator[Batch]:
        random = torch.Generator().manual_seed(_mix(self.seed, start))
        n, rows = stop - start, self.recipe.batch_size
        chosen = torch.randint(len(self.values), (n * rows,), generator=random).to(self.device)
        shape = (n, rows, self.values.shape[1])
        values = self.values[chosen].view(shape)
        known = self.known[chosen].view(shape)
        kept = draw_kept(shape, self.recipe, random)
        if self.targets:
            kept[..., self.targets] *= (torch.rand((n, rows, 1), generator=random) < TARGET_SEEN).float()
        kept = kept.to(self.device)
        draws = (n, self.recipe.draws, rows, self.latent)
        noise = torch.randn(draws, generator=random).to(self.device)
        observed = (known > 0) * kept
        for x, k, o, e in zip(values, known, observed, noise, strict=True):
            yield Batch(x, k, o, e, self.worth)


def draw_kept(shape: tuple[int, ...], recipe: Recipe, random: torch.Generator) -> Tensor:
    """1 where an entry stays visible; rates are uniform, so the number of visible ones is too."""
    steps, rows, _ = shape
    rates = (steps, 1, 1) if recipe.rate_per == "batch" else (steps, rows, 1)
    missing = torch.rand(rates, generator=random) * recipe.max_missing
    return (torch.rand(shape, generator=random) >= missing).float()


def n_validation(n_rows: int, recipe: Recipe) -> int:
    """How many of so many rows are held out to see when to stop."""
    n = min(int(n_rows * recipe.validation), MAX_VALIDATION_ROWS)
    return n if n >= MIN_VALIDATION_ROWS else 0


def split(
    evidence: Evidence | Windows, recipe: Recipe, seed: int
) -> tuple[Evidence | Windows, Evidence | None]:
    """Rows to learn from, and those held out from them."""
    if isinstance(evidence, Windows):
        return evidence, evidence.validation() if evidence.held_out else None
    n = n_validation(len(evidence), recipe)
    if n == 0:
        return evidence, None
    random = torch.Generator().manual_seed(_mix(seed, -1))
    order = torch.randperm(len(evidence), generator=random).numpy()
    return evidence[order[n:]], evidence[order[:n]]


class _Examination:
    """How well hidden entries of held-out rows are foretold, always the same entries.

    With direct beliefs it asks of the declared targets alone: they may be learnt by heart while the
    rest still gets better.
    """

    def __init__(
        self,
        evidence: Evidence,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        targets: Sequence[int],
    ) -> None:
        self._evidence, self._recipe, self._seed = evidence, recipe, seed
        self._device, self._targets = device, list(targets) if recipe.objective == "direct" else []
        self.batch = self.part_known(MAX_VALIDATION_ROWS)

    def __len__(self) -> int:
        return len(self._evidence)

    def part_known(self, n: int) -> Batch:
        """The held-out rows with parts of them hidden, each in as many ways as to be ``n`` or so."""
        random = torch.Generator().manual_seed(_mix(self._seed, -2))
        n_masks = max(1, n // len(self._evidence))
        known = torch.from_numpy(self._evidence.observed).float().repeat(n_masks, 1)
        kept = draw_kept((1, *known.shape), self._recipe, random)[0]
        noise = standard_normal(VALIDATION_DRAWS, self._recipe.latent, seed=0)[:, None]
        counts = torch.ones(self._evidence.n_variables)
        if self._targets:
            kept[:, self._targets] = 0  # whoever declares a target will not tell it
            counts = torch.zeros_like(counts)
            counts[self._targets] = 1
        values = torch.from_numpy(self._evidence.values).repeat(n_masks, 1)
        return Batch(*(t.to(self._device) for t in (values, known, known * kept, noise, counts)))

    def for_calibration(self) -> Batch:
        """The held-out rows in more ways, where that is no great work."""
        affordable = min(CALIBRATION_ROWS, CALIBRATION_CELLS // self._evidence.n_variables)
        return self.part_known(max(affordable, MAX_VALIDATION_ROWS))

    @torch.no_grad()
    def __call__(self, network: Network) -> float | None:
        hidden = (self.batch.known - self.batch.observed) * self.batch.worth
        if not hidden.any():  # few rows may hide nothing
            return None
        return float((hidden_score(network, self.batch) * hidden).sum() / hidden.sum())


def hidden_score(network: Network, batch: Batch) -> Tensor:
    """How well every entry is foretold [rows, variables]: by likelihood, CRPS or Brier score."""
    code = network.code(batch.seen(), batch.observed)
    if network.marginals is not None:
        return network.marginals.exam_score(network.marginals(network.hidden(code)), batch.values)
    z = network.posterior(code).draw(batch.noise)
    return mean_exp(network.log_prob(network.decode(z), batch.values))


def worth(n_variables: int, targets: Sequence[int], recipe: Recipe) -> Tensor:
    """How much a hidden entry of each variable counts [variables].

    With direct beliefs the declared targets together count twice as much as the rest.
    """
    counts = torch.ones(n_variables)
    if targets and recipe.objective == "direct":
        counts[list(targets)] = max(1.0, TARGET_WORTH * (n_variables - len(targets)) / len(targets))
    return counts


def _mix(seed: int, step: int) -> int:
    """A generator's seed from a run's seed and a step; neighbours do not overlap."""
    return (seed * 1_000_003 + step * 7_919 + 12_345) % (2**63)
