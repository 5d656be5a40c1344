"""Sensitivity to values missing not at random: "what if those who did not answer have high values?"

A model assumes that a missing value is distributed like the observed values of similar people. This cannot be
tested with the table alone. A pattern-mixture model states by how much the distributions differ (Rubin 1977):
here the density of a missing value is tilted by ``exp(delta * value / sd)``. For a normal distribution
with the spread of the whole column, this adds ``delta`` standard deviations. Levels with an order are
numbered. With ``delta = 0`` values are missing at random. See how large ``delta`` must be before a
conclusion changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EvaluationError
from eddi.model.base import Model, ModelSource
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind, Variable

Numbers = NDArray[np.float64]

DELTAS = (-1.0, -0.5, 0.0, 0.5, 1.0)
N_DRAWS = 32  # imputed values of each row
MIN_SD = 1e-12  # of a column that does not vary


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Predictions if the missing values of a variable differ from the observed ones.

    Args:
        variable: whose values are missing.
        target: what is predicted.
        deltas: by how many standard deviations the missing values are larger [deltas].
        values: mean of the missing values [deltas].
        predictions: predicted target of each row without a value [deltas, rows]: its mean, or the
            probability of its last level.
    """

    variable: str
    target: str
    deltas: Numbers
    values: Numbers
    predictions: Numbers

    @property
    def mean_predictions(self) -> Numbers:
        """The mean prediction [deltas]."""
        return np.asarray(self.predictions.mean(1))

    @property
    def max_changes(self) -> Numbers:
        """The largest change of a prediction compared with ``delta = 0`` [deltas]."""
        at_random = self.predictions[np.abs(self.deltas).argmin()]
        return np.asarray(np.abs(self.predictions - at_random).max(1))

    @property
    def n_rows(self) -> int:
        """The number of rows without a value."""
        return int(self.predictions.shape[1])

    def summarize(self) -> str:
        """The range of predictions in a sentence."""
        means = self.mean_predictions
        at_random = means[np.abs(self.deltas).argmin()]
        return (
            f"{self.variable}: {self.n_rows:,} rows have no value. Their mean prediction of {self.target} is "
            f"{at_random:.4g}. It is {means.min():.4g} to {means.max():.4g} if their values differ by up to "
            f"{np.abs(self.deltas).max():g} standard deviations. A single prediction changes by at most "
            f"{self.max_changes.max():.4g}."
        )

    def to_document(self) -> dict[str, Any]:
        """The result as plain JSON, without the single predictions."""
        return {
            "variable": self.variable,
            "target": self.target,
            "n_rows": self.n_rows,
            "deltas": self.deltas.tolist(),
            "values": self.values.tolist(),
            "mean_predictions": self.mean_predictions.tolist(),
            "max_changes": self.max_changes.tolist(),
        }


def find_variables(model: ModelSource, table: Any, *, target: str) -> list[str]:
    """The variables that can be analysed: some values are missing, and the values have an order."""
    fitted = model.fitted()
    evidence = fitted.evidence(table, optional=(target,))
    is_missing = np.asarray(~evidence.observed.all(0))
    return [
        variable.name
        for place, variable in enumerate(fitted.schema.variables)
        if is_missing[place] and variable.name != target and _has_order(variable)
    ]


def analyse_sensitivity(
    model: ModelSource,
    table: Any,
    variable: str,
    *,
    target: str,
    deltas: Sequence[float] = DELTAS,
    n_draws: int = N_DRAWS,
    seed: int = 0,
) -> Sensitivity:
    """Predict the target of the rows without a value of ``variable``, under several assumptions about it.

    Args:
        model: a fitted model.
        table: rows of which some have no value of the variable.
        variable: a quantity, or levels with an order; not the target.
        target: what is predicted.
        deltas: assumed differences, in standard deviations.
        n_draws: imputed values of each row.
        seed: of the draws.

    Raises:
        EvaluationError: no value is missing, or the levels of the variable or the target have no order.
    """
    fitted = model.fitted()
    _check_variables(fitted, variable, target)
    evidence = fitted.evidence(table, optional=(target,)).hide([fitted.schema.position(target)])
    place = fitted.schema.position(variable)
    is_missing = ~evidence.observed[:, place]
    if not is_missing.any():
        raise EvaluationError(f"every row has a value of {variable!r}, so no assumption is needed.")
    drawn, predicted = _predict_draws(
        fitted, evidence[np.flatnonzero(is_missing)], place, target, n_draws, seed
    )
    sd = max(_column_sd(fitted, evidence, place), MIN_SD)
    weights = np.stack([_tilt(drawn / sd, delta) for delta in deltas])  # [deltas, draws, rows]
    return Sensitivity(
        variable,
        target,
        np.asarray(deltas, dtype=np.float64),
        values=(weights * drawn).sum(1).mean(1),
        predictions=(weights * predicted).sum(1),
    )


def _check_variables(model: Model, variable: str, target: str) -> None:
    if variable == target:
        raise EvaluationError(f"{variable!r} is the target. Name another variable.")
    for name in (variable, target):
        if not _has_order(model.schema[name]):
            raise EvaluationError(
                f"the levels of {name!r} have no order, so that none of them is high. Name another variable."
            )


def _has_order(variable: Variable) -> bool:
    return variable.kind is not Kind.CATEGORY or variable.n_levels == 2


def _predict_draws(
    model: Model, evidence: Evidence, place: int, target: str, n_draws: int, seed: int
) -> tuple[Numbers, Numbers]:
    """Draws of the variable, and the target's prediction for each of them [draws, rows]."""
    drawn = model.draw_tables(evidence, n_draws, seed=seed)[..., place]
    numbers = np.full((len(evidence), evidence.n_variables), np.nan)
    predicted = []
    for draw in drawn:
        numbers[:, place] = draw
        answered = evidence.reveal(model.coding.encode(numbers))
        prediction = model.predict_evidence(answered, (target,))[target]
        probabilities = prediction.probabilities
        predicted.append(prediction.mean if probabilities is None else probabilities[:, -1])
    return np.asarray(drawn), np.array(predicted)


def _column_sd(model: Model, evidence: Evidence, place: int) -> float:
    """The standard deviation of the observed values; that of the training rows if there are few."""
    values = model.coding.decode(evidence.values)[evidence.observed[:, place], place]
    return float(values.std()) if len(values) > 1 else float(model.coding.scale[place])


def _tilt(scaled: Numbers, delta: float) -> Numbers:
    """Weights of draws that tilt their distribution, with sum 1 in each row [draws, rows]."""
    exponents = delta * scaled
    weights = np.exp(exponents - exponents.max(0))
    return np.asarray(weights / weights.sum(0))
