"""Bootstrap bands, compared with standard errors."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate import bootstrap

NORMAL_90 = 1.645  # a normal distribution has 90% of its mass within this many standard deviations


@pytest.fixture(scope="module")
def errors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 3)) * [2.0, 1.0, 0.5]


@pytest.mark.parametrize("metric", ["rmse", "nll"])
def test_the_width_of_a_band_follows_from_the_standard_error(curves_with_errors, errors, metric) -> None:
    curves = curves_with_errors(errors)
    band = bootstrap.band(curves, metric)
    assert band.value == pytest.approx(getattr(curves, metric))
    assert (band.low < band.value).all()
    assert (band.value < band.high).all()
    expected = 2 * NORMAL_90 * curves.standard_error_of(metric)
    assert band.high - band.low == pytest.approx(expected, rel=0.12)


def test_the_band_of_identical_rows_has_no_width(curves_with_errors) -> None:
    band = bootstrap.band(curves_with_errors([[2.0, 1.0]] * 5), "rmse")
    assert band.low == pytest.approx(band.high)


def test_the_area_is_the_mean_over_the_steps(curves_with_errors, errors) -> None:
    curves = curves_with_errors(errors)
    band = bootstrap.area(curves, "rmse")
    assert band.value == pytest.approx(curves.auic)
    assert band.low < band.value < band.high


def test_a_row_without_a_target_value_does_not_count(curves_with_errors, errors) -> None:
    curves = curves_with_errors(np.vstack([errors, [[90.0, 90.0, 90.0]]]))
    curves.truth[-1] = np.nan
    assert bootstrap.area(curves, "rmse").high < 10


def test_a_paired_difference_has_a_narrower_band_than_an_area(curves_with_errors, errors) -> None:
    better, worse = curves_with_errors(errors), curves_with_errors(errors * 1.1)
    difference = bootstrap.area_difference(better, worse, "rmse")
    assert difference.high < 0
    area = bootstrap.area(better, "rmse")
    assert difference.high - difference.low < 0.3 * (area.high - area.low)


def test_the_difference_of_a_curve_from_itself_is_exactly_zero(curves_with_errors, errors) -> None:
    curves = curves_with_errors(errors)
    difference = bootstrap.area_difference(curves, curves, "rmse")
    assert (difference.low, difference.value, difference.high) == (0, 0, 0)


def test_resampling_in_chunks_does_not_change_the_band(curves_with_errors, errors, monkeypatch) -> None:
    whole = bootstrap.band(curves_with_errors(errors), "nll")
    monkeypatch.setattr(bootstrap, "CHUNK_CELLS", 1_000)
    chunked = bootstrap.band(curves_with_errors(errors), "nll")
    assert chunked.low == pytest.approx(whole.low)
    assert chunked.high == pytest.approx(whole.high)


@pytest.mark.parametrize("part", [np.s_[:10], np.s_[:, :2]])
def test_areas_of_other_rows_or_steps_are_not_compared(curves_with_errors, errors, part) -> None:
    with pytest.raises(EvaluationError, match="over the same rows and the same number of steps"):
        bootstrap.area_difference(curves_with_errors(errors), curves_with_errors(errors[part]), "rmse")
