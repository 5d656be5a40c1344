"""Whether predictions come true: the predictions after the last answer, compared with outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate.calibration import wilson_interval
from eddi.interview.interview import answers_to_evidence
from eddi.model.fitted import FittedModel
from eddi.model.prediction import COVERAGE, Prediction
from eddi.service.analyst.questionnaires.collected_answers import Person
from eddi.table.variable import Variable

MIN_OUTCOMES = 20  # with fewer, a frequency says almost nothing
MIN_PER_BIN = 10  # outcomes behind a point of the chart
MAX_BINS = 10

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Share:
    """A share of rows with its 95% interval."""

    n_true: int
    n_rows: int
    low: float
    high: float

    @classmethod
    def of(cls, truths: NDArray[np.bool_]) -> "Share":
        """The share of rows that are true."""
        n_true, n_rows = int(truths.sum()), len(truths)
        return cls(n_true, n_rows, *wilson_interval(n_true, n_rows))

    @property
    def value(self) -> float:
        """The share itself."""
        return self.n_true / self.n_rows


@dataclass(frozen=True)
class LevelReliability:
    """Predicted probabilities of levels against observed frequencies.

    Args:
        variable: the target.
        predicted: mean predicted probability of each bin; with two levels, that of the second one,
            otherwise that of the most likely one.
        observed: the frequency in each bin.
        expected_accuracy: mean probability of the most likely level.
        accuracy: share of people for whom the most likely level was right.
    """

    variable: Variable
    predicted: tuple[float, ...]
    observed: tuple[Share, ...]
    expected_accuracy: float
    accuracy: Share


@dataclass(frozen=True)
class IntervalCoverage:
    """How many outcomes of a quantity were in their 90% interval, and the mean absolute error."""

    variable: Variable
    coverage: Share
    mean_error: float

    @property
    def is_compatible(self) -> bool:
        """Whether the coverage may be 90%."""
        return self.coverage.low <= COVERAGE <= self.coverage.high


Result = LevelReliability | IntervalCoverage


def check_outcomes(model: FittedModel, people: Sequence[Person], target: str) -> Result | None:
    """Compare the predictions of a target with its outcomes; None with fewer than `MIN_OUTCOMES`."""
    known = find_known(model, people, target)
    if len(known) < MIN_OUTCOMES:
        return None
    variable = model.schema[target]
    evidence = answers_to_evidence(model, [person.record.answers for person in known])
    prediction = model.predict_evidence(evidence.hide([model.schema.position(target)]), [target])[target]
    truth = np.array([_read_truth(variable, person) for person in known])
    if prediction.probabilities is None:
        return _cover(prediction, truth)
    return _compare_levels(variable, prediction.probabilities, truth.astype(int))


def find_known(model: FittedModel, people: Sequence[Person], target: str) -> list[Person]:
    """Return the people whose outcome of a target is known, and valid for this model."""
    if target not in model.schema.names:
        return []
    return [
        person for person in people if person.outcome is not None and target in person.outcome.values
    ]


def _read_truth(variable: Variable, person: Person) -> float:
    assert person.outcome is not None  # noqa: S101  # see `find_known`
    return variable.number(person.outcome.values[variable.name], confirm=True)


def _cover(prediction: Prediction, truth: Numbers) -> IntervalCoverage:
    low, high = prediction.interval.T
    error = float(np.abs(prediction.mean - truth).mean())
    return IntervalCoverage(prediction.variable, Share.of((low <= truth) & (truth <= high)), error)


def _compare_levels(
    variable: Variable, probabilities: Numbers, truth: NDArray[np.int64]
) -> LevelReliability:
    is_right = probabilities.argmax(-1) == truth
    is_binary = variable.n_levels == 2
    predicted = probabilities[:, 1] if is_binary else probabilities.max(-1)
    came_true = truth == 1 if is_binary else is_right
    n_bins = min(MAX_BINS, len(truth) // MIN_PER_BIN)
    bins = np.array_split(np.argsort(predicted, kind="stable"), n_bins)
    return LevelReliability(
        variable,
        predicted=tuple(float(predicted[rows].mean()) for rows in bins),
        observed=tuple(Share.of(came_true[rows]) for rows in bins),
        expected_accuracy=float(probabilities.max(-1).mean()),
        accuracy=Share.of(is_right),
    )
