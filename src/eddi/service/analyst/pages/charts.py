"""The charts of the analyst's pages as plain geometry, which the templates draw as SVG."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.model.training.checkpoint import Progress
from eddi.service.web import svg
from eddi.service.web.languages.current import current_language, format_percent, gettext, localize
from eddi.service.web.svg import Axes, Point, Scale

WIDTH, HEIGHT = 400.0, 240.0  # of a chart in SVG units; the page scales it
LEFT, RIGHT, TOP, BOTTOM = 40.0, 10.0, 10.0, 34.0  # margins for the axes
SQUARE_SIZE = 300.0  # width and height of a chart with equal axes
MAX_DOTS = 18  # a line with more points has no dots
DOT_RADIUS, MIN_DOT_RADIUS, MAX_DOT_RADIUS = 2.4, 1.6, 5.0  # default; of the lowest and highest weight
LOSS_QUANTILE = 0.97  # of the losses that the training chart shows; the first few are far higher

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    position: float
    label: str


@dataclass(frozen=True)
class Line:
    """The data of one line.

    Args:
        name: its name in the legend.
        style: the suffix of its CSS class, which sets colour and dashes.
        x, y: the points.
        low, high: bounds of its band; empty if it has none.
        is_stepped: whether each value holds until the next point.
        weights: of the points, at most 1. Weighted points are drawn as dots with error bars, not as a line.
    """

    name: str
    style: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    is_stepped: bool = False
    weights: Sequence[float] = ()


@dataclass(frozen=True)
class Dot:
    """A point of a line; ``top`` and ``bottom`` are the ends of its error bar, 0 if it has none."""

    x: float
    y: float
    radius: float = DOT_RADIUS
    top: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True)
class DrawnLine:
    """A line in SVG units: polyline, band polygon and dots."""

    name: str
    style: str
    points: str
    band: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over two axes.

    Args:
        width, height: in SVG units.
        lines: from back to front.
        x_ticks, y_ticks: of the axes.
        x_title, y_title: of the axes.
        description: what the chart shows, for people who cannot see it.
        diagonal: the ends of a reference line; None if there is none.
        marker: a highlighted position on the x axis; None if there is none.
    """

    width: float
    height: float
    lines: tuple[DrawnLine, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_title: str
    y_title: str
    description: str
    diagonal: tuple[Point, Point] | None = None
    marker: float | None = None

    @property
    def bottom(self) -> float:
        """The y position of the x axis."""
        return self.height - BOTTOM

    @property
    def right(self) -> float:
        """The right end of the x axis."""
        return self.width - RIGHT


def make_axes(
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    *,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> Axes:
    """The axes of a chart of this size, with margins for their labels."""
    return Axes(Scale(x_range, (LEFT, width - RIGHT)), Scale(y_range, (height - BOTTOM, TOP)))


def line_chart(
    lines: Sequence[Line],
    *,
    x_title: str,
    y_title: str,
    description: str,
    has_integer_x: bool = True,
    y_min: float | None = None,
    y_max: float | None = None,
    marker: float | None = None,
) -> Chart:
    """A chart of lines with bands, whose x axis begins at 0.

    Args:
        lines: the first one is drawn in front of the others.
        x_title, y_title: of the axes, with units.
        description: what the chart shows, in a sentence.
        has_integer_x: label only integers on the x axis.
        y_min, y_max: range of the y axis; that of the lines by default.
        marker: position to highlight on the x axis.
    """
    language = current_language()
    heights = [y for line in lines for y in (*line.y, *line.low, *line.high)]
    low = min(heights) if y_min is None else y_min
    high = max(heights) if y_max is None else y_max
    x_max = max((x for line in lines for x in line.x), default=1.0)
    y_ticks = svg.ticks(low, high)
    axes = make_axes((0.0, max(x_max, 1e-9)), (min(y_ticks[0], low), max(y_ticks[-1], high)))
    x_ticks = [
        x for x in svg.ticks(0.0, x_max) if 0 <= x <= x_max and (not has_integer_x or x.is_integer())
    ]
    return Chart(
        WIDTH,
        HEIGHT,
        tuple(_draw_line(line, axes) for line in reversed(lines)),
        tuple(Tick(axes.x(value), svg.format_tick(value, language)) for value in x_ticks),
        tuple(Tick(axes.y(value), svg.format_tick(value, language)) for value in y_ticks),
        x_title,
        y_title,
        description,
        marker=None if marker is None else axes.x(marker),
    )


def calibration_chart(lines: Sequence[Line], *, x_title: str, y_title: str, description: str) -> Chart:
    """A square chart of shares against shares, with the diagonal of perfect calibration."""
    axes = make_axes((0.0, 1.0), (0.0, 1.0), width=SQUARE_SIZE, height=SQUARE_SIZE)
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Chart(
        SQUARE_SIZE,
        SQUARE_SIZE,
        tuple(_draw_line(line, axes) for line in reversed(lines)),
        tuple(Tick(axes.x(value), format_percent(value)) for value in shares),
        tuple(Tick(axes.y(value), format_percent(value)) for value in shares),
        x_title,
        y_title,
        description,
        diagonal=(axes.point(0.0, 0.0), axes.point(1.0, 1.0)),
    )


def training_chart(history: Sequence[Progress]) -> Chart | None:
    """The training loss and the validation loss over the steps; None if there are fewer than two points."""
    if len(history) < 2:
        return None
    steps = [float(progress.step) for progress in history]
    losses = [progress.loss for progress in history]
    validation = [(float(p.step), -p.validation) for p in history if p.validation is not None]
    lines = [Line(gettext("training rows"), "training", steps, losses)]
    description = gettext(
        "The loss went from %(first)s to %(last)s in %(steps)s steps.",
        first=localize(f"{losses[0]:.3g}"),
        last=localize(f"{losses[-1]:.3g}"),
        steps=localize(f"{steps[-1]:,.0f}"),
    )
    if validation:
        validation_steps, validation_losses = zip(*validation, strict=True)
        lines.insert(0, Line(gettext("validation rows"), "eddi", validation_steps, validation_losses))
        loss = localize(f"{validation_losses[-1]:.3g}")
        description += " " + gettext("The final loss on validation rows was %(loss)s.", loss=loss)
    all_losses = [*losses, *(loss for _, loss in validation)]
    return line_chart(
        lines,
        x_title=gettext("training step"),
        y_title=gettext("loss per entry"),
        description=description,
        y_max=max(float(np.quantile(all_losses, LOSS_QUANTILE)), min(all_losses)),
    )


def density_area(values: Numbers, densities: Numbers, axes: Axes) -> str:
    """The polygon under a density."""
    baseline = axes.y(axes.y.domain[0])
    return svg.format_points(svg.area_points(axes.points(values, densities), baseline))


def _draw_line(line: Line, axes: Axes) -> DrawnLine:
    if line.weights:
        return DrawnLine(line.name, line.style, "", "", tuple(_weighted_dots(line, axes)))
    points = _path(line, line.y, axes)
    band = svg.band_points(_path(line, line.high, axes), _path(line, line.low, axes)) if line.low else []
    has_dots = not line.is_stepped and len(line.x) <= MAX_DOTS
    dots = tuple(Dot(x, y) for x, y in points) if has_dots else ()
    return DrawnLine(line.name, line.style, svg.format_points(points), svg.format_points(band), dots)


def _weighted_dots(line: Line, axes: Axes) -> Iterator[Dot]:
    for x, y, low, high, weight in zip(line.x, line.y, line.low, line.high, line.weights, strict=True):
        radius = MIN_DOT_RADIUS + (MAX_DOT_RADIUS - MIN_DOT_RADIUS) * math.sqrt(weight)
        yield Dot(*axes.point(x, y), round(radius, 2), axes.y(high), axes.y(low))


def _path(line: Line, heights: Sequence[float], axes: Axes) -> list[Point]:
    points = axes.points(line.x, heights)
    return svg.step_points(points) if line.is_stepped else points
