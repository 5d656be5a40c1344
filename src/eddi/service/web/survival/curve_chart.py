"""The chart of a survival curve, with its band and the curve before any answer."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.model.prediction import Prediction
from eddi.model.survival_curve import SurvivalCurve
from eddi.service.web import svg
from eddi.service.web.formatting import format_probability, format_value
from eddi.service.web.languages.language import Language
from eddi.service.web.survival.risk_wording import describe_risks
from eddi.service.web.svg import Label, Scale
from eddi.service.web.texts import PLAIN, Texts

WIDTH, HEIGHT = 320.0, 150.0  # in units of the viewBox; the page scales it
LEFT, RIGHT, TOP = 42.0, 314.0, 8.0
BASELINE = HEIGHT - 18.0
N_GRID_POINTS = 61
SHARES = (0.0, 0.5, 1.0)  # labels of the vertical axis
MAX_END_LABELS = 3


@dataclass(frozen=True)
class CurveChart:
    """A survival curve.

    Args:
        line: points of the curve.
        band: points of its 90% band; empty if it is not known.
        before: points of the curve before any answer.
        horizons: horizontal positions of the horizons.
        rows: labels of the vertical axis, with their position.
        labels: of the horizontal axis.
        description: the prediction as text.
    """

    line: str
    band: str
    before: str
    horizons: tuple[float, ...]
    rows: tuple[tuple[float, str], ...]
    labels: tuple[Label, ...]
    description: str


def curve_chart(prediction: Prediction, before: Prediction, texts: Texts = PLAIN) -> CurveChart:
    """Return the chart of a survival prediction, next to that before any answer."""
    curve, language = prediction.curve, texts.language
    axes = svg.Axes(Scale((0.0, curve.horizon), (LEFT, RIGHT)), Scale((0.0, 1.0), (BASELINE, TOP)))
    grid = np.linspace(0.0, curve.horizon, N_GRID_POINTS)
    ends = _band(curve, grid)
    band = (
        svg.band_points(axes.points(grid, ends[1]), axes.points(grid, ends[0]))
        if ends is not None
        else ()
    )
    survival = prediction.variable.survival
    horizons = () if survival is None else survival.shown_horizons
    return CurveChart(
        line=svg.format_points(axes.points(grid, curve.at(grid))),
        band=svg.format_points(band),
        before=svg.format_points(axes.points(grid, before.curve.at(grid))),
        horizons=tuple(axes.x(horizon) for horizon in horizons),
        rows=tuple((axes.y(share), format_probability(share, language)) for share in SHARES),
        labels=_time_labels(axes.x, curve.horizon, texts.unit(prediction.variable), language),
        description=" ".join(describe_risks(prediction, texts)),
    )


def _band(
    curve: SurvivalCurve, grid: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Ends of the band at the times of a grid."""
    if curve.band is None:
        return None
    low, high = (np.interp(grid, curve.times, end) for end in curve.band)
    return low, high


def _time_labels(scale: Scale, end: float, unit: str, language: Language) -> tuple[Label, ...]:
    """Labels of round times; the last one has the unit."""
    times = [time for time in svg.ticks(0.0, end, MAX_END_LABELS) if time <= end]
    labels = [Label(scale(time), format_value(time, language)) for time in times]
    last = Label(labels[-1].x, f"{labels[-1].text} {unit}".strip(), "end" if unit else "middle")
    return (*labels[:-1], last)
