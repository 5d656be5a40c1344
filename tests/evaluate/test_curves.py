"""Metrics of simulations, compared with hand calculations and scikit-learn."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from eddi.errors import EvaluationError
from eddi.evaluate.curves import STEP_FIELDS, Curves


def quantity_curves(**changes: Any) -> Curves:
    """Three rows and two steps of a quantity; the third row has no value of the target."""
    fields: dict[str, Any] = {
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
    return Curves(**{**fields, **changes})


def level_curves(rows: Any, truth: Any, levels: tuple[str, ...], *, is_ordered: bool = True) -> Curves:
    """Step 0 of a target with levels, given its probabilities [rows, levels]."""
    probabilities = np.asarray(rows, dtype=float)[:, None]
    true = np.asarray(truth, dtype=float)
    no_mean = np.full(probabilities.shape[:2], np.nan)
    mean = probabilities @ np.arange(len(levels)) if is_ordered else no_mean
    true_probability = probabilities[np.arange(len(true)), 0, true.astype(int)][:, None]
    return Curves(
        target="ill",
        questions=("a",),
        truth=true,
        mean=mean,
        draw_squares=(mean - true[:, None]) ** 2,
        log_prob=np.log(true_probability),
        order=np.zeros((len(true), 0), dtype=np.int64),
        spent=np.zeros((len(true), 1)),
        probabilities=probabilities,
        levels=levels,
    )


def test_metrics_use_only_rows_with_a_target_value() -> None:
    curves = quantity_curves()
    assert curves.rmse == pytest.approx([np.sqrt((9 + 16) / 2), np.sqrt((1 + 0) / 2), 0.0])
    assert curves.draw_rmse == pytest.approx([np.sqrt(15), np.sqrt(2), np.sqrt(0.5)])
    assert curves.nll == pytest.approx([3.0, 2.0, 0.5])
    assert curves.auic == pytest.approx((np.sqrt(12.5) + np.sqrt(0.5)) / 3)


def test_the_area_of_a_row_is_its_mean_absolute_error_over_the_steps() -> None:
    assert quantity_curves().row_auic == pytest.approx(
        [(3 + 1 + 0) / 3, (4 + 0 + 0) / 3, np.nan], nan_ok=True
    )
    assert quantity_curves().row_area("nll")[:2] == pytest.approx([3.5 / 3, 7.5 / 3])


def test_the_standard_error_of_a_root_follows_from_the_delta_method() -> None:
    curves = quantity_curves()
    error_of_mean = np.std([9, 16], ddof=1) / np.sqrt(2)
    assert curves.standard_error[0] == pytest.approx(error_of_mean / (2 * np.sqrt(12.5)))
    assert curves.standard_error[2] == 0  # every error is zero
    assert curves.standard_error_of("nll")[0] == pytest.approx(np.std([2, 4], ddof=1) / np.sqrt(2))


def test_the_standard_error_is_the_standard_deviation_over_repetitions() -> None:
    random = np.random.default_rng(0)
    errors = random.normal(size=(400, 200, 1))
    sd_over_repetitions = np.sqrt((errors**2).mean(1)).std()
    curves = quantity_curves(
        truth=np.zeros(200),
        mean=errors[0],
        **dict.fromkeys(("draw_squares", "log_prob", "spent", "rank"), np.zeros((200, 1))),
        order=np.zeros((200, 0), dtype=np.int64),
        covered=np.zeros((200, 1), dtype=bool),
    )
    assert curves.standard_error[0] == pytest.approx(sd_over_repetitions, rel=0.2)


def test_a_single_row_has_a_standard_error_of_zero_and_no_auroc() -> None:
    curves = level_curves([[0.4, 0.6]], [1], ("no", "yes"))
    assert curves.standard_error.tolist() == [0.0]
    assert np.isnan(curves.auroc).all()  # type: ignore[arg-type]


def test_the_coverage_of_a_quantity_is_compared_with_ninety_percent() -> None:
    curves = quantity_curves()
    assert curves.coverage == pytest.approx([0.5, 1.0, 1.0])
    assert curves.calibration_error == pytest.approx([0.4, 0.1, 0.1])


def test_metrics_of_levels_are_none_for_a_quantity() -> None:
    curves = quantity_curves()
    assert curves.accuracy is None
    assert curves.auroc is None
    assert curves.brier is None


def test_an_unknown_or_unavailable_metric_is_an_error() -> None:
    curves = quantity_curves()
    with pytest.raises(EvaluationError, match="'risk' is a quantity and has no accuracy"):
        curves.per_row("accuracy")
    with pytest.raises(EvaluationError, match=r"no metric 'mae'\. Use one of rmse"):
        curves.per_row("mae")  # type: ignore[arg-type]


def test_metrics_of_two_levels_equal_those_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 60)
    probability = np.round(random.random(60), 1) * 0.98 + 0.01  # rounded, for ties
    curves = level_curves(np.stack([1 - probability, probability], axis=1), truth, ("no", "yes"))
    assert curves.auroc == pytest.approx([roc_auc_score(truth, probability)])
    assert curves.brier == pytest.approx([brier_score_loss(truth, probability)])
    assert curves.rmse == pytest.approx(np.sqrt(curves.brier))
    assert curves.coverage is None


def test_metrics_of_three_levels_equal_a_hand_calculation() -> None:
    probabilities = [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.4, 0.5]]
    curves = level_curves(probabilities, [0, 1, 1, 2], ("a", "b", "c"))
    assert curves.accuracy == pytest.approx([0.75])
    assert curves.brier == pytest.approx([(0.14 + 0.78 + 0.24 + 0.42) / 4])
    assert curves.nll == pytest.approx([-np.log([0.7, 0.3, 0.6, 0.5]).mean()])
    # Each level against the rest: 3 of 3 pairs are in order, then 3 of 4, then 3 of 3.
    assert curves.auroc == pytest.approx([(1 + 0.75 + 1) / 3])


def test_the_auroc_skips_a_level_that_no_row_has() -> None:
    curves = level_curves([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1]], [0, 1], ("a", "b", "never"))
    assert curves.auroc == pytest.approx([1.0])


def test_the_expected_calibration_error_equals_a_hand_calculation() -> None:
    # Bin 0.6 to 0.7: two rows, half of them correct, mean confidence 0.65. Last bin: one correct row.
    curves = level_curves([[0.36, 0.64], [0.34, 0.66], [0.0, 1.0]], [1, 0, 1], ("no", "yes"))
    with np.errstate(divide="ignore"):
        assert curves.calibration_error == pytest.approx([2 / 3 * 0.15 + 1 / 3 * 0.0])


def test_the_error_of_a_category_is_the_distance_of_its_probabilities() -> None:
    two = level_curves([[0.3, 0.7]], [0], ("a", "b"), is_ordered=False)
    assert np.isnan(two.mean).all()
    assert two.rmse == pytest.approx([0.7])  # the error of a binary target is the same
    three = level_curves([[0.5, 0.25, 0.25]], [0], ("a", "b", "c"), is_ordered=False)
    assert three.row_auic == pytest.approx([np.sqrt((0.25 + 0.0625 + 0.0625) / 2)])


def test_curves_by_cost_use_the_last_step_that_each_row_could_afford() -> None:
    curves = quantity_curves().by_cost([0, 1.9, 2, 5, 6.9, 7, 100])
    assert curves.mean[0].tolist() == [4, 4, 2, 2, 2, 1, 1]
    assert curves.mean[1].tolist() == [-1, -1, -1, 3, 3, 3, 3]
    assert curves.order[0].tolist() == [-1, 0, -1, -1, 1, -1]
    assert curves.order[1].tolist() == [-1, -1, 1, -1, -1, -1]
    assert curves.spent[0].tolist() == [0, 0, 2, 2, 2, 7, 7]
    assert curves.rmse[2] == pytest.approx(np.sqrt((1 + 16) / 2))
    assert curves.covered is not None
    assert curves.covered[1].tolist() == [False, False, False, True, True, True, True]


def test_the_questions_asked_are_counted_at_each_step() -> None:
    assert quantity_curves().asked.tolist() == [[1, 2, 0], [1, 1, 0]]


def test_padded_curves_keep_the_last_prediction_of_every_row() -> None:
    curves = quantity_curves()
    padded = curves.pad(4)
    assert padded.n_steps == 4
    assert padded.order.tolist() == [[0, 1, -1, -1], [1, -1, -1, -1], [1, 0, -1, -1]]
    for name in ("mean", "draw_squares", "log_prob", "rank", "covered", "spent"):
        values = getattr(padded, name)
        np.testing.assert_array_equal(values[:, :3], getattr(curves, name))
        np.testing.assert_array_equal(values[:, 3:], values[:, [2, 2]])
    assert padded.rmse.tolist() == [*curves.rmse, curves.rmse[-1], curves.rmse[-1]]


def test_padding_includes_the_probabilities_of_levels() -> None:
    curves = level_curves([[0.4, 0.6], [0.5, 0.5]], [1, 0], ("no", "yes"))
    padded = curves.pad(2)
    assert padded.probabilities is not None
    assert padded.probabilities[0].tolist() == [[0.4, 0.6]] * 3
    assert padded.rank is None


def test_curves_are_not_padded_to_fewer_steps() -> None:
    assert quantity_curves().pad(2).order.tolist() == quantity_curves().order.tolist()
    with pytest.raises(EvaluationError, match="cannot pad curves of 2 steps to 1"):
        quantity_curves().pad(1)


def test_concatenated_curves_have_the_rows_of_all_parts() -> None:
    curves = quantity_curves()
    short = quantity_curves(
        order=curves.order[:, :1],
        **{name: getattr(curves, name)[:, :2] for name in STEP_FIELDS if "probabilities" not in name},
    )
    both = Curves.concatenate([short, curves])
    assert (both.n_rows, both.n_steps) == (6, 2)
    np.testing.assert_array_equal(both.truth, np.tile(curves.truth, 2))
    np.testing.assert_array_equal(both.mean, np.concatenate([curves.mean[:, [0, 1, 1]], curves.mean]))
    assert both.order[:3].tolist() == [[0, -1], [1, -1], [1, -1]]
    assert both.probabilities is None


def test_the_document_is_plain_json() -> None:
    text = json.dumps(quantity_curves().to_document(), allow_nan=False)
    document = json.loads(text)
    assert document["truth"] == [1.0, 3.0, None]
    assert document["order"] == [[0, 1], [1, -1], [1, 0]]
    assert document["accuracy"] is None
    assert document["auic"] == pytest.approx(quantity_curves().auic)
    assert document["coverage"] == [0.5, 1.0, 1.0]
    assert document["questions"] == ["a", "b", "risk"]
    binary = level_curves([[0.4, 0.6], [0.5, 0.5]], [1, 0], ("no", "yes"))
    assert json.loads(json.dumps(binary.to_document(), allow_nan=False))["levels"] == ["no", "yes"]
