"""Charts of predictions: a density, bars of probabilities, and the history over an interview."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.model.prediction import Prediction
from eddi.service.web import svg, wording
from eddi.service.web.formatting import format_number, format_probability
from eddi.service.web.languages.language import Language
from eddi.service.web.svg import Bar, Label, Point, Scale
from eddi.service.web.texts import PLAIN, Texts

WIDTH = 320.0  # of every chart, in units of its viewBox; the page scales it
DENSITY_HEIGHT = 46.0  # above the axis
DENSITY_TOP = 2.0
HISTORY_HEIGHT = 96.0
MARGIN = 6.0  # free space at the edges
AXIS_WIDTH = 38.0  # free space to the left of a history, for the labels of its axis
DOMAIN_MARGIN = 0.25  # free space beyond the widest interval, as a share of it
N_GRID_POINTS = 81  # of a density
MIN_LABEL_DISTANCE = 84.0  # closer labels would overlap
MAX_LEVELS = 6  # lines or bars in one chart


@dataclass(frozen=True)
class DensityChart:
    """The prediction of a quantity.

    Args:
        outline: points of the density.
        inside: points of its part inside the 90% interval.
        low, high: ends of the interval.
        mean: of the prediction.
        before: the interval before any answer.
        labels: of the ends of the interval.
        description: the prediction as text.
    """

    outline: str
    inside: str
    low: float
    high: float
    mean: float
    before: tuple[float, float]
    labels: tuple[Label, ...]
    description: str


@dataclass(frozen=True)
class HistoryLine:
    """A line of a history; the main line ends in a dot."""

    points: str
    is_main: bool
    last: Point


@dataclass(frozen=True)
class HistoryChart:
    """A prediction after each answer: the mean with its 90% interval, or a line for each level.

    Args:
        band: points of the interval; empty for levels.
        lines: the mean, or the probabilities of the levels.
        ticks: horizontal positions of the answers.
        labels: of the first and the last position.
        top, bottom: labels of the vertical axis.
        caption: what the chart shows.
        description: the change from the first to the last prediction, as text.
        note: that uncertainty may grow.
    """

    band: str
    lines: tuple[HistoryLine, ...]
    ticks: tuple[float, ...]
    labels: tuple[Label, ...]
    top: str
    bottom: str
    caption: str
    description: str
    note: str


def value_domain(predictions: Sequence[Prediction]) -> tuple[float, float]:
    """Return a range of values that contains the intervals of all predictions of a quantity."""
    low = min(float(prediction.interval[0]) for prediction in predictions)
    high = max(float(prediction.interval[1]) for prediction in predictions)
    margin = DOMAIN_MARGIN * max(high - low, 1e-9)
    variable = predictions[0].variable
    low = low - margin if variable.low is None else max(low - margin, variable.low)
    high = high + margin if variable.high is None else min(high + margin, variable.high)
    return low, max(high, low + 1e-9)


def density_chart(
    draws: NDArray[np.float64],
    prediction: Prediction,
    before: Prediction,
    *,
    domain: tuple[float, float],
    decimals: int,
    texts: Texts = PLAIN,
) -> DensityChart:
    """Return the chart of a quantity, from draws of its predictive distribution.

    Args:
        draws: from the predictive distribution [draws].
        prediction: the present prediction.
        before: the prediction before any answer.
        domain: the range of values; see `value_domain`.
        decimals: of the labels.
        texts: of the questionnaire.
    """
    language = texts.language
    baseline = DENSITY_TOP + DENSITY_HEIGHT
    axes = svg.Axes(Scale(domain, (MARGIN, WIDTH - MARGIN)), Scale((0.0, 1.0), (baseline, DENSITY_TOP)))
    grid = np.linspace(*domain, N_GRID_POINTS)
    density = svg.kernel_density(draws, grid)
    outline = axes.points(grid, density)
    low, high = (float(end) for end in prediction.interval)
    ends = axes.points((low, high), np.interp((low, high), grid, density))
    between = [point for point in outline if ends[0][0] < point[0] < ends[1][0]]
    return DensityChart(
        outline=svg.format_points(svg.area_points(outline, baseline)),
        inside=svg.format_points(svg.area_points([ends[0], *between, ends[1]], baseline)),
        low=axes.x(low),
        high=axes.x(high),
        mean=axes.x(float(prediction.mean)),
        before=(axes.x(float(before.interval[0])), axes.x(float(before.interval[1]))),
        labels=_interval_labels(
            axes.x,
            low,
            high,
            (format_number(low, decimals, language), format_number(high, decimals, language)),
        ),
        description=str(wording.describe_prediction(prediction, decimals, texts)),
    )


def level_bars(prediction: Prediction, texts: Texts = PLAIN) -> list[Bar]:
    """Return a bar for each level, in order; if there are many, for the most likely levels."""
    if prediction.probabilities is None:
        return []
    probabilities = [float(probability) for probability in prediction.probabilities]
    most_likely = int(prediction.probabilities.argmax())
    levels = list(range(len(probabilities)))
    if len(levels) > MAX_LEVELS:
        levels = sorted(levels, key=lambda level: -probabilities[level])[:MAX_LEVELS]
    return [
        Bar(
            texts.level(prediction.variable, prediction.variable.levels[level]),
            round(100 * probabilities[level], 2),
            format_probability(probabilities[level], texts.language),
            level == most_likely,
        )
        for level in levels
    ]


def history_chart(
    predictions: Sequence[Prediction], *, decimals: int, texts: Texts = PLAIN
) -> HistoryChart | None:
    """Return the chart of predictions before any answer and after each; None before the first."""
    if len(predictions) < 2:
        return None
    ticks = [float(x) for x in np.linspace(AXIS_WIDTH, WIDTH - MARGIN, len(predictions)).round(2)]
    if predictions[0].probabilities is not None:
        return _level_history(predictions, ticks, texts)
    return _quantity_history(predictions, ticks, decimals, texts.language)


def _quantity_history(
    predictions: Sequence[Prediction], ticks: Sequence[float], decimals: int, language: Language
) -> HistoryChart:
    domain = value_domain(predictions)
    lower = _path(ticks, [float(prediction.interval[0]) for prediction in predictions], domain)
    upper = _path(ticks, [float(prediction.interval[1]) for prediction in predictions], domain)
    means = _path(ticks, [float(prediction.mean) for prediction in predictions], domain)
    first, last = (wording.uncertainty(predictions[place]) for place in (0, -1))
    percent = wording.coverage_percent(language)
    return HistoryChart(
        band=svg.format_points(svg.band_points(upper, lower)),
        lines=(HistoryLine(svg.format_points(means), is_main=True, last=means[-1]),),
        ticks=tuple(ticks),
        labels=_history_labels(ticks, language),
        top=format_number(domain[1], decimals, language),
        bottom=format_number(domain[0], decimals, language),
        caption=language.gettext("The %(percent)s range after each answer.", percent=percent),
        description=language.ngettext(
            "The width of the %(percent)s range went from %(first)s to %(last)s over one answer.",
            "The width of the %(percent)s range went from %(first)s to %(last)s over %(num)s answers.",
            len(predictions) - 1,
            percent=percent,
            first=format_number(first, decimals, language),
            last=format_number(last, decimals, language),
        ),
        note=language.gettext("It can widen as well as narrow."),
    )


def _level_history(
    predictions: Sequence[Prediction], ticks: Sequence[float], texts: Texts
) -> HistoryChart:
    probabilities = np.array([p.probabilities for p in predictions], dtype=float)  # [steps, levels]
    most_likely = int(probabilities[-1].argmax())
    n_levels = probabilities.shape[1]
    levels = range(n_levels) if n_levels <= MAX_LEVELS else [most_likely]
    lines = []
    for level in sorted(levels, key=lambda level: level == most_likely):  # the main line on top
        path = _path(ticks, probabilities[:, level], (0.0, 1.0))
        lines.append(HistoryLine(svg.format_points(path), level == most_likely, path[-1]))
    variable = predictions[-1].variable
    name = texts.level(variable, variable.levels[most_likely])
    language = texts.language
    first, last = (
        format_probability(float(probabilities[step, most_likely]), language) for step in (0, -1)
    )
    return HistoryChart(
        band="",
        lines=tuple(lines),
        ticks=tuple(ticks),
        labels=_history_labels(ticks, language),
        top=format_probability(1.0, language),
        bottom=format_probability(0.0, language),
        caption=language.gettext("The probability of %(level)s after each answer.", level=name),
        description=language.ngettext(
            "The probability of %(level)s went from %(first)s to %(last)s over one answer.",
            "The probability of %(level)s went from %(first)s to %(last)s over %(num)s answers.",
            len(predictions) - 1,
            level=name,
            first=first,
            last=last,
        ),
        note=language.gettext("It can fall as well as rise."),
    )


def _path(ticks: Sequence[float], values: Iterable[float], domain: tuple[float, float]) -> list[Point]:
    scale = Scale(domain, (HISTORY_HEIGHT - MARGIN, MARGIN))
    return [(x, scale(float(value))) for x, value in zip(ticks, values, strict=True)]


def _interval_labels(scale: Scale, low: float, high: float, names: tuple[str, str]) -> tuple[Label, ...]:
    """Return labels below the ends of an interval that do not overlap and stay inside the chart."""
    left, right = scale(low), scale(high)
    if right - left < MIN_LABEL_DISTANCE:
        middle = (left + right) / 2
        left, right = middle - MIN_LABEL_DISTANCE / 2, middle + MIN_LABEL_DISTANCE / 2
    return (
        Label(max(left, 0), names[0], "start"),
        Label(min(right, WIDTH), names[1], "end"),
    )


def _history_labels(ticks: Sequence[float], language: Language) -> tuple[Label, ...]:
    last = wording.count_answers(len(ticks) - 1, language)
    return Label(ticks[0], language.gettext("start"), "start"), Label(ticks[-1], last, "end")
