"""Charts as geometry: everything inside, round ticks, bands around their lines."""

import pytest

from eddi.model.training.checkpoint import Progress
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Line


def pairs(text):
    return [tuple(map(float, point.split(","))) for point in text.split()]


def drawn(*lines, **more):
    return charts.curves(lines, x_title="questions", y_title="error", words="It falls.", **more)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.31, 0.68, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (-3, 3, [-4, -2, 0, 2, 4]),
        (0, 1300, [0, 500, 1000, 1500]),
        (5, 5, None),
        (float("nan"), 1, [0, 1]),
    ],
)
def test_ticks_are_round_and_hold_the_range(low, high, wanted):
    found = charts.ticks(low, high)
    if wanted is not None:
        assert found == pytest.approx(wanted)
    assert len(found) >= 2 or low == high


def test_everything_lies_inside_and_bands_around_their_lines():
    line = Line("EDDI", "eddi", [0, 1, 2], [9, 5, 3], [8, 4, 2.5], [10, 6.5, 3.5])
    chart = drawn(line, Line("random", "random", [0, 1, 2], [9, 8, 3]))
    ours = chart.series[-1]
    assert ours.name == "EDDI"  # on top of the others
    for x, y in [*pairs(ours.line), *pairs(ours.band)]:
        assert charts.LEFT <= x <= chart.wall
        assert charts.TOP <= y <= chart.floor
    tops, band = pairs(ours.line), pairs(ours.band)
    for (x, y), high, low in zip(tops, band[:3], reversed(band[3:]), strict=True):
        assert x == high[0] == low[0]
        assert high[1] < y < low[1]
    assert tops[0][1] < tops[2][1]  # a higher error stands higher
    assert [tick.words for tick in chart.across] == ["0", "1", "2"]


def test_only_whole_numbers_of_questions_are_named():
    chart = drawn(Line("EDDI", "eddi", [0, 1], [2, 1]))
    assert [tick.words for tick in chart.across] == ["0", "1"]


def test_a_stepped_line_holds_until_the_next_value():
    chart = drawn(Line("EDDI", "eddi", [0, 10, 20], [4, 2, 1], stepped=True), whole=False)
    points = pairs(chart.series[0].line)
    assert len(points) == 5
    assert points[1] == (points[2][0], points[0][1])
    assert chart.series[0].dots == ()


def test_points_that_weigh_differently_stand_alone_with_whiskers():
    line = Line("end", "eddi", [0.2, 0.8], [0.1, 0.9], [0.0, 0.7], [0.3, 1.0], weights=[0.04, 1.0])
    chart = charts.square([line], x_title="stated", y_title="came", words="Well.")
    small, large = chart.series[0].dots
    assert (chart.series[0].line, chart.series[0].band) == ("", "")
    assert small.size < large.size == charts.MOST_DOT
    assert large.top < large.y < large.bottom
    assert chart.rule[0][0] < chart.rule[1][0]
    assert chart.rule[0][1] > chart.rule[1][1]


def history(n, validation=True):
    return [
        Progress(
            100 * k, 100 * n, 50.0 if k == 1 else 2.0 / k, -1.0 / k if validation else None, None, k
        )
        for k in range(1, n + 1)
    ]


def test_training_shows_both_losses_and_not_the_first_giant():
    chart = charts.training(history(60))
    assert [one.style for one in chart.series] == ["far", "eddi"]
    assert float(chart.up[-1].words) < 10
    assert "6,000 steps" in chart.words
    assert [one.style for one in charts.training(history(3, validation=False)).series] == ["far"]


def test_one_point_of_training_is_no_curve():
    assert charts.training(history(1)) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.5, "0.5"), (-2, "\u22122"), (1500, "1,500"), (25_000, "25k"), (-0.25, "\u22120.25")],
)
def test_an_axis_names_values_shortly(value, words):
    assert charts.plain(value) == words
