"""Measure how well targets are predicted: from all values of a row, and after each question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eddi.interview.next_step import InterviewStates
from eddi.interview.risk_control import MAX_QUESTIONS, resolve_rules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.base import Model
from eddi.model.prediction import Prediction
from eddi.model.quality import TargetQuality, auroc, count_enough_steps
from eddi.model.survival_quality import compare_survival, survival_loss
from eddi.strategy.stopping import Stop
from eddi.table.evidence import Evidence
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.text import format_value
from eddi.table.variable import Kind, Variable

MAX_ROWS = 200  # that are interviewed; more take longer and hardly change the result

Numbers = NDArray[np.float64]
HeldOut = Sequence[tuple[Model, Evidence]]
"""Models, each with rows it was not trained on: the folds of a cross-validation, or one model."""


@dataclass(frozen=True)
class _Results:
    """Predictions of held-out rows."""

    truth: Numbers  # [rows]
    value: Numbers  # [rows] the predicted mean, or the position of the most likely level
    probabilities: Numbers | None  # [rows, levels]
    losses: Numbers | None  # [rows, steps + 1]; None if no row was interviewed


def measure_quality(
    held_out: HeldOut, target: str, source: str, *, targets: Sequence[str] = ()
) -> TargetQuality | None:
    """The quality of a target's predictions; None if no row has a value of the target.

    Predictions use only what an interview can ask: neither other targets, nor questions that are never
    asked.

    Args:
        held_out: models, each with rows it was not trained on.
        target: the variable to predict.
        source: what these rows are, such as "test rows"; see `TargetQuality`.
        targets: all targets of the interviews; the target alone by default.
    """
    targets = targets or (target,)
    results = [result for model, rows in held_out if (result := _predict(model, rows, target, targets))]
    if not results:
        return None
    schema = held_out[0][0].schema
    variable = schema[target]
    truth, value = (np.concatenate([getattr(r, name) for r in results]) for name in ("truth", "value"))
    shares: dict[str, float] = {}
    if variable.survival is not None:
        metrics, trivial = compare_survival(variable.survival, truth, value)
    elif variable.kind.has_levels:
        probabilities = np.concatenate([r.probabilities for r in results if r.probabilities is not None])
        metrics, trivial, shares = _compare_classes(variable, truth, value, probabilities)
    else:
        metrics, trivial = _compare_quantities(truth, value)
    return TargetQuality(
        target=target,
        unit=variable.unit,
        source=source,
        n_rows=len(truth),
        metrics=metrics,
        trivial=trivial,
        class_shares=shares,
        n_enough=_count_enough(results),
        n_questions=len(_askable_questions(schema, targets)),
    )


def _askable_questions(schema: Schema, targets: Sequence[str]) -> list[Question]:
    return [q for q in schema.questions if not q.never and not set(targets) & set(q.reveals)]


def _predict(model: Model, rows: Evidence, target: str, targets: Sequence[str]) -> _Results | None:
    position, variable = model.schema.position(target), model.schema[target]
    rows = rows[np.flatnonzero(rows.observed[:, position])]
    if not len(rows):
        return None
    numbers = model.coding.decode(rows.values)[:, position]
    truth = numbers if variable.kind in (Kind.REAL, Kind.SURVIVAL) else np.rint(numbers)
    asked = {name for question in _askable_questions(model.schema, targets) for name in question.reveals}
    asked |= _history(model.schema)
    hidden = [place for place, v in enumerate(model.schema.variables) if v.name not in asked]
    prediction = model.predict_evidence(rows.hide(hidden), (target,))[target]
    probabilities = prediction.probabilities
    value = prediction.mean if probabilities is None else probabilities.argmax(1).astype(np.float64)
    losses = None
    if len(model.schema.questions) <= MAX_QUESTIONS:
        losses = _interview(model, rows[:MAX_ROWS], target, targets, truth[:MAX_ROWS])
    return _Results(truth, value, probabilities, losses)


def _interview(
    model: Model, rows: Evidence, target: str, targets: Sequence[str], truth: Numbers
) -> Numbers:
    """The loss of each row after each question [rows, steps + 1]; earlier measurements are known."""
    rules, history = resolve_rules(model, tuple(targets), stop=Stop()), _history(model.schema)
    hidden = [place for place, name in enumerate(model.schema.names) if name not in history]
    start = replace(InterviewStates.empty(rules, len(rows)), evidence=rows.hide(hidden))
    interviews = SimulatedInterviews(rules, rows, start)
    losses = [
        _loss(model.predict_evidence(step.evidence, (target,))[target], truth)
        for step in interviews.run(interviews.n_steps(None))
    ]
    return np.stack(losses, axis=1)


def _history(schema: Schema) -> set[str]:
    """Variables that are known before the first question: none without `[time]`."""
    return set() if schema.time is None else set(schema.time.past_names())


def _loss(prediction: Prediction, truth: Numbers) -> Numbers:
    """The squared error of a quantity, or the Brier score of classes or of time bins [rows]."""
    if prediction.bin_probabilities is not None:
        return survival_loss(prediction.bin_probabilities, truth)
    if prediction.probabilities is None:
        return np.square(prediction.mean - truth)
    is_true = truth[:, None] == np.arange(prediction.variable.n_levels)
    return np.asarray(np.square(prediction.probabilities - is_true).sum(1))


def _count_enough(results: Sequence[_Results]) -> int | None:
    losses = [result.losses for result in results if result.losses is not None]
    if not losses:
        return None
    n_steps = max(loss.shape[1] for loss in losses)
    padded = [np.pad(loss, ((0, 0), (0, n_steps - loss.shape[1])), mode="edge") for loss in losses]
    return count_enough_steps(np.concatenate(padded).mean(0))


def _compare_classes(
    variable: Variable, truth: Numbers, value: Numbers, probabilities: Numbers
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Metrics, those of the trivial prediction, and the share of each class."""
    shares = [float((truth == place).mean()) for place in range(variable.n_levels)]
    metrics = {"accuracy": float((value == truth).mean())}
    trivial = {"accuracy": max(shares)}
    # Each class against the rest, averaged. With two classes, both have the same AUROC.
    areas = [
        float(auroc(probabilities[:, place], truth == place))
        for place, share in enumerate(shares)
        if 0 < share < 1
    ]
    if areas:
        metrics["auroc"], trivial["auroc"] = float(np.mean(areas)), 0.5
    return metrics, trivial, dict(zip(map(format_value, variable.levels), shares, strict=True))


def _compare_quantities(truth: Numbers, value: Numbers) -> tuple[dict[str, float], dict[str, float]]:
    error = float(np.sqrt(np.square(value - truth).mean()))
    spread = float(truth.std())
    r2 = 1 - (error / spread) ** 2 if spread > 0 else 0.0
    return {"rmse": error, "r2": r2}, {"rmse": spread, "r2": 0.0}
