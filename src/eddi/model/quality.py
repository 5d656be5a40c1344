"""How well a model predicts a target on rows that it was not trained on, in common terms."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEARLY_ALL = 0.95  # share of the improvement by all questions at which further ones hardly help


@dataclass(frozen=True)
class TargetQuality:
    """The quality of predictions of one target, next to that of the trivial prediction.

    The trivial prediction is the most frequent class, or the mean, of the same rows.

    Args:
        target: the predicted variable.
        unit: of the target, if it is a quantity.
        source: the rows: "validation rows", "cross-validation" or "test rows".
        n_rows: the number of these rows.
        metrics: accuracy and AUROC of classes, RMSE and R² of a quantity, concordance of survival times,
            given the answers to all questions.
        trivial: the metrics of the trivial prediction.
        class_shares: the share of each class; empty for a quantity.
        n_enough: after how many questions the error has come down by 95% of what all questions achieve;
            None if it was not measured.
        n_questions: the number of questions that can be asked.
    """

    target: str
    unit: str
    source: str
    n_rows: int
    metrics: Mapping[str, float]
    trivial: Mapping[str, float]
    class_shares: Mapping[str, float]
    n_enough: int | None
    n_questions: int

    def to_document(self) -> dict[str, Any]:
        """The fields as plain JSON."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "TargetQuality":
        """The quality that `to_document` describes."""
        return cls(**document)

    def describe(self) -> list[str]:
        """The quality in sentences."""
        rows = "1 row" if self.n_rows == 1 else f"{self.n_rows:,} rows"
        lines = [f"Measured on {rows} that the model was not trained on ({self.source})."]
        if "concordance" in self.metrics:
            lines.append(
                f"Of two people, the one with the earlier event has the higher predicted risk in "
                f"{self.metrics['concordance']:.0%} of cases (concordance); guessing: 50%."
            )
        elif self.class_shares:
            lines.append(
                f"Accuracy {self.metrics['accuracy']:.0%}; always guessing the most frequent class: "
                f"{self.trivial['accuracy']:.0%}."
            )
            if "auroc" in self.metrics:
                lines.append(f"AUROC {self.metrics['auroc']:.2f}; guessing: 0.50.")
            shares = ", ".join(f"{level} {share:.0%}" for level, share in self.class_shares.items())
            lines.append(f"Classes: {shares}.")
        else:
            unit = f" {self.unit}" if self.unit else ""
            lines.append(
                f"Typical error (RMSE) {self.metrics['rmse']:.4g}{unit}; always guessing the mean: "
                f"{self.trivial['rmse']:.4g}{unit}. R² {self.metrics['r2']:.2f}."
            )
        if self.n_enough is not None:
            lines.append(
                f"With {self.n_enough} of {self.n_questions} questions, predictions come within 5% of what "
                "all questions achieve."
            )
        return lines


def auroc(scores: NDArray[np.float64], is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Probability that a positive row scores above another one; ties count half.

    Args:
        scores: [rows, ...].
        is_positive: [rows]; both classes must occur.
    """
    from scipy.stats import rankdata  # slow to import, and workers of a simulation do not need it

    n_positive, n_negative = is_positive.sum(), (~is_positive).sum()
    rank_sum = rankdata(scores, axis=0)[is_positive].sum(0)  # Mann and Whitney (1947)
    return np.asarray((rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def count_enough_steps(losses: NDArray[np.float64]) -> int:
    """The number of steps after which the loss [steps + 1] has come down by 95% of its final decrease."""
    allowed = losses[-1] + (1 - NEARLY_ALL) * max(0.0, losses[0] - losses[-1])
    return int(np.argmax(losses <= allowed))
