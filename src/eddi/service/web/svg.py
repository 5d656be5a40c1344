"""Geometry of charts, which templates draw as SVG: scales, ticks, outlines and bars.

Nothing in this module depends on what a chart shows. Coordinates are in the units of the chart's viewBox,
with y growing downwards.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eddi.service.web.formatting import MINUS
from eddi.service.web.languages.language import ENGLISH, Language

N_TICKS = 5
TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)  # times a power of ten
MIN_SPAN = 1e-12  # avoids division by zero if all values are the same

Point = tuple[float, float]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """A linear map from values to coordinates; values outside the domain are clipped.

    Args:
        domain: the smallest and the largest value.
        range: their coordinates. On a vertical axis, the first one is the larger.
    """

    domain: tuple[float, float]
    range: tuple[float, float]

    def __call__(self, value: float) -> float:
        start, end = self.range
        return round(start + fraction(value, *self.domain) * (end - start), 2)


@dataclass(frozen=True)
class Axes:
    """The horizontal and the vertical scale of a chart."""

    x: Scale
    y: Scale

    def point(self, x: float, y: float) -> Point:
        """Return the coordinates of a pair of values."""
        return self.x(x), self.y(y)

    def points(self, xs: Iterable[float], ys: Iterable[float]) -> list[Point]:
        """Return the coordinates of pairs of values."""
        return [self.point(float(x), float(y)) for x, y in zip(xs, ys, strict=True)]


@dataclass(frozen=True)
class Label:
    """A text at a horizontal position; ``anchor`` is the end of the text that is placed there."""

    x: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Bar:
    """A horizontal bar with a label and its value as text; the main bar is highlighted."""

    label: str
    percent: float
    text: str
    is_main: bool


def fraction(value: float, low: float, high: float) -> float:
    """Return the position of a value between ``low`` (0) and ``high`` (1), clipped to this range."""
    return min(1.0, max(0.0, (value - low) / max(high - low, MIN_SPAN)))


def format_points(points: Sequence[Point]) -> str:
    """Return points as the ``points`` attribute of a polyline or polygon."""
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def step_points(points: Sequence[Point]) -> list[Point]:
    """Return the path of a step function, on which each y holds until the next point."""
    path = [corner for left, right in pairwise(points) for corner in (left, (right[0], left[1]))]
    return [*path, *points[-1:]]


def band_points(upper: Sequence[Point], lower: Sequence[Point]) -> list[Point]:
    """Return the polygon between two paths."""
    return [*upper, *reversed(lower)]


def area_points(points: Sequence[Point], baseline: float) -> list[Point]:
    """Return the polygon between a path and a horizontal line."""
    return [(points[0][0], baseline), *points, (points[-1][0], baseline)]


def ticks(low: float, high: float, n: int = N_TICKS) -> list[float]:
    """Return about ``n`` evenly spaced round values that enclose an interval."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    step = _round_step(max(high - low, 1e-9 * max(1.0, abs(high))) / n)
    # The tolerance keeps an end that is a multiple of the step from gaining another tick.
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(multiple * step, 12) + 0.0 for multiple in range(first, last + 1)]


def _round_step(smallest: float) -> float:
    """Return the smallest round step that is not below ``smallest``."""
    power = 10.0 ** math.floor(math.log10(smallest))
    return next(step * power for step in TICK_STEPS if step * power >= smallest * (1 - 1e-9))


def format_tick(value: float, language: Language = ENGLISH) -> str:
    """Return a number for an axis: short, in thousands if it is large."""
    text = f"{value / 1000:,.4g}k" if abs(value) >= 10_000 else f"{value:,.4g}"
    return language.localize(text).replace("-", MINUS)


def kernel_density(draws: Numbers, grid: Numbers) -> Numbers:
    """Return a smooth density of draws at the grid points, scaled to a maximum of 1 [points].

    The bandwidth is a little wider than Silverman's rule, and at least the distance of grid points.
    """
    quartiles = np.quantile(draws, [0.25, 0.75])
    sd = min(float(draws.std()), float(quartiles[1] - quartiles[0]) / 1.34) or float(draws.std())
    bandwidth = max(1.2 * sd * len(draws) ** -0.2, float(grid[-1] - grid[0]) / len(grid))
    density = np.exp(-0.5 * ((grid[:, None] - draws) / bandwidth) ** 2).mean(1)
    return np.asarray(density / max(float(density.max()), 1e-12))
