"""A candidate: a model that learns from the interviews of a questionnaire."""

from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from eddi.errors import EddiError
from eddi.estimator_input import DEFAULT_PRIOR_ROWS
from eddi.model.fitted import FittedModel
from eddi.model.training.loop import OnProgress
from eddi.partial_vae import PartialVAE
from eddi.service.analyst.learning.learning_data import LearningData
from eddi.service.analyst.models.certification import certify_held_out
from eddi.service.errors import N_
from eddi.service.interviews.questionnaire import Questionnaire


class LearningConflictError(EddiError, RuntimeError):
    """A questionnaire is already learning, or its model cannot learn."""

    status: ClassVar[int] = 409
    title: ClassVar[str] = N_("That cannot be done now")


def fit_candidate(
    current: Questionnaire,
    data: LearningData,
    *,
    checkpoint: Path,
    steps: int | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> PartialVAE:
    """Fit a model with the schema, target and recipe of the current version.

    The same data give the same weights. Beliefs count as a few rows, even if the schema states none: rows
    with independent values shrink relations. Interviews have few answers to some questions. Without
    shrinkage, a model overestimates what some of them tell by chance, and asks them first.

    Args:
        current: the current version of the questionnaire.
        data: what to learn from.
        checkpoint: a file from which an interrupted fit resumes.
        steps: maximum number of steps; that of the recipe if None.
        seed: of the fit.
        on_progress: called after every hundred steps.

    Raises:
        LearningConflictError: the model cannot learn.
    """
    model = check_learns(current)
    target = current.target
    return PartialVAE(
        model.schema,
        target[0] if len(target) == 1 else target,
        recipe=model.recipe,
        set_encoder=model.set_encoder,
        max_steps=steps,
        prior_rows=DEFAULT_PRIOR_ROWS if model.schema.time is None else None,
        random_state=seed,
        checkpoint=checkpoint,
        on_progress=on_progress,
    ).fit(data.rows, question_weights=data.question_weights)


def measure_candidate(model: PartialVAE, held_out: pa.Table, *, within: float | None) -> None:
    """Measure a candidate on rows that no model has learned from, and certify it on them."""
    model.measure_quality(held_out)
    certify_held_out(model.fitted(), held_out, within=within)


def check_learns(current: Questionnaire) -> FittedModel:
    """Return the model of a questionnaire; raise an error if it does not learn from interviews."""
    if not isinstance(current.model, FittedModel):
        raise LearningConflictError(
            "an item bank has fixed parameters and does not learn from interviews."
        )
    return current.model
