"""Fit a model to a table: prepare, train, calibrate."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import torch

from eddi.errors import TrainingError
from eddi.model import recipe as recipes
from eddi.model.fitted import FittedModel
from eddi.model.inference.frozen import freeze_weights
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe, SetEncoderName
from eddi.model.training import preparation
from eddi.model.training.checkpoint import Checkpoint, Progress
from eddi.model.training.folds.cross_validation import CrossValidation, train_cross_validated
from eddi.model.training.loop import OnProgress, train
from eddi.model.training.preparation import PreparedTable
from eddi.model.training.question_weights import QuestionWeights
from eddi.model.training.streaming import StreamedEvidence
from eddi.model.training.summary import TrainingSummary
from eddi.model.training.validation import split_by_content, split_validation
from eddi.table.evidence import Evidence
from eddi.table.schema import Schema
from eddi.table.streaming import ParquetStream
from eddi.table.survival.in_schema import copy_bins, learn_bins

WARM_STEPS_SHARE, MIN_WARM_STEPS = 0.1, 200  # of the steps of training from new weights
WARM_LEARNING_RATE = 0.5  # relative to that of training from new weights


@dataclass(frozen=True)
class FitSettings:
    """How to fit a model.

    Args:
        target: the declared targets.
        recipe: settings of the network and of training, before they are adapted to the table.
        set_encoder: the name of the set encoder.
        seed: of everything that is random.
        device: where to train.
        max_steps: number of training steps; the recipe's own number if None.
        prior_rows: how many rows the beliefs of the schema count as; 0 to ignore them.
        checkpoint: a file in which training saves its state.
        on_progress: called after every hundred steps.
        is_warm_start: whether rows are held out by their content, so that later fits can start from the
            weights of this one.
        start: the model whose weights training starts from; None for new weights.
        question_weights: of rows that are interviews; None if there are none.
    """

    target: tuple[str, ...]
    recipe: Recipe
    set_encoder: SetEncoderName
    seed: int
    device: torch.device
    max_steps: int | None = None
    prior_rows: int = 0
    checkpoint: Path | None = None
    on_progress: OnProgress | None = None
    is_warm_start: bool = False
    start: FittedModel | None = None
    question_weights: QuestionWeights | None = None


def fit_model(
    table: pa.Table | ParquetStream,
    schema: Schema,
    settings: FitSettings,
    *,
    on_warnings: Callable[[tuple[str, ...]], None] | None = None,
) -> FittedModel:
    """Fit a model to a table; ``on_warnings`` is called with warnings about it before training."""
    if settings.start is not None:
        schema = copy_bins(schema, settings.start.schema)
    schema = learn_bins(schema, table)
    _check_recipe(schema, settings)
    prepared = preparation.prepare(
        table,
        schema,
        settings.recipe,
        seed=settings.seed,
        targets=settings.target,
        prior_rows=settings.prior_rows,
        coding=settings.start.coding if settings.start else None,
        question_weights=settings.question_weights,
    )
    if prepared.warnings and on_warnings:
        on_warnings(prepared.warnings)
    recipe = adapt_recipe(settings, prepared.n_main_rows, n_complete=prepared.n_complete_rows)
    if prepared.is_prior:  # beliefs are simple, and soon learned
        recipe = replace(recipe, patience=min(recipe.patience, recipes.SMALL_PATIENCE))
    network = _build_network(schema, prepared, recipe, settings)
    history, validated = _train(network, prepared, recipe, settings, schema.positions(settings.target))
    # Rows drawn from beliefs say nothing about the quality of predictions, so they are not kept.
    held_out = None if prepared.is_prior else _split(prepared, recipe, settings)[1]
    return FittedModel(
        schema=schema,
        coding=prepared.coding,
        recipe=recipe,
        set_encoder=settings.set_encoder,
        target=settings.target,
        network=network,
        training=TrainingSummary(
            columns=tuple(table.column_names),
            n_rows=prepared.n_rows,
            fingerprint=prepared.fingerprint,
            history=history,
            warnings=prepared.warnings,
            n_prior_rows=settings.prior_rows,
            n_answers=prepared.n_answers,
        ),
        validation_rows=held_out,
        ignored_variables={
            schema.names[target]: tuple(schema.names[variable] for variable in variables)
            for target, variables in validated.ignored.items()
        },
        folds=[(fold.network, fold.rows) for fold in validated.folds],
    )


def _check_recipe(schema: Schema, settings: FitSettings) -> None:
    """Raise `TrainingError` if a survival target needs marginal predictions that the recipe lacks."""
    times = [name for name in settings.target if schema[name].survival is not None]
    if times and settings.recipe.objective != "direct":
        raise TrainingError(
            f"{times[0]!r} is a survival target, for which this recipe cannot choose questions: its reward "
            'is about targets that can be observed. Use recipe="default".'
        )


def _build_network(
    schema: Schema, prepared: PreparedTable, recipe: Recipe, settings: FitSettings
) -> Network:
    """A new network or, with a warm start, a copy of the earlier one."""
    start = settings.start
    network = preparation.build_network(
        schema,
        prepared.coding,
        settings.set_encoder,
        recipe,
        seed=settings.seed,
        rows=None if start else prepared.rows,
        extra=prepared.extra,
    )
    if start is not None:
        network.load_state_dict(start.network.state_dict())
    return network


def _split(
    prepared: PreparedTable, recipe: Recipe, settings: FitSettings
) -> tuple[Evidence | StreamedEvidence, Evidence | None]:
    """Training rows and held-out rows."""
    if settings.is_warm_start and isinstance(prepared.rows, Evidence):
        return split_by_content(prepared.rows, recipe)
    if recipes.is_cross_validated(recipe, prepared.n_complete_rows):
        return prepared.rows, None
    return split_validation(prepared.rows, recipe, settings.seed)


def _train(
    network: Network,
    prepared: PreparedTable,
    recipe: Recipe,
    settings: FitSettings,
    targets: Sequence[int],
) -> tuple[list[Progress], CrossValidation]:
    """Train a network in place; return the progress, and the cross-validation of a small table."""
    results = [CrossValidation([], {})]
    is_small = recipes.is_cross_validated(recipe, prepared.n_complete_rows)
    rows = prepared.rows
    train_network = partial(train_cross_validated, on_result=results.append)
    if not is_small:
        rows, held_out = _split(prepared, recipe, settings) if settings.is_warm_start else (rows, None)
        train_network = partial(train, held_out=held_out, is_warm=settings.start is not None)
    history = train_network(
        network,
        rows,
        recipe,
        seed=settings.seed,
        device=settings.device,
        targets=targets,
        extra=prepared.extra,
        checkpoint=_find_checkpoint(prepared, settings, recipe),
        on_progress=settings.on_progress,
    )
    for trained in (network, *(fold.network for fold in results[-1].folds)):
        freeze_weights(trained)
    return history, results[-1]


def adapt_recipe(settings: FitSettings, n_rows: int, *, n_complete: int) -> Recipe:
    """The recipe for a table of this size, with the user's number of steps."""
    max_steps, start = settings.max_steps, settings.start
    if max_steps is not None and max_steps < 1:
        raise TrainingError(f"max_steps must be at least 1, got {max_steps}.")
    recipe = replace(settings.recipe, folds=0) if settings.is_warm_start else settings.recipe
    adapted = recipes.adapt_to_rows(
        recipe, n_rows, n_complete=n_complete, has_target=bool(settings.target)
    )
    if start is not None:  # the size of the network stays
        steps = max(MIN_WARM_STEPS, round(WARM_STEPS_SHARE * adapted.max_steps))
        rate = WARM_LEARNING_RATE * adapted.learning_rate
        adapted = replace(start.recipe, folds=0, max_steps=steps, learning_rate=rate)
    return adapted if max_steps is None else replace(adapted, max_steps=int(max_steps))


def _find_checkpoint(
    prepared: PreparedTable, settings: FitSettings, recipe: Recipe
) -> Checkpoint | None:
    """The checkpoint of a run, which its table, settings and seed identify."""
    if settings.checkpoint is None:
        return None
    run = f"{prepared.fingerprint} {recipe} {settings.set_encoder} {settings.target} {settings.seed}"
    if settings.question_weights is not None:
        run += f" {settings.question_weights.digest()}"
    return Checkpoint(settings.checkpoint, hashlib.sha256(run.encode()).hexdigest())
