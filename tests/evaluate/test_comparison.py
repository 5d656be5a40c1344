"""Average ranks and paired tests, compared with hand calculations and scipy."""

import numpy as np
import pytest
from scipy import stats

from eddi.errors import EvaluationError
from eddi.evaluate.comparison import average_ranks, compare, signed_rank, wilcoxon
from eddi.evaluate.curves import Curves


@pytest.fixture(scope="module")
def good(curves_with_errors):
    return curves_with_errors([[2, 1], [2, 0], [1, 1], [3, 1]])


@pytest.fixture(scope="module")
def fair(curves_with_errors):
    return curves_with_errors([[2, -2], [2, 2], [1, 1], [3, 2]])


@pytest.fixture(scope="module")
def bad(curves_with_errors):
    return curves_with_errors([[2, 3], [-2, 3], [2, 3], [1, 0]])


def test_ranks_are_averaged_over_rows_and_ties_share_a_rank(good, fair, bad) -> None:
    ranks = average_ranks({"good": good, "fair": fair, "bad": bad})
    by_hand = {"good": [1, 1, 1.5, 2], "fair": [2, 2, 1.5, 3], "bad": [3, 3, 3, 1]}
    for name, row_ranks in by_hand.items():
        assert ranks[name] == pytest.approx((np.mean(row_ranks), np.std(row_ranks, ddof=1) / 2))


def test_the_ranks_of_three_sum_to_six(good, fair, bad) -> None:
    ranks = average_ranks({"good": good, "fair": fair, "bad": bad})
    assert sum(rank for rank, _ in ranks.values()) == pytest.approx(6)


def test_the_signed_rank_test_is_scipys_test_of_row_areas(curves_with_errors) -> None:
    random = np.random.default_rng(0)
    a = curves_with_errors(random.random((30, 4)))
    b = curves_with_errors(random.random((30, 4)) + 0.2)
    expected = stats.wilcoxon(a.row_auic, b.row_auic).pvalue
    assert wilcoxon(a, b) == pytest.approx(expected)
    assert wilcoxon(b, a) == pytest.approx(expected)
    nll = stats.wilcoxon(a.row_area("nll"), b.row_area("nll")).pvalue
    assert wilcoxon(a, b, "nll") == pytest.approx(nll)


def test_five_differences_of_one_sign_have_a_p_value_of_one_sixteenth(curves_with_errors) -> None:
    better = curves_with_errors([[1.0]] * 5)
    worse = curves_with_errors([[1.0 + k] for k in range(1, 6)])
    assert wilcoxon(better, worse) == pytest.approx(2 / 2**5)


def test_equal_curves_have_a_p_value_of_one(good) -> None:
    assert wilcoxon(good, good) == 1.0
    assert signed_rank(np.zeros(3)) == 1.0


def test_a_single_row_has_a_p_value_of_one(curves_with_errors) -> None:
    assert wilcoxon(curves_with_errors([[1.0]]), curves_with_errors([[2.0]])) == 1.0


def test_shorter_curves_are_padded_with_their_last_prediction(curves_with_errors) -> None:
    short = curves_with_errors([[4, 1], [4, 1]])
    long = curves_with_errors([[4, 1, 1, 1], [4, 1, 1, 0]])
    assert average_ranks({"short": short, "long": long})["short"][0] == pytest.approx((1.5 + 2) / 2)
    results = {result.name: result for result in compare({"short": short, "long": long})}
    assert results["short"].auic == pytest.approx((4 + 1 + 1 + 1) / 4)


def test_rows_without_a_target_value_are_not_compared(curves_with_errors) -> None:
    truth = [0.0, np.nan, 0.0]
    a = curves_with_errors([[1], [9], [1]], truth)
    b = curves_with_errors([[2], [0], [2]], truth)
    assert average_ranks({"a": a, "b": b}) == {"a": (1.0, 0.0), "b": (2.0, 0.0)}


def test_the_best_average_rank_comes_first(good, fair, bad) -> None:
    first, second, third = compare({"bad": bad, "good": good, "fair": fair})
    assert [first.name, second.name, third.name] == ["good", "fair", "bad"]
    assert first.p_value is None
    assert second.p_value == pytest.approx(wilcoxon(fair, good))
    assert first.auic == pytest.approx(good.auic)
    assert first.last == pytest.approx(good.rmse[-1])
    assert (first.n_asked, first.spent) == (1.0, 1.0)


def test_a_single_simulation_has_rank_one(good) -> None:
    (only,) = compare({"only": good})
    assert (only.rank, only.rank_error) == (1.0, 0.0)


def test_a_higher_accuracy_ranks_better() -> None:
    def predict(level: int) -> Curves:
        probabilities = np.tile(np.eye(2)[level] * 0.8 + 0.1, (3, 1, 1))
        return Curves(
            target="ill",
            questions=("a",),
            truth=np.ones(3),
            mean=probabilities[..., 1],
            draw_squares=np.zeros((3, 1)),
            log_prob=np.zeros((3, 1)),
            order=np.zeros((3, 0), dtype=np.int64),
            spent=np.zeros((3, 1)),
            probabilities=probabilities,
            levels=("no", "yes"),
        )

    ranks = average_ranks({"wrong": predict(0), "right": predict(1)}, "accuracy")
    assert ranks["right"][0] < ranks["wrong"][0]


def test_simulations_of_different_rows_cannot_be_compared(curves_with_errors, good) -> None:
    other = curves_with_errors([[1, 1]] * 4, truth=[1, 2, 3, 4])
    with pytest.raises(EvaluationError, match="'good' and 'other' were not simulated on the same rows"):
        average_ranks({"good": good, "other": other})


def test_there_must_be_something_to_compare() -> None:
    with pytest.raises(EvaluationError, match="nothing to compare"):
        compare({})
