"""Metrics of survival predictions at every step of simulated interviews."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eddi.evaluate.survival.brier_score import integrated_brier, reliable_horizon
from eddi.evaluate.survival.horizon_calibration import HorizonCalibration
from eddi.model.concordance import Numbers, censoring_survival, concordance
from eddi.model.survival_curve import SurvivalCurve


@dataclass(frozen=True, eq=False)
class SurvivalMetrics:
    """Survival curves of rows at every step, next to their times and events.

    Args:
        edges: ends of the time bins [edges].
        times: of events, or until which rows were seen without one [rows].
        events: 1 if the event happened [rows].
        probabilities: of the bins [rows, steps + 1, edges + 1].
    """

    edges: Numbers
    times: Numbers
    events: Numbers
    probabilities: Numbers

    @cached_property
    def curve(self) -> SurvivalCurve:
        """The predicted curves [rows, steps + 1]."""
        return SurvivalCurve(self.edges, self.probabilities)

    @cached_property
    def harrell(self) -> Numbers:
        """Harrell's concordance [steps + 1]; the score is minus the restricted mean time."""
        return self._concordance(None, np.inf)

    @cached_property
    def uno(self) -> Numbers:
        """Uno's concordance [steps + 1], up to the time to which enough rows are observed."""
        inverse = 1 / np.maximum(censoring_survival(self.times, self.events, self.times), 1e-6)
        horizon = reliable_horizon(self.times, self.events, self.edges)
        return self._concordance(inverse**2, horizon)

    @cached_property
    def brier_by_row(self) -> Numbers:
        """Each row's part of the integrated Brier score [rows, steps + 1]."""
        return integrated_brier(self.curve, self.times, self.events)

    @cached_property
    def integrated_brier(self) -> Numbers:
        """The integrated Brier score [steps + 1]."""
        return np.asarray(self.brier_by_row.mean(0))

    def calibration(self, horizon: float, step: int = -1) -> HorizonCalibration:
        """Predicted and observed risk at a horizon, after the last question by default."""
        risk = self.curve[:, step].risk(horizon)
        return HorizonCalibration.compute(risk, self.times, self.events, horizon=horizon)

    def calibration_error(self, horizons: tuple[float, ...]) -> Numbers:
        """Mean distance between predicted and observed risk over horizons [steps + 1]."""
        steps = range(self.probabilities.shape[1])
        usable = [time for time in horizons if time <= self.edges[-1]] or [float(self.edges[-1])]
        errors = [[self.calibration(time, step).error for time in usable] for step in steps]
        return np.asarray(np.mean(errors, axis=1))

    def _concordance(self, weights: Numbers | None, horizon: float) -> Numbers:
        scores = -self.curve.restricted_mean()  # [rows, steps + 1]
        by_step = [
            concordance(own, self.times, self.events, weights=weights, horizon=horizon)
            for own in scores.T
        ]
        return np.array(by_step)
