"""The geometry of charts."""

import math

import numpy as np
import pytest

from eddi.service.web import svg
from eddi.service.web.svg import Axes, Scale


def test_a_scale_maps_its_domain_to_its_range_and_clips():
    scale = Scale((0, 10), (40, 140))
    assert [scale(value) for value in (0, 2.5, 10, -5, 99)] == [40, 65, 140, 40, 140]


def test_a_vertical_scale_grows_upwards():
    scale = Scale((0, 1), (90, 10))
    assert (scale(0), scale(0.5), scale(1)) == (90, 50, 10)


def test_a_scale_without_extent_is_finite():
    assert math.isfinite(Scale((5, 5), (0, 100))(5))


def test_axes_map_pairs_of_values():
    axes = Axes(Scale((0, 1), (0, 100)), Scale((0, 1), (100, 0)))
    assert axes.point(0.25, 0.25) == (25, 75)
    assert axes.points([0, 1], np.array([0.0, 1.0])) == [(0, 100), (100, 0)]


def test_points_are_formatted_for_svg():
    assert svg.format_points([(0.0, 1.5), (2.25, 3.0)]) == "0,1.5 2.25,3"


def test_a_step_function_holds_each_value_until_the_next():
    assert svg.step_points([(0, 5), (1, 3), (2, 4)]) == [(0, 5), (1, 5), (1, 3), (2, 3), (2, 4)]
    assert svg.step_points([(0, 5)]) == [(0, 5)]


def test_a_band_goes_along_its_upper_path_and_back_along_its_lower_path():
    assert svg.band_points([(0, 1), (1, 2)], [(0, 9), (1, 8)]) == [(0, 1), (1, 2), (1, 8), (0, 9)]


def test_an_area_ends_on_its_baseline():
    assert svg.area_points([(0, 1), (1, 2)], 9) == [(0, 9), (0, 1), (1, 2), (1, 9)]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-3.2, 9.7, [-5, 0, 5, 10]),
        (0, 1000, [0, 200, 400, 600, 800, 1000]),
        (math.nan, 1, [0, 1]),
    ],
)
def test_ticks_are_round_and_enclose_the_interval(low, high, ticks):
    assert svg.ticks(low, high) == ticks


def test_an_interval_without_width_has_ticks():
    assert all(math.isfinite(tick) for tick in svg.ticks(3.0, 3.0))


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "0.25"), (-3, "\u22123"), (1234, "1,234"), (12_500, "12.5k"), (-20_000, "\u221220k")],
)
def test_labels_of_ticks_are_short(value, text):
    assert svg.format_tick(value) == text


def test_a_density_has_its_maximum_of_one_where_the_draws_are():
    draws = np.random.default_rng(0).normal(50, 6, 512)
    grid = np.linspace(0, 100, 101)
    density = svg.kernel_density(draws, grid)
    assert density.max() == pytest.approx(1)
    assert grid[density.argmax()] == pytest.approx(50, abs=3)


def test_the_density_of_identical_draws_is_finite():
    density = svg.kernel_density(np.full(8, 5.0), np.linspace(0, 10, 11))
    assert np.isfinite(density).all()
