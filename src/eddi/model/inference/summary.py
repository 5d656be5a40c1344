"""What beliefs say about named variables, in the table's own numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.inference.predictive import Belief
from eddi.model.prediction import Prediction, Predictions
from eddi.table.coding import Coding
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Variable

Truths = NDArray[np.bool_]


def summarise(
    beliefs: Iterable[Belief], schema: Schema, coding: Coding, names: Sequence[str]
) -> Predictions:
    """Predictions of these variables, from the beliefs of consecutive chunks of rows."""
    chunks = [_chunk(belief, schema, coding, names) for belief in beliefs]
    by_name = zip(names, *chunks, strict=True)
    return Predictions(
        {
            name: Prediction(schema[name], *map(_joined, zip(*parts, strict=True)))
            for name, *parts in by_name
        }
    )


def _chunk(
    belief: Belief, schema: Schema, coding: Coding, names: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Mean, sd, interval and probabilities of each named variable."""
    positions = schema.positions(names)
    mean, sd = (moment[:, positions].double().cpu().numpy() for moment in belief.moments())
    ends = [_numbers(belief, coding, end, positions) for end in belief.interval(positions)]
    interval = np.stack(ends, axis=-1)  # [rows, n, 2]
    chances = dict(belief.probabilities())
    return [
        _summary(schema[name], mean[:, k], sd[:, k], interval[:, k], chances.get(position))
        for k, (name, position) in enumerate(zip(names, positions, strict=True))
    ]


def _numbers(
    belief: Belief, coding: Coding, coded: Tensor, positions: Sequence[int]
) -> NDArray[np.float64]:
    whole = np.zeros((len(coded), len(belief.network.forms)))
    whole[:, positions] = coded.cpu().numpy()
    numbers = coding.decode(whole)[:, positions]
    # A bisection comes close to a whole number; only what is modelled as real lies between two.
    real = np.array([belief.network.forms[position].kind is Kind.REAL for position in positions])
    return np.where(real, numbers, np.rint(numbers))


def _summary(
    variable: Variable,
    mean: NDArray[np.float64],
    sd: NDArray[np.float64],
    interval: NDArray[np.float64],
    chances: Tensor | None,
) -> tuple[Any, ...]:
    if variable.kind is Kind.CATEGORY:
        mean, sd, interval = (np.full_like(part, np.nan) for part in (mean, sd, interval))
    probabilities = None if chances is None else chances.double().cpu().numpy()
    return mean, sd, interval, probabilities


def _joined(parts: tuple[Any, ...]) -> Any:
    return None if parts[0] is None else np.concatenate(parts)


def known(predictions: Predictions, numbers: NDArray[np.float64], observed: Truths) -> Predictions:
    """The predictions with what rows show of their variables taken as known.

    Args:
        predictions: of some variables.
        numbers: of the same, in the table's own [rows, n]; anything where nothing is shown.
        observed: True where something is [rows, n].
    """
    columns = zip(predictions.values(), numbers.T, observed.T, strict=True)
    return Predictions({each.variable.name: _known(each, x, seen) for each, x, seen in columns})


def _known(prediction: Prediction, numbers: NDArray[np.float64], seen: Truths) -> Prediction:
    if not seen.any():
        return prediction
    chances = prediction.probabilities
    if chances is not None:
        certain = np.eye(chances.shape[1])[np.where(seen, numbers, 0).round().astype(int)]
        chances = np.where(seen[:, None], certain, chances)
    if prediction.variable.kind is Kind.CATEGORY:
        return replace(prediction, probabilities=chances)
    return replace(
        prediction,
        mean=np.where(seen, numbers, prediction.mean),
        sd=np.where(seen, 0.0, prediction.sd),
        interval=np.where(seen[:, None], numbers[:, None], prediction.interval),
        probabilities=chances,
    )
