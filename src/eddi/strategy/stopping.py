"""When it is enough."""

from dataclasses import dataclass

import numpy as np

from eddi.model.prediction import Prediction


@dataclass(frozen=True)
class Stop:
    """Ends an interview as soon as any of these holds; ``Stop()`` never does.

    Args:
        after: this many questions were asked.
        sd_below: the target's standard deviation fell below this, in its own units.
        probability_above: one level of the target became at least this likely.
    """

    after: int | None = None
    sd_below: float | None = None
    probability_above: float | None = None

    def reached(self, prediction: Prediction, n_asked: int) -> bool:
        """Whether the interview of one row has gone far enough."""
        if self.after is not None and n_asked >= self.after:
            return True
        if self.sd_below is not None and float(prediction.sd) < self.sd_below:
            return True
        if self.probability_above is None or prediction.probabilities is None:
            return False
        return float(np.max(prediction.probabilities)) >= self.probability_above
