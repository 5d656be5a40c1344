"""Calibration of the risk at a horizon: predicted risk against Kaplan-Meier risk, by groups of rows."""

from dataclasses import dataclass

import numpy as np

from eddi.model.concordance import Numbers, kaplan_meier

N_GROUPS = 5  # of equal size, by predicted risk
MIN_GROUP_ROWS = 20  # with fewer rows, the Kaplan-Meier risk of a group is mostly noise


@dataclass(frozen=True)
class HorizonCalibration:
    """Predicted and observed risk at a horizon, for groups of rows from low to high risk."""

    horizon: float
    predicted: Numbers  # [groups] mean predicted risk
    observed: Numbers  # [groups] Kaplan-Meier risk
    n_rows: Numbers  # [groups]

    @classmethod
    def compute(
        cls, risk: Numbers, times: Numbers, events: Numbers, *, horizon: float
    ) -> "HorizonCalibration":
        """Compare predicted risks [rows] with what happened."""
        n_groups = int(np.clip(len(risk) // MIN_GROUP_ROWS, 1, N_GROUPS))
        groups = np.array_split(np.argsort(risk, kind="stable"), n_groups)
        end = np.array([horizon])
        observed = [1 - kaplan_meier(times[rows], events[rows], end)[0] for rows in groups]
        return cls(
            horizon,
            np.array([risk[rows].mean() for rows in groups]),
            np.array(observed),
            np.array([len(rows) for rows in groups]),
        )

    @property
    def error(self) -> float:
        """Mean distance between predicted and observed risk over rows."""
        return float(np.average(np.abs(self.predicted - self.observed), weights=self.n_rows))
