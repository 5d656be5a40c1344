"""The geometry of charts: everything is inside the plot area, and bands contain their lines."""

from eddi.model.training.checkpoint import Progress
from eddi.service.analyst.pages import charts
from eddi.service.analyst.pages.charts import Line


def pairs(text):
    return [tuple(map(float, point.split(","))) for point in text.split()]


def draw(*lines, **options):
    titles = {"x_title": "questions", "y_title": "error", "description": "The error falls."}
    return charts.line_chart(lines, **titles, **options)


def test_lines_are_inside_the_plot_area_and_inside_their_bands():
    line = Line("EDDI", "eddi", [0, 1, 2], [9, 5, 3], [8, 4, 2.5], [10, 6.5, 3.5])
    chart = draw(line, Line("random", "random", [0, 1, 2], [9, 8, 3]))
    front = chart.lines[-1]
    assert front.name == "EDDI"
    for x, y in [*pairs(front.points), *pairs(front.band)]:
        assert charts.LEFT <= x <= chart.right
        assert charts.TOP <= y <= chart.bottom
    tops, band = pairs(front.points), pairs(front.band)
    for (x, y), high, low in zip(tops, band[:3], reversed(band[3:]), strict=True):
        assert x == high[0] == low[0]
        assert high[1] < y < low[1]
    assert tops[0][1] < tops[2][1]  # a larger error is higher up
    assert [tick.label for tick in chart.x_ticks] == ["0", "1", "2"]


def test_the_axis_of_questions_has_only_whole_numbers():
    chart = draw(Line("EDDI", "eddi", [0, 1], [2, 1]))
    assert [tick.label for tick in chart.x_ticks] == ["0", "1"]


def test_a_stepped_line_holds_until_the_next_value():
    chart = draw(Line("EDDI", "eddi", [0, 10, 20], [4, 2, 1], is_stepped=True), has_integer_x=False)
    points = pairs(chart.lines[0].points)
    assert len(points) == 5
    assert points[1] == (points[2][0], points[0][1])
    assert chart.lines[0].dots == ()


def test_weighted_points_are_dots_with_error_bars():
    line = Line("end", "eddi", [0.2, 0.8], [0.1, 0.9], [0.0, 0.7], [0.3, 1.0], weights=[0.04, 1.0])
    chart = charts.calibration_chart(
        [line], x_title="predicted", y_title="observed", description="Good."
    )
    small, large = chart.lines[0].dots
    assert (chart.lines[0].points, chart.lines[0].band) == ("", "")
    assert small.radius < large.radius == charts.MAX_DOT_RADIUS
    assert large.top < large.y < large.bottom
    assert chart.diagonal[0][0] < chart.diagonal[1][0]
    assert chart.diagonal[0][1] > chart.diagonal[1][1]


def history(n, validation=True):
    return [
        Progress(
            100 * k, 100 * n, 50.0 if k == 1 else 2.0 / k, -1.0 / k if validation else None, None, k
        )
        for k in range(1, n + 1)
    ]


def test_the_training_chart_shows_both_losses_without_the_first_high_values():
    chart = charts.training_chart(history(60))
    assert [line.style for line in chart.lines] == ["training", "eddi"]
    assert float(chart.y_ticks[-1].label) < 10
    assert "6,000 steps" in chart.description
    without_validation = charts.training_chart(history(3, validation=False))
    assert [line.style for line in without_validation.lines] == ["training"]


def test_there_is_no_training_chart_of_one_point():
    assert charts.training_chart(history(1)) is None
