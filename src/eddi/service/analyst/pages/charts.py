"""Charts as plain geometry, drawn as SVG by the templates: curves with bands, calibration, beliefs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eddi.model.training.checkpoint import Progress

WIDTH, HEIGHT = 400.0, 240.0  # of a chart, in its own units; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 40.0, 10.0, 10.0, 34.0  # left free for the axes
SQUARE = 300.0  # width and height of a chart whose axes are the same
N_TICKS = 5
MAX_DOTS = 18  # more steps than this have no dot each
DOT, LEAST_DOT, MOST_DOT = 2.4, 1.6, 5.0  # radius of a point; of one that counts little, and much
LOSS_SHARE = 0.97  # of a training run's losses that its chart shows; the first few are far above

Numbers = NDArray[np.float64]
Point = tuple[float, float]


@dataclass(frozen=True)
class Tick:
    """A value on an axis, where it stands, and its words."""

    at: float
    words: str


@dataclass(frozen=True)
class Line:
    """What one line is about: its values, its band, and how it is drawn.

    Args:
        name: what the legend calls it.
        style: the name of its colour and dash in the style sheet.
        low, high: of its band; nothing where it has none.
        stepped: whether a value holds until the next one comes.
        weights: how much each point counts, at most 1; such points stand alone, with whiskers.
    """

    name: str
    style: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    stepped: bool = False
    weights: Sequence[float] = ()


@dataclass(frozen=True)
class Dot:
    """A point as it is drawn; its whisker is as high as it is uncertain."""

    x: float
    y: float
    size: float = DOT
    top: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True)
class Series:
    """A line as it is drawn."""

    name: str
    style: str
    line: str
    band: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over two axes; ``words`` say to those who cannot see it what is seen.

    Args:
        rule: two points of a straight line to compare with, such as a diagonal.
        mark: a place along x that is pointed at; None for none.
    """

    width: float
    height: float
    series: tuple[Series, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    x_title: str
    y_title: str
    words: str
    rule: tuple[Point, Point] | None = None
    mark: float | None = None

    @property
    def floor(self) -> float:
        return self.height - BOTTOM

    @property
    def wall(self) -> float:
        return self.width - RIGHT


@dataclass(frozen=True)
class Frame:
    """From values to places in a chart."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: float = WIDTH
    height: float = HEIGHT

    def at(self, x: float, y: float) -> Point:
        """Where a pair of values stands."""
        return self.across(x), self.up(y)

    def across(self, value: float) -> float:
        """Where a value stands, left to right."""
        return round(LEFT + _share(value, self.x) * (self.width - LEFT - RIGHT), 2)

    def up(self, value: float) -> float:
        """Where a value stands, bottom to top."""
        return round(TOP + (1 - _share(value, self.y)) * (self.height - TOP - BOTTOM), 2)


def curves(
    lines: Sequence[Line],
    *,
    x_title: str,
    y_title: str,
    words: str,
    whole: bool = True,
    floor: float | None = None,
    ceiling: float | None = None,
    mark: float | None = None,
) -> Chart:
    """Lines with their bands over axes that hold them all.

    Args:
        lines: the first is drawn last, on top of the others.
        x_title, y_title: what the axes are about, with their units.
        words: what is seen, in a sentence.
        whole: whether only whole numbers are named along x.
        floor, ceiling: ends of the vertical axis, where the lines do not say them.
        mark: a place along x to point at.
    """
    heights = [v for line in lines for v in (*line.y, *line.low, *line.high)]
    ends = (min(heights) if floor is None else floor, max(heights) if ceiling is None else ceiling)
    far = max((x for line in lines for x in line.x), default=1.0)
    up = ticks(*ends)
    frame = Frame((0.0, max(far, 1e-9)), (min(up[0], ends[0]), max(up[-1], ends[1])))
    across = [t for t in ticks(0.0, far) if 0 <= t <= far and (not whole or t == round(t))]
    return Chart(
        WIDTH,
        HEIGHT,
        tuple(_series(line, frame) for line in reversed(lines)),
        tuple(Tick(frame.across(value), plain(value)) for value in across),
        tuple(Tick(frame.up(value), plain(value)) for value in up),
        x_title,
        y_title,
        words,
        mark=None if mark is None else frame.across(mark),
    )


def square(lines: Sequence[Line], *, x_title: str, y_title: str, words: str) -> Chart:
    """Shares against shares, with the diagonal on which all is well."""
    frame = Frame((0.0, 1.0), (0.0, 1.0), SQUARE, SQUARE)
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Chart(
        SQUARE,
        SQUARE,
        tuple(_series(line, frame) for line in reversed(lines)),
        tuple(Tick(frame.across(value), f"{value:.0%}") for value in shares),
        tuple(Tick(frame.up(value), f"{value:.0%}") for value in shares),
        x_title,
        y_title,
        words,
        rule=(frame.at(0.0, 0.0), frame.at(1.0, 1.0)),
    )


def training(history: Sequence[Progress]) -> Chart | None:
    """How training went: the loss, and what hidden entries of rows kept apart cost; lower is better."""
    if len(history) < 2:
        return None
    steps = [float(one.step) for one in history]
    losses = [one.loss for one in history]
    kept = [(float(one.step), -one.validation) for one in history if one.validation is not None]
    lines = [Line("loss while training", "far", steps, losses)]
    last = f"The loss went from {losses[0]:.3g} to {losses[-1]:.3g} over {steps[-1]:,.0f} steps."
    if kept:
        xs, ys = zip(*kept, strict=True)
        lines.insert(0, Line("rows kept for validation", "eddi", xs, ys))
        last += f" On rows kept for validation it ended at {ys[-1]:.3g}."
    seen = [*losses, *(y for _, y in kept)]
    top = float(np.quantile(seen, LOSS_SHARE))
    return curves(
        lines,
        x_title="training step",
        y_title="misfit an entry",
        words=last,
        ceiling=max(top, min(seen)),
    )


def shape(values: Numbers, heights: Numbers, frame: Frame) -> str:
    """The outline of a density that stands on the floor of a frame, as points."""
    tops = [frame.at(float(v), float(h)) for v, h in zip(values, heights, strict=True)]
    ground = frame.up(frame.y[0])
    return points([(tops[0][0], ground), *tops, (tops[-1][0], ground)])


def ticks(low: float, high: float, n: int = N_TICKS) -> list[float]:
    """About ``n`` round values from a little below ``low`` to a little above ``high``."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return [0.0, 1.0]
    span = max(high - low, 1e-9 * max(1.0, abs(high)))
    raw = span / n
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 2.5, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 12) + 0.0 for place in range(first, last + 1)]


def plain(value: float) -> str:
    """A value as an axis names it: short, with a true minus sign."""
    if abs(value) >= 10_000:
        return f"{value / 1000:,.4g}k".replace("-", "\u2212")
    return f"{value:,.4g}".replace("-", "\u2212")


def points(some: Sequence[Point]) -> str:
    """Points as SVG takes them."""
    return " ".join(f"{x:g},{y:g}" for x, y in some)


def _series(line: Line, frame: Frame) -> Series:
    if line.weights:
        return Series(line.name, line.style, "", "", tuple(_whiskered(line, frame)))
    tops = _path(line.x, line.y, frame, stepped=line.stepped)
    band = ""
    if line.low:
        upper = _path(line.x, line.high, frame, stepped=line.stepped)
        band = points([*upper, *reversed(_path(line.x, line.low, frame, stepped=line.stepped))])
    few = not line.stepped and len(line.x) <= MAX_DOTS
    dots = tuple(Dot(x, y) for x, y in tops) if few else ()
    return Series(line.name, line.style, points(tops), band, dots)


def _whiskered(line: Line, frame: Frame) -> Iterator[Dot]:
    for x, y, low, high, weight in zip(line.x, line.y, line.low, line.high, line.weights, strict=True):
        size = round(LEAST_DOT + (MOST_DOT - LEAST_DOT) * math.sqrt(weight), 2)
        yield Dot(*frame.at(x, y), size, frame.up(high), frame.up(low))


def _path(x: Sequence[float], y: Sequence[float], frame: Frame, *, stepped: bool) -> list[Point]:
    found = [frame.at(a, b) for a, b in zip(x, y, strict=True)]
    if not stepped:
        return found
    corners = [(after[0], before[1]) for before, after in pairwise(found)]
    return [point for pair in zip(found, corners, strict=False) for point in pair] + found[-1:]


def _share(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return min(1.0, max(0.0, (value - low) / max(high - low, 1e-12)))
