"""How sure we are, as a small picture: an interval on a scale, or a bar for each level."""

import math
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.model.prediction import Prediction
from eddi.table.variable import Variable

WIDTH = 40
MARGIN = 0.15  # of scale on both sides of what is believed before anything is known
N_LEVELS_SHOWN = 8


@dataclass(frozen=True)
class Picture:
    """The scale on which all beliefs about one variable are drawn, so that they can be compared."""

    variable: Variable
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, nothing_known: Prediction) -> "Picture":
        """A scale that holds what is believed before anything is known."""
        variable = nothing_known.variable
        if nothing_known.probabilities is not None:
            return cls(variable)
        first, last = (float(end) for end in nothing_known.interval)
        margin = MARGIN * max(last - first, 1e-9)
        low = -math.inf if variable.low is None else variable.low
        high = math.inf if variable.high is None else variable.high
        return cls(variable, max(low, first - margin), min(high, last + margin))

    def show(self, out: Console, belief: Prediction, *, named: bool) -> None:
        """Draw ``belief``."""
        label = Text(f"   {self.variable.name}  " if named else "   ", "bold" if named else "")
        if belief.probabilities is not None:
            if named:
                out.print(Text.assemble(label, self.words(belief)))
            return out.print(self._levels(belief))
        ends = (float(belief.interval[0]), float(belief.interval[1]))
        bar = terminal.belief_bar(ends, float(belief.mean), self.low, self.high, WIDTH)
        return out.print(Text.assemble(label, bar, f"  {self.words(belief)}"))

    def words(self, belief: Prediction) -> str:
        """What is believed, in a few words."""
        if belief.probabilities is not None:
            return f"{belief.value}, with probability {belief.probabilities.max():.0%}"
        low, high = belief.interval
        ends = f"{self._number(low)} to {self._number(high)}"
        return f"{self._number(float(belief.mean))} {self.variable.unit}".strip() + f" (90%: {ends})"

    def what(self, belief: Prediction) -> str:
        """What an answer moves: the mean, or the probability of the likeliest level."""
        is_quantity = belief.probabilities is None
        return f"{self.variable.name}" if is_quantity else f"the probability of {belief.value}"

    def shift(self, now: Prediction, without: Prediction) -> float:
        """How far that has moved."""
        if now.probabilities is None or without.probabilities is None:
            return float(now.mean - without.mean)
        likeliest = int(now.probabilities.argmax())
        return float(now.probabilities[likeliest] - without.probabilities[likeliest])

    def shift_words(self, shift: float) -> str:
        if self.variable.kind.has_levels:
            return f"{round(100 * shift) + 0:+d}%"
        return f"{round(shift, self._decimals) + 0.0:+.{self._decimals}f}"

    def _levels(self, belief: Prediction) -> Table:
        table = Table(box=None, show_header=False, padding=(0, 0, 0, 3))
        chances = [] if belief.probabilities is None else belief.probabilities.tolist()
        levels = list(zip(self.variable.levels, chances, strict=True))
        if len(levels) > N_LEVELS_SHOWN:
            levels = sorted(levels, key=lambda one: -one[1])[:N_LEVELS_SHOWN]
        for level, chance in levels:
            table.add_row(Text(str(level)), terminal.share_bar(chance, WIDTH), f"{chance:.0%}")
        return table

    def _number(self, number: float) -> str:
        return f"{round(float(number), self._decimals) + 0.0:.{self._decimals}f}"

    @property
    def _decimals(self) -> int:
        """As many as tell a hundredth of the scale."""
        return max(0, 2 - math.floor(math.log10(max(self.high - self.low, 1e-12))))
