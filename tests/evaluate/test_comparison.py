"""Who did better: ranks and paired tests, against hand and scipy."""

import numpy as np
import pytest
from scipy import stats

from eddi.errors import EvaluationError
from eddi.evaluate.comparison import average_ranks, compare, wilcoxon
from eddi.evaluate.curves import Curves


def of_errors(errors: object, truth: object = None) -> Curves:
    """Curves whose rows err by so much at each step [rows, steps + 1]."""
    error = np.asarray(errors, dtype=float)
    n_rows, n_points = error.shape
    actual = np.zeros(n_rows) if truth is None else np.asarray(truth, dtype=float)
    return Curves(
        target="risk",
        questions=("a", "b", "c"),
        truth=actual,
        mean=error + actual[:, None],
        draw_squares=error**2,
        log_prob=-(error**2),
        order=np.zeros((n_rows, n_points - 1), dtype=np.int64),
        spent=np.tile(np.arange(n_points, dtype=float), (n_rows, 1)),
    )


GOOD = of_errors([[2, 1], [2, 0], [1, 1], [3, 1]])
MIDDLING = of_errors([[2, -2], [2, 2], [1, 1], [3, 2]])
BAD = of_errors([[2, 3], [-2, 3], [2, 3], [1, 0]])


def test_ranks_are_averaged_over_rows_and_ties_shared() -> None:
    ranks = average_ranks({"good": GOOD, "middling": MIDDLING, "bad": BAD})
    by_hand = {"good": [1, 1, 1.5, 2], "middling": [2, 2, 1.5, 3], "bad": [3, 3, 3, 1]}
    for name, each in by_hand.items():
        assert ranks[name] == pytest.approx((np.mean(each), np.std(each, ddof=1) / 2))


def test_ranks_of_all_sum_to_what_ranks_must() -> None:
    ranks = average_ranks({"good": GOOD, "middling": MIDDLING, "bad": BAD})
    assert sum(rank for rank, _ in ranks.values()) == pytest.approx(6)


def test_the_signed_rank_test_is_scipys_on_areas() -> None:
    random = np.random.default_rng(0)
    a, b = of_errors(random.random((30, 4))), of_errors(random.random((30, 4)) + 0.2)
    expected = stats.wilcoxon(a.row_auic, b.row_auic).pvalue
    assert wilcoxon(a, b) == pytest.approx(expected)
    assert wilcoxon(b, a) == pytest.approx(expected)
    assert wilcoxon(a, b, "nll") == pytest.approx(
        stats.wilcoxon(a.row_area("nll"), b.row_area("nll")).pvalue
    )


def test_five_rows_all_better_is_one_in_sixteen() -> None:
    better, worse = of_errors([[1.0]] * 5), of_errors([[1.0 + k] for k in range(1, 6)])
    assert wilcoxon(better, worse) == pytest.approx(2 / 2**5)


def test_equals_are_told_apart_by_nothing() -> None:
    assert wilcoxon(GOOD, GOOD) == 1.0
    assert wilcoxon(of_errors([[1.0]]), of_errors([[2.0]])) == 1.0


def test_whoever_stopped_early_goes_on_with_its_last_prediction() -> None:
    short, long = of_errors([[4, 1], [4, 1]]), of_errors([[4, 1, 1, 1], [4, 1, 1, 0]])
    assert average_ranks({"short": short, "long": long})["short"][0] == pytest.approx((1.5 + 2) / 2)
    standings = {each.name: each for each in compare({"short": short, "long": long})}
    assert standings["short"].auic == pytest.approx((4 + 1 + 1 + 1) / 4)


def test_rows_without_a_truth_are_not_compared() -> None:
    truth = [0.0, np.nan, 0.0]
    a, b = of_errors([[1], [9], [1]], truth), of_errors([[2], [0], [2]], truth)
    assert average_ranks({"a": a, "b": b}) == {"a": (1.0, 0.0), "b": (2.0, 0.0)}


def test_the_table_puts_the_best_first() -> None:
    first, second, third = compare({"bad": BAD, "good": GOOD, "middling": MIDDLING})
    assert [first.name, second.name, third.name] == ["good", "middling", "bad"]
    assert first.p_value is None
    assert second.p_value == pytest.approx(wilcoxon(MIDDLING, GOOD))
    assert first.auic == pytest.approx(GOOD.auic)
    assert first.last == pytest.approx(GOOD.rmse[-1])
    assert (first.n_asked, first.spent) == (1.0, 1.0)


def test_one_alone_has_rank_one() -> None:
    (only,) = compare({"only": GOOD})
    assert (only.rank, only.rank_error) == (1.0, 0.0)


def test_a_higher_accuracy_ranks_better() -> None:
    def sure_of(level: int) -> Curves:
        chances = np.tile(np.eye(2)[level] * 0.8 + 0.1, (3, 1, 1))
        return Curves(
            target="ill",
            questions=("a",),
            truth=np.ones(3),
            mean=chances[..., 1],
            draw_squares=np.zeros((3, 1)),
            log_prob=np.zeros((3, 1)),
            order=np.zeros((3, 0), dtype=np.int64),
            spent=np.zeros((3, 1)),
            probabilities=chances,
            levels=("no", "yes"),
        )

    ranks = average_ranks({"wrong": sure_of(0), "right": sure_of(1)}, "accuracy")
    assert ranks["right"][0] < ranks["wrong"][0]


def test_different_rows_cannot_be_compared() -> None:
    other = of_errors([[1, 1]] * 4, truth=[1, 2, 3, 4])
    with pytest.raises(EvaluationError, match="'good' and 'other' were not simulated on the same rows"):
        average_ranks({"good": GOOD, "other": other})
    with pytest.raises(EvaluationError, match="nothing to compare"):
        compare({})
