"""The training loop of every recipe.

The networks are so small that overhead dominates. A step therefore does little besides its arithmetic:
random numbers, masks and rows of many steps are drawn at once, all weights are in one flat tensor, and
one fused kernel updates them. Random numbers depend on the seed and the step alone, so a resumed run ends
with the same weights as an uninterrupted one.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from eddi.errors import TrainingError
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.threads import single_thread
from eddi.model.training.batches import ROUND_STEPS, BatchSampler
from eddi.model.training.calibration import calibrate
from eddi.model.training.captured.captured_step import CapturedStep
from eddi.model.training.checkpoint import Checkpoint, Progress, TrainingState
from eddi.model.training.distributed import DistributedContext
from eddi.model.training.extra_rows import ExtraRows, weigh_rows
from eddi.model.training.flat_weights import BestWeights, FlatWeights
from eddi.model.training.level_regressions import (
    HeldOutRows,
    TrainingRows,
    add_regressions,
    find_level_targets,
)
from eddi.model.training.objective import loss
from eddi.model.training.streaming import StreamedEvidence, first_window
from eddi.model.training.validation import CPU, Validation, choose_shrinkage, split_validation
from eddi.table.evidence import Evidence

SECONDS_BETWEEN_SAVES = 1.0
# Multiplications per step below which training uses one thread. At this limit (about 30 variables with the
# default recipe), two idle cores are 1.3 times as fast as one. If another program keeps one of them busy,
# two threads took three to more than ten times as long as one.
SINGLE_THREAD_OPERATIONS = 60_000_000
WARM_UP_SHARE = 0.15  # share of a cycle in which the learning rate rises


OnProgress = Callable[[Progress], None]


def train(
    network: Network,
    evidence: Evidence | StreamedEvidence,
    recipe: Recipe,
    *,
    seed: int,
    device: torch.device,
    targets: Sequence[int] = (),
    extra: ExtraRows | None = None,
    held_out: Evidence | None = None,
    is_warm: bool = False,
    checkpoint: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
) -> list[Progress]:
    """Fit ``network`` to ``evidence`` in place, and return the progress of each round.

    ``targets`` (positions) are hidden more often than other variables if the objective scores hidden
    entries. ``extra`` rows are trained on, too, and never held out. ``held_out`` rows are for validation; if
    None, they are drawn from ``evidence``. A network ``is_warm`` if it was trained before. Under `torchrun`,
    each process takes its share of every batch; only the first one writes the checkpoint.
    """
    context = DistributedContext.from_environment(device)
    split = (evidence, held_out) if held_out is not None else split_validation(evidence, recipe, seed)
    training_rows, validation_rows = split
    make_validation = partial(Validation.if_any, validation_rows, recipe, seed=seed, targets=targets)
    if not is_warm:
        _fit_factors(network, training_rows, extra, make_validation(device=CPU))
    extra = extra and extra.complete(first_window(training_rows), targets)
    network.build_factor_head()
    network.to(device)
    weights = FlatWeights(network, recipe)
    validation = make_validation(device=device)
    state = checkpoint.restore(weights) if checkpoint else TrainingState()
    writable = checkpoint if context.is_first else None
    make_sampler = partial(BatchSampler, n_latent=network.latent, targets=targets, extra=extra)
    sampler = make_sampler(training_rows, recipe, seed=seed, device=device)
    if validation and not state.history:  # the initial weights are a candidate, too
        state.start(validation.score(network))
        weights.store_best()
    captured = CapturedStep.if_possible(network, weights, recipe, context)
    started_at = time.monotonic() - (state.history[-1].seconds if state.history else 0.0)
    saved_at = time.monotonic()
    with single_thread(_count_operations(weights, recipe) < SINGLE_THREAD_OPERATIONS):
        while state.round * ROUND_STEPS < recipe.max_steps and state.n_stale <= recipe.patience:
            mean_loss = _train_round(network, weights, sampler, recipe, state.round, context, captured)
            with weights.averaged():
                score = validation.score(network) if validation else None
            progress = advance(state, weights, recipe, mean_loss, score)
            progress = replace(progress, seconds=time.monotonic() - started_at)
            state.history.append(progress)
            if on_progress and context.is_first:
                on_progress(progress)
            if writable and time.monotonic() - saved_at > SECONDS_BETWEEN_SAVES:
                writable.save(weights, state)
                saved_at = time.monotonic()
    if writable:
        writable.save(weights, state)
    weights.use_best()
    _calibrate(network, validation, training_rows, extra, targets)
    return state.history


def _calibrate(
    network: Network,
    validation: Validation | None,
    training_rows: Evidence | StreamedEvidence,
    extra: ExtraRows | None,
    targets: Sequence[int],
) -> None:
    """Calibrate a network with held-out rows, and add the regressions of its targets."""
    if network.marginals is None:
        return
    network.marginals.remove_level_regressions()  # those of an earlier fit
    if validation is None:
        return
    rows = TrainingRows(Evidence.empty(0, len(network.specs)))
    if find_level_targets(network, targets):  # otherwise a streamed table is not read again
        rows = TrainingRows(*weigh_rows(first_window(training_rows), extra))
    held_out = HeldOutRows(network, rows, validation.calibration_batch(), len(validation))
    data = held_out.predict()
    outputs = calibrate(network.marginals, data)
    add_regressions(network, rows, held_out=[held_out], data=data, outputs=outputs, targets=targets)


def _fit_factors(
    network: Network,
    rows: Evidence | StreamedEvidence,
    extra: ExtraRows | None,
    validation: Validation | None,
) -> None:
    """Fit the factors to training rows, with the shrinkage that predicts held-out rows best."""
    if not network.n_factors:
        return
    choose_shrinkage([network.fit_factors(*weigh_rows(first_window(rows), extra))], [validation])


def _count_operations(weights: FlatWeights, recipe: Recipe) -> int:
    """Multiplications of a step, roughly."""
    return weights.flat.numel() * recipe.batch_size * recipe.draws


def advance(
    state: TrainingState, weights: BestWeights, recipe: Recipe, mean_loss: float, score: float | None
) -> Progress:
    """Update the state after a round, and remember the weights if the validation score improved."""
    if not math.isfinite(mean_loss):
        raise TrainingError(
            f"the loss became {mean_loss} at step {state.round * ROUND_STEPS}. "
            "Check the table for extreme values, or lower the learning rate."
        )
    state.round += 1
    if state.is_improvement(score):
        weights.store_best()
        state.best = state.best if score is None else score
        state.n_stale = 0
    else:
        state.n_stale += 1
    step = min(state.round * ROUND_STEPS, recipe.max_steps)
    best = None if score is None else state.best
    return Progress(step, recipe.max_steps, mean_loss, score, best, 0.0)


def _train_round(
    network: Network,
    weights: FlatWeights,
    sampler: BatchSampler,
    recipe: Recipe,
    number: int,
    context: DistributedContext,
    captured: CapturedStep | None,
) -> float:
    """At most ROUND_STEPS optimiser steps; returns the mean loss."""
    if captured is not None:
        return _train_captured_round(captured, sampler, recipe, number)
    first = number * ROUND_STEPS
    last = min(first + ROUND_STEPS, recipe.max_steps)
    losses: list[Tensor] = []
    for step, batch in enumerate(sampler.batches(first, last), start=first):
        batch_loss = context.loss(batch, lambda part: loss(network, recipe.objective, part))
        weights.step(batch_loss, learning_rate(recipe, step), context)
        losses.append(batch_loss.detach())
    return float(context.average(torch.stack(losses).mean()))


def _train_captured_round(
    step: CapturedStep, sampler: BatchSampler, recipe: Recipe, number: int
) -> float:
    """The same on a GPU; the next block is drawn while the GPU computes."""
    first = number * ROUND_STEPS
    last = min(first + ROUND_STEPS, recipe.max_steps)
    losses: list[Tensor] = []
    for block in sampler.blocks(first, last):
        start = first + sum(map(len, losses))
        rates = [learning_rate(recipe, start + place) for place in range(len(block.values))]
        losses.append(step(block, torch.tensor(rates)))
    return float(torch.cat(losses).mean())


def learning_rate(recipe: Recipe, step: int) -> float:
    """The learning rate at ``step``."""
    if recipe.schedule == "constant":
        return recipe.learning_rate
    done = step / recipe.max_steps
    if done < WARM_UP_SHARE:
        return recipe.learning_rate * (0.05 + 0.95 * done / WARM_UP_SHARE)
    remaining = math.pi * (done - WARM_UP_SHARE) / (1 - WARM_UP_SHARE)
    return recipe.learning_rate * 0.5 * (1 + math.cos(remaining))
