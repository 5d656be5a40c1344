"""Bands over rows drawn anew, against what statistics says of them."""

import numpy as np
import pytest

from eddi.errors import EvaluationError
from eddi.evaluate import bootstrap
from eddi.evaluate.curves import Curves

NORMAL_90 = 1.645  # standard errors to either side that hold 90% of a normal


def of_errors(errors: object) -> Curves:
    """Curves whose rows err by so much at each step [rows, steps + 1]."""
    error = np.asarray(errors, dtype=float)
    n_rows, n_points = error.shape
    return Curves(
        target="risk",
        questions=("a", "b", "c"),
        truth=np.zeros(n_rows),
        mean=error,
        draw_squares=error**2,
        log_prob=-np.abs(error),
        order=np.zeros((n_rows, n_points - 1), dtype=np.int64),
        spent=np.tile(np.arange(n_points, dtype=float), (n_rows, 1)),
    )


@pytest.fixture(scope="module")
def errors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(400, 3)) * [2.0, 1.0, 0.5]


@pytest.mark.parametrize("metric", ["rmse", "nll"])
def test_a_band_is_as_wide_as_the_standard_error_says(errors, metric) -> None:
    curves = of_errors(errors)
    found = bootstrap.band(curves, metric)
    assert found.value == pytest.approx(getattr(curves, metric))
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()
    wanted = 2 * NORMAL_90 * curves.standard_error_of(metric)
    assert found.high - found.low == pytest.approx(wanted, rel=0.12)


def test_rows_that_are_alike_leave_no_doubt() -> None:
    found = bootstrap.band(of_errors([[2.0, 1.0]] * 5), "rmse")
    assert found.low == pytest.approx(found.high)


def test_a_row_without_a_truth_does_not_count(errors) -> None:
    unknown = np.vstack([errors, [[90.0, 90.0, 90.0]]])
    curves = of_errors(unknown)
    curves.truth[-1] = np.nan
    assert bootstrap.area(curves, "rmse").high < 10


def test_paired_differences_are_surer_than_two_areas(errors) -> None:
    better, worse = of_errors(errors), of_errors(errors * 1.1)
    found = bootstrap.area_difference(better, worse, "rmse")
    assert found.high < 0
    apart = bootstrap.area(better, "rmse")
    assert found.high - found.low < 0.3 * (apart.high - apart.low)
    same = bootstrap.area_difference(better, better, "rmse")
    assert (same.low, same.value, same.high) == (0, 0, 0)


def test_many_rows_are_drawn_in_chunks_with_the_same_outcome(errors, monkeypatch) -> None:
    whole = bootstrap.band(of_errors(errors), "nll")
    monkeypatch.setattr(bootstrap, "CHUNK_CELLS", 1_000)
    assert bootstrap.band(of_errors(errors), "nll").low == pytest.approx(whole.low)


def test_areas_of_other_rows_are_not_compared(errors) -> None:
    with pytest.raises(EvaluationError, match="over the same rows"):
        bootstrap.area_difference(of_errors(errors), of_errors(errors[:10]), "rmse")
