"""The results of simulated interviews over time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import EvaluationError
from eddi.evaluate.survival.brier_score import integrated_brier
from eddi.evaluate.survival.horizon_calibration import HorizonCalibration
from eddi.model.concordance import concordance
from eddi.model.quality import auroc
from eddi.model.survival_curve import SurvivalCurve
from eddi.table.survival.time_bins import SurvivalTimes
from eddi.table.variable import Kind, Variable

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class SeriesCurves:
    """Predictions after each decision.

    Args:
        variable: the target.
        times: of the decisions [persons, decisions]; NaN after the last one of a person.
        truth: of the target at each decision [persons, decisions]; NaN if it is not known. For a survival
            target, the time from the decision to the event, or until which there was none.
        predicted: its mean, or the probability of the second of two levels [persons, decisions].
        n_measured: number of measurements until each decision [persons, decisions].
        spent: their total cost [persons, decisions].
        n_choices: number of decisions at which something was to be measured.
        n_unrecorded: number of those at which the first choice was not recorded, so that another
            measurement took its place, or none.
        events: 1 if the event of a survival target happened, 0 if not [persons, decisions]; None for others.
        bin_probabilities: of the time bins of a survival target [persons, decisions, bins].
    """

    variable: Variable
    times: Numbers
    truth: Numbers
    predicted: Numbers
    n_measured: NDArray[np.int64]
    spent: Numbers
    n_choices: int = 0
    n_unrecorded: int = 0
    events: Numbers | None = None
    bin_probabilities: Numbers | None = None

    @property
    def unrecorded_share(self) -> float:
        """How often the first choice was not recorded near the decision time."""
        return self.n_unrecorded / self.n_choices if self.n_choices else 0.0

    @property
    def measurements_per_person(self) -> float:
        """The mean number of measurements until the last decision, of persons who have decisions."""
        has_decisions = ~np.isnan(self.times).all(1)
        return float(self.n_measured[has_decisions].max(1).mean())

    def auroc(self, decision: int | None = None) -> float:
        """Area under the ROC curve of a binary target; of all decisions together if None."""
        predicted, truth = self._pairs(decision)
        return float(auroc(predicted, truth > 0.5))

    def auprc(self, decision: int | None = None) -> float:
        """Average precision of a binary target: area under the precision-recall curve."""
        predicted, truth = self._pairs(decision)
        return average_precision(predicted, truth > 0.5)

    def rmse(self, decision: int | None = None) -> float:
        """Root mean squared error of the mean."""
        predicted, truth = self._pairs(decision)
        return float(np.sqrt(np.mean((predicted - truth) ** 2)))

    def concordance(self, decision: int | None = None) -> float:
        """Harrell's concordance of a survival target; persons are compared at the same decision."""
        curve, outcome, group = self._survival_rows(decision)
        return concordance(-curve.restricted_mean(), outcome.times, outcome.events, groups=group)

    def integrated_brier(self, decision: int | None = None) -> float:
        """Integrated Brier score of a survival target; of all decisions together if None."""
        curve, outcome, _ = self._survival_rows(decision)
        return float(integrated_brier(curve, outcome.times, outcome.events).mean())

    def calibration(self, horizon: float, decision: int | None = None) -> HorizonCalibration:
        """Predicted and observed risk of a survival target up to a horizon after the decision."""
        curve, outcome, _ = self._survival_rows(decision)
        return HorizonCalibration.compute(
            curve.risk(horizon), outcome.times, outcome.events, horizon=horizon
        )

    def _survival_rows(
        self, decision: int | None
    ) -> tuple[SurvivalCurve, SurvivalTimes, NDArray[np.int64]]:
        """Curves, outcomes and decisions of all rows whose outcome is known."""
        survival = self.variable.survival
        if survival is None or self.events is None or self.bin_probabilities is None:
            raise EvaluationError(
                f"{self.variable.name!r} is {self.variable.kind}. Concordance, Brier score and calibration "
                "are those of survival targets."
            )
        is_known = ~np.isnan(self.truth) & ~np.isnan(self.predicted)
        if decision is not None:
            is_chosen = np.zeros(is_known.shape[1], dtype=bool)
            is_chosen[decision] = True
            is_known &= is_chosen
        curve = SurvivalCurve(np.array(survival.edges), self.bin_probabilities[is_known])
        outcome = SurvivalTimes(self.truth[is_known], self.events[is_known])
        return curve, outcome, np.nonzero(is_known)[1]

    def _pairs(self, decision: int | None) -> tuple[Numbers, Numbers]:
        places = slice(None) if decision is None else decision
        predicted, truth = self.predicted[:, places].ravel(), self.truth[:, places].ravel()
        is_known = ~np.isnan(predicted) & ~np.isnan(truth)
        return predicted[is_known], truth[is_known]

    @property
    def is_binary(self) -> bool:
        return self.variable.kind is Kind.BINARY


def average_precision(scores: Numbers, is_positive: NDArray[np.bool_]) -> float:
    """The mean precision at each positive, in descending order of scores; equal scores count together."""
    if not is_positive.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    positives = np.cumsum(is_positive[order])
    is_last = np.append(np.diff(scores[order]) != 0, True)  # of equal scores
    hits, ranks = positives[is_last], np.flatnonzero(is_last) + 1
    gained = np.diff(np.append(0, hits))
    return float((gained * hits / ranks).sum() / hits[-1])
