"""Charts of predictions agree with the predictions and stay inside their frame."""

import numpy as np
import pytest

from eddi import Variable
from eddi.model.prediction import Prediction
from eddi.service.web import prediction_charts

RISK = Variable("risk", "real", low=0)
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))


def quantity(low, high):
    mean, sd = (low + high) / 2, (high - low) / 3.29
    return Prediction(RISK, np.float64(mean), np.float64(sd), np.array([low, high], dtype=float))


def levels(*probabilities):
    return Prediction(PAIN, np.float64(1), np.float64(1), np.array([0.0, 2.0]), np.array(probabilities))


def parse_points(text):
    return [tuple(map(float, point.split(","))) for point in text.split()]


@pytest.fixture
def density():
    prediction, before = quantity(40, 60), quantity(10, 90)
    draws = np.random.default_rng(0).normal(50, 6, 512)
    domain = prediction_charts.value_domain([before, prediction])
    return prediction_charts.density_chart(draws, prediction, before, domain=domain, decimals=0)


def test_a_density_stays_inside_its_frame(density):
    points = parse_points(density.outline)
    assert all(0 <= x <= prediction_charts.WIDTH and 0 <= y <= 60 for x, y in points)
    assert density.before[0] < density.low < density.mean < density.high < density.before[1]


def test_a_density_is_highest_where_the_draws_are(density):
    x, _ = min(parse_points(density.outline), key=lambda point: point[1])  # y grows downwards
    assert x == pytest.approx(density.mean, abs=12)


def test_the_highlighted_part_ends_with_the_interval(density):
    xs = [x for x, _ in parse_points(density.inside)]
    assert (min(xs), max(xs)) == (density.low, density.high)


def test_the_labels_of_a_narrow_interval_do_not_overlap(density):
    assert [label.text for label in density.labels] == ["40", "60"]
    distance = density.labels[1].x - density.labels[0].x
    assert distance >= prediction_charts.MIN_LABEL_DISTANCE


def test_the_domain_respects_the_bounds_of_the_variable():
    low, high = prediction_charts.value_domain([quantity(1, 100)])
    assert low == 0
    assert high > 100


def test_an_interval_without_width_can_be_drawn():
    prediction = quantity(5, 5)
    domain = prediction_charts.value_domain([prediction])
    chart = prediction_charts.density_chart(
        np.full(8, 5.0), prediction, prediction, domain=domain, decimals=0
    )
    assert "nan" not in chart.outline + chart.inside


def test_bars_show_the_probabilities_and_highlight_the_most_likely_level():
    bars = prediction_charts.level_bars(levels(0.2, 0.7, 0.1))
    assert [(bar.label, bar.percent, bar.text, bar.is_main) for bar in bars] == [
        ("None", 20, "20%", False),
        ("Mild", 70, "70%", True),
        ("Strong", 10, "10%", False),
    ]


def test_of_many_levels_the_most_likely_are_shown():
    town = Variable("town", "category", levels=tuple(range(20)))
    probabilities = np.arange(20) / 190
    prediction = Prediction(town, np.float64(0), np.float64(0), np.zeros(2), probabilities)
    bars = prediction_charts.level_bars(prediction)
    assert [bar.label for bar in bars] == ["19", "18", "17", "16", "15", "14"]


def test_there_is_no_history_before_the_first_answer():
    assert prediction_charts.history_chart([quantity(0, 10)], decimals=0) is None


def test_the_band_widens_where_the_uncertainty_grew():
    predictions = [quantity(40, 60), quantity(45, 55), quantity(20, 80)]
    history = prediction_charts.history_chart(predictions, decimals=0)
    band = parse_points(history.band)
    heights = [low[1] - high[1] for high, low in zip(band[:3], reversed(band[3:]), strict=True)]
    assert heights[1] < heights[0] < heights[2]
    assert "The width of the 90% range went from 20 to 60 over 2 answers." in history.description


def test_the_line_of_the_most_likely_level_is_drawn_last():
    predictions = [levels(0.6, 0.3, 0.1), levels(0.1, 0.3, 0.6)]
    history = prediction_charts.history_chart(predictions, decimals=0)
    assert [line.is_main for line in history.lines] == [False, False, True]
    assert history.lines[-1].last[1] < parse_points(history.lines[-1].points)[0][1]  # it rose
    assert history.description == "The probability of Strong went from 10% to 60% over one answer."
