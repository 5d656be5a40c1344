"""Metrics of simulations, against numbers worked out by hand."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves


def quantity(**changes: Any) -> Curves:
    """Three rows and two steps of a quantity; the third row's truth is not known."""
    given: dict[str, Any] = {
        "target": "risk",
        "questions": ("a", "b", "risk"),
        "truth": np.array([1.0, 3.0, np.nan]),
        "mean": np.array([[4.0, 2.0, 1.0], [-1.0, 3.0, 3.0], [9.0, 9.0, 9.0]]),
        "draw_squares": np.array([[10.0, 2.0, 1.0], [20.0, 2.0, 0.0], [99.0, 99.0, 99.0]]),
        "log_prob": np.array([[-2.0, -1.0, -0.5], [-4.0, -3.0, -0.5], [-9.0, -9.0, -9.0]]),
        "order": np.array([[0, 1], [1, -1], [1, 0]]),
        "spent": np.array([[0.0, 2.0, 7.0], [0.0, 5.0, 5.0], [0.0, 5.0, 7.0]]),
        "rank": np.array([[0.5, 0.5, 0.5], [0.99, 0.5, 0.5], [0.5, 0.5, 0.5]]),
        "covered": np.array([[True, True, True], [False, True, True], [False, False, False]]),
    }
    return Curves(**{**given, **changes})


def levels(probabilities: Any, truth: Any, names: tuple[str, ...], *, ordered: bool = True) -> Curves:
    """One step of levels: probabilities [rows, levels]."""
    chances = np.asarray(probabilities, dtype=float)[:, None]
    actual = np.asarray(truth, dtype=float)
    mean = chances @ np.arange(len(names)) if ordered else np.full(chances.shape[:2], np.nan)
    true = chances[np.arange(len(actual)), 0, actual.astype(int)][:, None]
    return Curves(
        target="ill",
        questions=("a",),
        truth=actual,
        mean=mean,
        draw_squares=(mean - actual[:, None]) ** 2,
        log_prob=np.log(true),
        order=np.zeros((len(actual), 0), dtype=np.int64),
        spent=np.zeros((len(actual), 1)),
        probabilities=chances,
        levels=names,
    )


def test_errors_are_those_of_rows_whose_truth_is_known() -> None:
    curves = quantity()
    assert curves.rmse == pytest.approx([np.sqrt((9 + 16) / 2), np.sqrt((1 + 0) / 2), 0.0])
    assert curves.draw_rmse == pytest.approx([np.sqrt(15), np.sqrt(2), np.sqrt(0.5)])
    assert curves.nll == pytest.approx([3.0, 2.0, 0.5])
    assert curves.auic == pytest.approx((np.sqrt(12.5) + np.sqrt(0.5)) / 3)


def test_a_rows_area_is_its_absolute_error_over_the_steps() -> None:
    assert quantity().row_auic == pytest.approx([(3 + 1 + 0) / 3, (4 + 0 + 0) / 3, np.nan], nan_ok=True)
    assert quantity().row_area("nll")[:2] == pytest.approx([3.5 / 3, 7.5 / 3])


def test_the_standard_error_of_the_root_follows_from_that_of_the_mean() -> None:
    curves = quantity()
    of_mean = np.std([9, 16], ddof=1) / np.sqrt(2)
    assert curves.standard_error[0] == pytest.approx(of_mean / (2 * np.sqrt(12.5)))
    assert curves.standard_error[2] == 0  # no error, nothing to be unsure of
    assert curves.standard_error_of("nll")[0] == pytest.approx(np.std([2, 4], ddof=1) / np.sqrt(2))


def test_the_standard_error_is_what_repetition_would_show() -> None:
    random = np.random.default_rng(0)
    errors = random.normal(size=(400, 200, 1))
    seen = np.sqrt((errors**2).mean(1)).std()
    one = quantity(
        truth=np.zeros(200),
        mean=errors[0],
        **dict.fromkeys(("draw_squares", "log_prob", "spent", "rank"), np.zeros((200, 1))),
        order=np.zeros((200, 0), dtype=np.int64),
        covered=np.zeros((200, 1), dtype=bool),
    )
    assert one.standard_error[0] == pytest.approx(seen, rel=0.2)


def test_one_row_has_no_standard_error() -> None:
    curves = levels([[0.4, 0.6]], [1], ("no", "yes"))
    assert curves.standard_error.tolist() == [0.0]
    assert np.isnan(curves.auroc).all()  # type: ignore[arg-type]


def test_coverage_of_a_quantity_is_held_against_ninety_percent() -> None:
    curves = quantity()
    assert curves.coverage == pytest.approx([0.5, 1.0, 1.0])
    assert curves.calibration_error == pytest.approx([0.4, 0.1, 0.1])


def test_what_only_levels_have_is_none_for_a_quantity() -> None:
    curves = quantity()
    assert curves.accuracy is None
    assert curves.auroc is None
    assert curves.brier is None
    with pytest.raises(EvaluationError, match="'risk' is a quantity and has no accuracy"):
        curves.per_row("accuracy")
    with pytest.raises(EvaluationError, match=r"no metric 'mae'\. Use one of rmse"):
        curves.per_row("mae")  # type: ignore[arg-type]


def test_two_levels_have_the_metrics_everyone_knows() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 60)
    chance = np.round(random.random(60), 1)  # rounded, for ties
    curves = levels(np.stack([1 - chance, chance], axis=1).clip(0.01), truth, ("no", "yes"))
    assert curves.auroc == pytest.approx([roc_auc_score(truth, chance.clip(0.01))])
    unclipped = levels(np.stack([1 - chance, chance], axis=1) * 0.98 + 0.01, truth, ("no", "yes"))
    assert unclipped.brier == pytest.approx([brier_score_loss(truth, chance * 0.98 + 0.01)])
    assert unclipped.rmse == pytest.approx(np.sqrt(unclipped.brier))
    assert unclipped.coverage is None


def test_three_levels_by_hand() -> None:
    chances = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.4, 0.5]]
    curves = levels(chances, [0, 1, 1, 2], ("a", "b", "c"))
    assert curves.accuracy == pytest.approx([0.75])
    assert curves.brier == pytest.approx([(0.14 + 0.78 + 0.24 + 0.42) / 4])
    assert curves.nll == pytest.approx([-np.log([0.7, 0.3, 0.6, 0.5]).mean()])
    # Each level against the rest: 3 of 3 pairs in order; 3 of 4; 3 of 3.
    assert curves.auroc == pytest.approx([(1 + 0.75 + 1) / 3])


def test_a_level_no_row_has_is_left_out_of_the_roc() -> None:
    curves = levels([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]], [0, 1], ("a", "b", "never"))
    assert curves.auroc == pytest.approx([1.0])


def test_the_expected_calibration_error_by_hand() -> None:
    # Bin 0.6 to 0.7: two rows, half of them right, mean confidence 0.65. Bin 1.0: one row, right.
    curves = levels([[0.36, 0.64], [0.34, 0.66], [0.0, 1.0]], [1, 0, 1], ("no", "yes"))
    with np.errstate(divide="ignore"):
        assert curves.calibration_error == pytest.approx([2 / 3 * 0.15 + 1 / 3 * 0.0])


def test_a_category_errs_by_the_distance_of_its_probabilities() -> None:
    two = levels([[0.3, 0.7]], [0], ("a", "b"), ordered=False)
    assert np.isnan(two.mean).all()
    assert two.rmse == pytest.approx([0.7])  # as for a binary target, whose mean is a probability
    three = levels([[0.5, 0.25, 0.25]], [0], ("a", "b", "c"), ordered=False)
    assert three.row_auic == pytest.approx([np.sqrt((0.25 + 0.0625 + 0.0625) / 2)])


def test_against_cost_every_row_stands_where_its_money_took_it() -> None:
    curves = quantity().by_cost([0, 1.9, 2, 5, 6.9, 7, 100])
    assert curves.mean[0].tolist() == [4, 4, 2, 2, 2, 1, 1]
    assert curves.mean[1].tolist() == [-1, -1, -1, 3, 3, 3, 3]
    assert curves.order[0].tolist() == [-1, 0, -1, -1, 1, -1]
    assert curves.order[1].tolist() == [-1, -1, 1, -1, -1, -1]
    assert curves.spent[0].tolist() == [0, 0, 2, 2, 2, 7, 7]
    assert curves.rmse[2] == pytest.approx(np.sqrt((1 + 16) / 2))
    assert curves.covered is not None
    assert curves.covered[1].tolist() == [False, False, False, True, True, True, True]


def test_the_document_is_json_by_name() -> None:
    text = json.dumps(quantity().to_document(), allow_nan=False)
    document = json.loads(text)
    assert document["truth"] == [1.0, 3.0, None]
    assert document["order"] == [[0, 1], [1, -1], [1, 0]]
    assert document["accuracy"] is None
    assert document["auic"] == pytest.approx(quantity().auic)
    assert document["coverage"] == [0.5, 1.0, 1.0]
    assert document["questions"] == ["a", "b", "risk"]
    binary = levels([[0.4, 0.6], [0.5, 0.5]], [1, 0], ("no", "yes"))
    assert json.loads(json.dumps(binary.to_document(), allow_nan=False))["levels"] == ["no", "yes"]
