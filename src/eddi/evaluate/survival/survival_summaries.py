"""Summaries of curves whose target is a survival variable."""

from functools import cached_property

import numpy as np

from eddi.evaluate.survival.survival_metrics import SurvivalMetrics
from eddi.model.concordance import Numbers
from eddi.table.survival.survival import Survival


class SurvivalSummaries:
    """The part of `Curves` about survival targets; all of it is None for other targets."""

    survival: Survival | None
    truth: Numbers
    events: Numbers | None
    bin_probabilities: Numbers | None

    @cached_property
    def survival_metrics(self) -> SurvivalMetrics | None:
        """All metrics of the rows whose target is observed, such as calibration at horizons."""
        if self.survival is None or self.events is None or self.bin_probabilities is None:
            return None
        known = ~np.isnan(self.truth)
        edges = np.array(self.survival.edges)
        return SurvivalMetrics(
            edges, self.truth[known], self.events[known], self.bin_probabilities[known]
        )

    @property
    def concordance(self) -> Numbers | None:
        """Harrell's concordance [steps + 1]."""
        return None if self.survival_metrics is None else self.survival_metrics.harrell

    @property
    def uno_concordance(self) -> Numbers | None:
        """Uno's concordance [steps + 1]."""
        return None if self.survival_metrics is None else self.survival_metrics.uno

    @property
    def integrated_brier(self) -> Numbers | None:
        """Integrated Brier score [steps + 1]."""
        return None if self.survival_metrics is None else self.survival_metrics.integrated_brier
