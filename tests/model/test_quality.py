"""The quality of predictions in sentences, and its parts."""

import json

import numpy as np
import pytest

from eddi.model.quality import TargetQuality, auroc, count_enough_steps

CLASSES = TargetQuality(
    *("ill", "", "cross-validation", 150),
    metrics={"accuracy": 0.9, "auroc": 0.95},
    trivial={"accuracy": 0.6, "auroc": 0.5},
    class_shares={"no": 0.6, "yes": 0.4},
    n_enough=2,
    n_questions=8,
)
QUANTITY = TargetQuality(
    *("age", "years", "test rows", 1),
    metrics={"rmse": 3.2, "r2": 0.84},
    trivial={"rmse": 8.0, "r2": 0.0},
    class_shares={},
    n_enough=None,
    n_questions=8,
)


def test_classes_are_described_next_to_the_most_frequent_one():
    assert CLASSES.describe() == [
        "Measured on 150 rows that the model was not trained on (cross-validation).",
        "Accuracy 90%; always guessing the most frequent class: 60%.",
        "AUROC 0.95; guessing: 0.50.",
        "Classes: no 60%, yes 40%.",
        "With 2 of 8 questions, predictions come within 5% of what all questions achieve.",
    ]


def test_a_quantity_is_described_next_to_the_mean():
    assert QUANTITY.describe() == [
        "Measured on 1 row that the model was not trained on (test rows).",
        "Typical error (RMSE) 3.2 years; always guessing the mean: 8 years. R² 0.84.",
    ]


@pytest.mark.parametrize("quality", [CLASSES, QUANTITY])
def test_a_document_describes_the_quality_completely(quality):
    document = json.loads(json.dumps(quality.to_document()))
    assert TargetQuality.from_document(document) == quality


def test_auroc_is_the_share_of_pairs_in_the_right_order():
    is_positive = np.array([False, True, False, True])
    assert auroc(np.array([0.1, 0.2, 0.3, 0.4]), is_positive) == 0.75
    assert auroc(np.zeros(4), is_positive) == 0.5


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([10, 5, 1.2, 1, 1], 2),  # 10 to 1: within 5% of 9 from 1.45 on
        ([10, 9, 8, 7, 1], 4),
        ([1, 1, 1], 0),
        ([1, 2, 3], 0),
        ([5], 0),
    ],
)
def test_enough_questions_bring_95_percent_of_the_improvement(losses, expected):
    assert count_enough_steps(np.array(losses, dtype=float)) == expected
