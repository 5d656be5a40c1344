"""The chart of a survival curve."""

from dataclasses import replace
from itertools import pairwise

from eddi.service.web.survival.curve_chart import BASELINE, LEFT, RIGHT, TOP, curve_chart


def read_points(text):
    """The points of a polyline."""
    return [tuple(map(float, point.split(","))) for point in text.split()]


def test_the_curve_starts_at_the_top_left_and_falls(predictions):
    before, after = predictions
    points = read_points(curve_chart(after, before).line)
    assert points[0] == (LEFT, TOP)
    assert points[-1][0] == RIGHT
    assert all(left[1] <= right[1] <= BASELINE for left, right in pairwise(points))


def test_a_higher_risk_lies_below_the_curve_before_any_answer(predictions):
    before, after = predictions
    chart = curve_chart(after, before)
    pairs = zip(read_points(chart.line), read_points(chart.before), strict=True)
    assert all(now[1] >= then[1] for now, then in pairs)


def test_the_band_surrounds_the_curve(predictions):
    before, after = predictions
    chart = curve_chart(after, before)
    band = read_points(chart.band)
    upper, lower = band[: len(band) // 2], band[len(band) // 2 :][::-1]
    for high, middle, low in zip(upper, read_points(chart.line), lower, strict=True):
        assert high[1] - 0.5 <= middle[1] <= low[1] + 0.5


def test_without_a_known_band_there_is_none(predictions):
    before, after = predictions
    assert curve_chart(replace(after, log_hazard_sd=None), before).band == ""


def test_horizons_and_times_are_marked(predictions):
    before, after = predictions
    chart = curve_chart(after, before)
    assert len(chart.horizons) == 2
    assert chart.labels[0].text == "0"
    assert [text for _, text in chart.rows] == ["0%", "50%", "100%"]
