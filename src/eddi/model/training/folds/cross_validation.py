"""Cross-validated training, for tables too small to hold rows out.

A tenth of fifty rows cannot tell when to stop training, nor how wide predictions must be. Instead, one
network per fold is trained without the rows of its fold, next to the network of all rows and in the same
steps (`batched_training`). The number of steps is the one with the best score of held-out rows over all
folds. The network of all rows is calibrated with the folds' predictions of their held-out rows, as in
cross-conformal prediction (Vovk 2015). If there are few rows, the folds also select the variables from
which the targets are predicted (`selection`).
"""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.model.network.network import Network
from eddi.model.recipe import Recipe
from eddi.model.training import loop
from eddi.model.training.batched_training import CPU, BatchedStep, StackedWeights, train_rounds
from eddi.model.training.batches import ROUND_STEPS, BatchSampler, mix_seed
from eddi.model.training.calibration import CalibrationData, calibrate
from eddi.model.training.checkpoint import Checkpoint, Progress, TrainingState
from eddi.model.training.distributed import DistributedContext
from eddi.model.training.extra_rows import ExtraRows, weigh_rows
from eddi.model.training.folds.selection import (
    MAX_SELECTION_ROWS,
    find_ignored_variables,
)
from eddi.model.training.level_regressions import (
    HeldOutRows,
    RegressionChoice,
    TrainingRows,
    add_regressions,
)
from eddi.model.training.loop import OnProgress, advance
from eddi.model.training.streaming import StreamedEvidence, first_window
from eddi.model.training.validation import Validation, choose_shrinkage
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

MIN_IGNORING_GAIN = (
    3.0  # nats of all held-out rows: the variables to ignore were selected with the same rows
)


@dataclass(frozen=True)
class Fold:
    """A network that does not see the rows of its fold."""

    network: Network
    training_rows: Evidence  # all rows but those of the fold
    rows: Evidence  # of the fold
    validation: Validation


@dataclass(frozen=True)
class CrossValidation:
    """What cross-validation finds, besides the network of all rows."""

    folds: list[Fold]
    ignored: dict[int, list[int]]  # variables that predictions of a target ignore, by target


def train_cross_validated(
    network: Network,
    evidence: Evidence | StreamedEvidence,
    recipe: Recipe,
    *,
    seed: int,
    device: torch.device,
    targets: Sequence[int] = (),
    extra: ExtraRows | None = None,
    checkpoint: Checkpoint | None = None,
    on_progress: OnProgress | None = None,
    on_result: Callable[[CrossValidation], None] | None = None,
) -> list[Progress]:
    """Fit ``network`` to all rows of ``evidence`` in place, and return the progress of each round.

    The arguments are those of `loop.train`; ``on_result`` is called with the trained folds. Training takes
    place on the CPU: the tables are so small that a GPU would wait for its kernels to be launched.
    """
    evidence = first_window(evidence)
    context = DistributedContext.from_environment(device)  # each process trains alone
    folds = _make_folds(network, evidence, recipe, seed, targets)
    networks = [network, *(fold.network for fold in folds)]
    training_rows = [evidence, *(fold.training_rows for fold in folds)]
    _fit_factors(networks, training_rows, folds, extra)
    make_sampler = partial(BatchSampler, recipe=recipe, n_latent=network.latent, device=CPU)
    samplers = [
        make_sampler(rows, targets=targets, seed=mix_seed(seed, -i), extra=own)
        for i, rows in enumerate(training_rows)
        for own in [extra and extra.complete(rows, targets)]
    ]
    weights = StackedWeights(networks, recipe)
    state = checkpoint.restore(weights) if checkpoint else TrainingState()
    writable = checkpoint if context.is_first else None
    if not state.history:  # the initial weights are a candidate, too
        state.start(_score(folds))
    step = BatchedStep(weights, networks, recipe, torch.stack([s.loss_weights for s in samplers]))
    saved_at = started_at = time.monotonic()
    earlier_seconds = state.history[-1].seconds if state.history else 0.0
    rounds = train_rounds(step, samplers, recipe, first=state.round * ROUND_STEPS)
    while state.n_stale <= recipe.patience and (losses := next(rounds, None)) is not None:
        with weights.averaged():
            score = _score(folds)
        progress = advance(state, weights, recipe, float(losses[0]), score)
        progress = replace(progress, seconds=earlier_seconds + time.monotonic() - started_at)
        state.history.append(progress)
        if on_progress and context.is_first:
            on_progress(progress)
        if writable and time.monotonic() - saved_at > loop.SECONDS_BETWEEN_SAVES:
            writable.save(weights, state)
            saved_at = time.monotonic()
    if writable:
        writable.save(weights, state)
    weights.use_best()
    is_small = extra is None and evidence.n_complete_rows < MAX_SELECTION_ROWS
    ignored = _select_variables(folds, targets) if is_small else {}
    ignored = _calibrate(network, evidence, folds, extra, targets=targets, ignored=ignored)
    if on_result:
        on_result(CrossValidation(folds, ignored))
    network.to(device)
    return state.history


def _make_folds(
    network: Network, evidence: Evidence, recipe: Recipe, seed: int, targets: Sequence[int]
) -> list[Fold]:
    """Copies of an untrained network, each with the rows of all folds but one."""
    folds = []
    n_groups, random = evidence.n_groups, np.random.default_rng(seed)
    for numbers in split_folds(n_groups, recipe.folds, seed):
        rows = evidence.select_groups(np.setdiff1d(np.arange(n_groups), numbers))
        held_out = evidence.select_groups(numbers).draw_from_groups(random)
        validation = Validation(held_out, recipe, seed=seed, device=CPU, targets=targets)
        folds.append(Fold(copy.deepcopy(network), rows, held_out, validation))
    return folds


def _fit_factors(
    networks: Sequence[Network],
    training_rows: Sequence[Evidence],
    folds: Sequence[Fold],
    extra: ExtraRows | None,
) -> None:
    """Fit all factors, with the shrinkage that predicts the folds best. They are not trained.

    With so few rows, training makes them worse.
    """
    for network in networks:
        if network.set_encoder.factors is not None:
            network.set_encoder.factors.freeze()
    pairs = zip(networks, training_rows, strict=True)
    fits = [network.fit_factors(*weigh_rows(rows, extra)) for network, rows in pairs]
    choose_shrinkage(fits, [None, *(fold.validation for fold in folds)])


def split_folds(n_rows: int, n_folds: int, seed: int) -> list[NDArray[np.int64]]:
    """Numbers of the rows, or groups of rows, of each fold; sizes differ by at most one."""
    random = torch.Generator().manual_seed(mix_seed(seed, -1))
    order = torch.randperm(n_rows, generator=random).numpy()
    return [np.sort(rows) for rows in np.array_split(order, min(n_folds, n_rows))]


def _select_variables(folds: Sequence[Fold], targets: Sequence[int]) -> dict[int, list[int]]:
    """The variables that predictions of each target ignore; see `selection`.

    A survival target has none: its regression has a penalty of its own.
    """
    network = folds[0].network
    if network.marginals is None or len(targets) == len(network.specs):
        return {}
    candidates = [place for place in range(len(network.specs)) if place not in targets]
    held_out = [
        HeldOutRows(
            fold.network, TrainingRows(fold.training_rows), fold.validation.batch, len(fold.rows)
        )
        for fold in folds
    ]
    return {
        target: ignored
        for target in targets
        if network.specs[target].kind is not Kind.SURVIVAL
        if (ignored := find_ignored_variables(held_out, target, candidates))
    }


def _calibrate(
    network: Network,
    evidence: Evidence,
    folds: Sequence[Fold],
    extra: ExtraRows | None,
    *,
    targets: Sequence[int],
    ignored: Mapping[int, list[int]],
) -> dict[int, list[int]]:
    """Calibrate the network of all rows with the folds' predictions of their held-out rows.

    Returns the variables that predictions ignore: those ``ignored``, unless predictions that are mixed with a
    regression are about as good or better with all variables.
    """
    marginals = network.marginals
    if marginals is None:
        return dict(ignored)
    rows = TrainingRows.join(evidence, extra, targets)
    held_out = [
        HeldOutRows(
            fold.network,
            TrainingRows.join(fold.training_rows, extra, targets),
            fold.validation.calibration_batch(share=1 / len(folds)),
            len(fold.validation),
        )
        for fold in folds
    ]

    def calibrate_ignoring(candidate: Mapping[int, list[int]]) -> dict[int, RegressionChoice]:
        assert network.marginals is not None  # noqa: S101  # see above
        data = CalibrationData.concatenate([part.predict(candidate) for part in held_out])
        outputs = calibrate(network.marginals, data)
        return add_regressions(
            network,
            rows,
            held_out=held_out,
            data=data,
            outputs=outputs,
            targets=targets,
            ignored=candidate,
        )

    likelihoods = []
    for candidate in ({}, ignored) if ignored else ():
        network.marginals = copy.deepcopy(marginals)
        choices = calibrate_ignoring(candidate)
        likelihoods.append({target: choice.log_likelihood for target, choice in choices.items()})
    network.marginals = marginals
    kept = {
        target: variables
        for target, variables in ignored.items()
        if target not in likelihoods[0]
        or likelihoods[1][target] >= likelihoods[0][target] + MIN_IGNORING_GAIN
    }
    calibrate_ignoring(kept)
    return kept


def _score(folds: Sequence[Fold]) -> float | None:
    """The mean score of held-out rows over all folds; None if nothing is hidden."""
    scores = [fold.validation.score(fold.network) for fold in folds]
    known = [score for score in scores if score is not None]
    return sum(known) / len(known) if known else None
