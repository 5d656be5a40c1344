"""Pictures as geometry: true to the belief, and inside their frame."""

import numpy as np
import pytest

from eddi import Variable
from eddi.model.prediction import Prediction
from eddi.service.web import svg

RISK = Variable("risk", "real", low=0)
PAIN = Variable("pain", "ordinal", levels=("none", "mild", "strong"))


def quantity(low, high):
    mean, sd = (low + high) / 2, (high - low) / 3.29
    return Prediction(RISK, np.float64(mean), np.float64(sd), np.array([low, high], dtype=float))


def levels(*chances):
    return Prediction(PAIN, np.float64(1), np.float64(1), np.array([0.0, 2.0]), np.array(chances))


def points(text):
    return [tuple(map(float, point.split(","))) for point in text.split()]


@pytest.fixture
def strip():
    now, before = quantity(40, 60), quantity(10, 90)
    draws = np.random.default_rng(0).normal(50, 6, 512)
    return svg.strip(draws, now, before, scale=svg.Scale.of([before, now]), decimals=0)


def test_a_strip_stays_inside_its_frame(strip):
    assert all(0 <= x <= svg.WIDTH and 0 <= y <= 60 for x, y in points(strip.outline))
    assert strip.before[0] < strip.low < strip.mean < strip.high < strip.before[1]


def test_a_density_is_highest_where_the_draws_are(strip):
    x, _ = min(points(strip.outline), key=lambda point: point[1])  # up is less
    assert x == pytest.approx(strip.mean, abs=12)


def test_the_part_inside_the_interval_ends_with_the_interval(strip):
    xs = [x for x, _ in points(strip.inside)]
    assert (min(xs), max(xs)) == (strip.low, strip.high)


def test_labels_of_a_narrow_interval_do_not_run_into_each_other(strip):
    assert [label.words for label in strip.labels] == ["40", "60"]
    assert strip.labels[1].x - strip.labels[0].x >= svg.NEAR


def test_a_scale_does_not_go_where_the_variable_cannot():
    scale = svg.Scale.of([quantity(1, 100)])
    assert scale.low == 0
    assert scale.high > 100


def test_a_belief_without_width_can_be_drawn():
    now = quantity(5, 5)
    drawn = svg.strip(np.full(8, 5.0), now, now, scale=svg.Scale.of([now]), decimals=0)
    assert "nan" not in drawn.outline + drawn.inside


def test_bars_are_probabilities_and_one_is_the_likeliest():
    bars = svg.bars(levels(0.2, 0.7, 0.1))
    assert [(bar.label, bar.share, bar.words, bar.likeliest) for bar in bars] == [
        ("None", 20, "20%", False),
        ("Mild", 70, "70%", True),
        ("Strong", 10, "10%", False),
    ]


def test_many_levels_are_shown_by_the_likeliest():
    town = Variable("town", "category", levels=tuple(range(20)))
    chances = np.arange(20) / 190
    bars = svg.bars(Prediction(town, np.float64(0), np.float64(0), np.zeros(2), chances))
    assert [bar.label for bar in bars] == ["19", "18", "17", "16", "15", "14"]


def test_before_the_first_answer_there_is_no_history():
    assert svg.steps([quantity(0, 10)], decimals=0) is None


def test_a_band_widens_where_certainty_fell():
    steps = svg.steps([quantity(40, 60), quantity(45, 55), quantity(20, 80)], decimals=0)
    band = points(steps.band)
    heights = [low[1] - high[1] for high, low in zip(band[:3], reversed(band[3:]), strict=True)]
    assert heights[1] < heights[0] < heights[2]
    assert "from 20 to 60 wide over 2 answers" in steps.words


def test_the_line_of_the_likeliest_level_is_the_main_one_and_drawn_last():
    steps = svg.steps([levels(0.6, 0.3, 0.1), levels(0.1, 0.3, 0.6)], decimals=0)
    assert [line.main for line in steps.lines] == [False, False, True]
    assert steps.lines[-1].last[1] < points(steps.lines[-1].points)[0][1]  # it rose
    assert steps.words == "The probability of Strong went from 10% to 60% over one answer."


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0.31, 0.68, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (-3, 3, [-4, -2, 0, 2, 4]),
        (0, 1300, [0, 500, 1000, 1500]),
        (float("nan"), 1, [0, 1]),
    ],
)
def test_ticks_are_round_and_cover_the_range(low, high, expected):
    assert svg.ticks(low, high) == pytest.approx(expected)


def test_an_empty_range_has_a_tick():
    assert 5 in svg.ticks(5, 5)


@pytest.mark.parametrize(
    ("value", "label"),
    [(0.5, "0.5"), (-2, "\u22122"), (1500, "1,500"), (25_000, "25k"), (-0.25, "\u22120.25")],
)
def test_tick_labels_are_short(value, label):
    assert svg.format_tick(value) == label


def test_a_step_function_keeps_each_value_until_the_next_point():
    assert svg.step_points([(0, 4), (10, 2), (20, 1)]) == [(0, 4), (10, 4), (10, 2), (20, 2), (20, 1)]


def test_areas_and_bands_are_closed_outlines():
    assert svg.area_points([(0, 3), (1, 2)], 9) == [(0, 9), (0, 3), (1, 2), (1, 9)]
    assert svg.band_points([(0, 1), (1, 1)], [(0, 2), (1, 2)]) == [(0, 1), (1, 1), (1, 2), (0, 2)]


def test_fractions_are_clipped_to_the_range():
    assert [svg.fraction(value, 0, 4) for value in (-1, 1, 9)] == [0, 0.25, 1]
