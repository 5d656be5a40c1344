"""Predictions drawn with characters: an interval on a scale, or a bar for each level."""

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.model.prediction import Prediction
from eddi.table.survival.survival import Survival
from eddi.table.variable import Variable

WIDTH = 40
MARGIN = 0.15  # of the prior interval's width, on both sides of the scale
MAX_LEVELS_SHOWN = 8
N_CURVE_BARS = 5  # times at which a survival curve is drawn


@dataclass(frozen=True)
class PredictionBars:
    """Draws all predictions of one variable on the same scale, so that they can be compared."""

    variable: Variable
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def from_prior(cls, prior: Prediction) -> "PredictionBars":
        """Choose a scale that contains the prediction before any answer."""
        variable = prior.variable
        if prior.probabilities is not None:
            return cls(variable)
        first, last = (float(end) for end in prior.interval)
        margin = MARGIN * max(last - first, 1e-9)
        low = -math.inf if variable.low is None else variable.low
        high = math.inf if variable.high is None else variable.high
        return cls(variable, max(low, first - margin), min(high, last + margin))

    def print(self, out: Console, prediction: Prediction, *, with_name: bool) -> None:
        """Draw ``prediction``, with the name of the variable if requested."""
        name = Text(f"   {self.variable.name}  ", "bold") if with_name else Text("   ")
        if prediction.probabilities is not None:
            if with_name:
                out.print(Text.assemble(name, self.summarize(prediction)))
            return out.print(self._draw_levels(prediction))
        if prediction.variable.survival is not None:
            out.print(Text.assemble(name, self.summarize(prediction)))
            return out.print(self._draw_curve(prediction))
        interval = (float(prediction.interval[0]), float(prediction.interval[1]))
        scale = (self.low, self.high)
        bar = terminal.draw_interval(interval, float(prediction.mean), scale=scale, width=WIDTH)
        return out.print(Text.assemble(name, bar, f"  {self.summarize(prediction)}"))

    def summarize(self, prediction: Prediction) -> str:
        """Return the most probable level, or the mean and the 90% interval, as text."""
        if prediction.probabilities is not None:
            return f"{prediction.value}, with probability {prediction.probabilities.max():.0%}"
        if prediction.variable.survival is not None:
            return self._summarize_survival(prediction, prediction.variable.survival)
        low, high = (self._format_number(float(end)) for end in prediction.interval)
        mean = f"{self._format_number(float(prediction.mean))} {self.variable.unit}".strip()
        return f"{mean} (90%: {low} to {high})"

    def _summarize_survival(self, prediction: Prediction, survival: Survival) -> str:
        """Return the risk at each horizon, and the median time, as text."""
        unit = f" {self.variable.unit}" if self.variable.unit else ""
        risks = [
            f"{float(prediction.risk(horizon)):.0%} up to {horizon:g}{unit}"
            for horizon in survival.shown_horizons
        ]
        median = float(prediction.median)
        middle = f"median {median:.3g}{unit}" if math.isfinite(median) else "median not reached"
        return f"risk {', '.join(risks)}; {middle}"

    def _draw_curve(self, prediction: Prediction) -> Table:
        """Draw the probability of no event up to some times, as bars."""
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        curve = prediction.curve
        for time in [curve.horizon * step / N_CURVE_BARS for step in range(1, N_CURVE_BARS + 1)]:
            survival = float(curve.at(time))
            label = f"no event up to {time:.3g} {self.variable.unit}".strip()
            table.add_row(Text(label), terminal.draw_share(survival, WIDTH), f"{survival:.0%}")
        return table

    def name_effect(self, prediction: Prediction) -> str:
        """Name what an effect changes: the mean, or the probability of the most probable level."""
        has_levels = prediction.probabilities is not None
        return f"the probability of {prediction.value}" if has_levels else self.variable.name

    def format_effect(self, effect: float) -> str:
        """Return an effect with its sign, in percentage points or in units of the variable."""
        if self.variable.kind.has_levels:
            points = round(100 * effect) + 0  # adding 0 avoids a negative zero
            return f"{points:+d} {'point' if abs(points) == 1 else 'points'}"
        return f"{round(effect, self._n_decimals) + 0.0:+.{self._n_decimals}f}"

    def _draw_levels(self, prediction: Prediction) -> Table:
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        probabilities = [] if prediction.probabilities is None else prediction.probabilities.tolist()
        levels = list(zip(self.variable.levels, probabilities, strict=True))
        if len(levels) > MAX_LEVELS_SHOWN:
            levels = sorted(levels, key=lambda pair: -pair[1])[:MAX_LEVELS_SHOWN]
        for level, probability in levels:
            bar = terminal.draw_share(probability, WIDTH)
            table.add_row(Text(str(level)), bar, f"{probability:.0%}")
        return table

    def _format_number(self, number: float) -> str:
        return f"{round(number, self._n_decimals) + 0.0:.{self._n_decimals}f}"

    @property
    def _n_decimals(self) -> int:
        """Number of decimals that resolve a hundredth of the scale."""
        return max(0, 2 - math.floor(math.log10(max(self.high - self.low, 1e-12))))
