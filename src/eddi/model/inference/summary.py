"""Predictions of named variables in the table's own units, from predictive distributions."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.inference.predictive import PredictiveDistribution
from eddi.model.prediction import COVERAGE, Prediction, Predictions
from eddi.model.survival_curve import SurvivalCurve
from eddi.table.coding import Coding
from eddi.table.schema import Schema
from eddi.table.survival.survival import Survival
from eddi.table.variable import Kind, Variable

Mask = NDArray[np.bool_]
Numbers = NDArray[np.float64]


def summarise(
    chunks: Iterable[PredictiveDistribution], schema: Schema, coding: Coding, names: Sequence[str]
) -> Predictions:
    """Predictions of the named variables, from the distributions of consecutive chunks of rows."""
    with torch.inference_mode():
        summaries = [_summarise_chunk(chunk, schema, coding, names) for chunk in chunks]
    by_name = zip(names, *summaries, strict=True)
    return Predictions(
        {
            name: Prediction(schema[name], *map(_concatenate, zip(*parts, strict=True)))
            for name, *parts in by_name
        }
    )


def _summarise_chunk(
    chunk: PredictiveDistribution, schema: Schema, coding: Coding, names: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Mean, sd, interval, probabilities and those of time bins of each named variable."""
    positions = schema.positions(names)
    places = chunk.places(positions)
    mean, sd = (moment[:, places].double().cpu().numpy() for moment in chunk.moments())
    low, high = chunk.interval(places)
    ends = _decode(chunk, coding, torch.cat([low, high]), positions)
    interval = np.stack(np.split(ends, 2), axis=-1)  # [rows, n, 2]
    probabilities = dict(chunk.probabilities())
    return [
        (
            *_summarise_variable(
                schema[name], mean[:, k], sd[:, k], interval[:, k], probabilities.get(place)
            ),
            _to_numbers(chunk.log_hazard_sd.get(place)),
        )
        for k, (name, place) in enumerate(zip(names, places, strict=True))
    ]


def _decode(
    chunk: PredictiveDistribution, coding: Coding, coded: Tensor, positions: Sequence[int]
) -> Numbers:
    """Coded values [rows, n] of some variables in the table's own units."""
    padded = np.zeros((len(coded), len(coding.shift)))
    padded[:, positions] = coded.cpu().numpy()
    numbers = coding.decode(padded)[:, positions]
    # A bisection ends close to a whole number; only real variables have values between two.
    is_real = np.array([chunk.heads.specs[place].kind is Kind.REAL for place in chunk.places(positions)])
    return np.where(is_real, numbers, np.rint(numbers))


def _summarise_variable(
    variable: Variable, mean: Numbers, sd: Numbers, interval: Numbers, probabilities: Tensor | None
) -> tuple[Any, ...]:
    if variable.kind is Kind.CATEGORY:
        mean, sd, interval = (np.full_like(part, np.nan) for part in (mean, sd, interval))
    numbers = _to_numbers(probabilities)
    if variable.survival is not None and numbers is not None:
        return (*_summarise_times(variable.survival, numbers), None, numbers)
    return mean, sd, interval, numbers, None


def _summarise_times(survival: Survival, probabilities: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Mean, sd and 90% interval of the time of the event, up to the last edge."""
    curve = SurvivalCurve(np.array(survival.edges), probabilities)
    ends = [curve.quantile((1 - COVERAGE) / 2), curve.quantile((1 + COVERAGE) / 2)]
    interval = np.minimum(np.stack(ends, axis=-1), curve.horizon)
    return curve.restricted_mean(), curve.restricted_sd(), interval


def _to_numbers(tensor: Tensor | None) -> Numbers | None:
    return None if tensor is None else np.asarray(tensor.double().cpu().numpy())


def _concatenate(parts: tuple[Any, ...]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def insert_observed(predictions: Predictions, numbers: Numbers, observed: Mask) -> Predictions:
    """Replace the predictions of observed values by these values, with certainty.

    Args:
        predictions: of n variables.
        numbers: the variables' values in the table's own units [rows, n]; ignored where unobserved.
        observed: True where a value is observed [rows, n].
    """
    columns = zip(predictions.values(), numbers.T, observed.T, strict=True)
    return Predictions({p.variable.name: _insert_column(p, x, mask) for p, x, mask in columns})


def _insert_column(prediction: Prediction, numbers: Numbers, observed: Mask) -> Prediction:
    if not observed.any() or prediction.variable.survival is not None:  # a censored time is no value
        return prediction
    probabilities = prediction.probabilities
    if probabilities is not None:
        level = np.where(observed, numbers, 0).round().astype(int)
        one_hot = np.eye(probabilities.shape[1])[level]
        probabilities = np.where(observed[:, None], one_hot, probabilities)
    if prediction.variable.kind is Kind.CATEGORY:
        return replace(prediction, probabilities=probabilities)
    return replace(
        prediction,
        mean=np.where(observed, numbers, prediction.mean),
        sd=np.where(observed, 0.0, prediction.sd),
        interval=np.where(observed[:, None], numbers[:, None], prediction.interval),
        probabilities=probabilities,
    )
