"""Compare strategies or models row by row: average ranks, as in the paper, and paired tests."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers, pad_steps


@dataclass(frozen=True)
class RankedResult:
    """The result of one strategy or model in a comparison.

    Args:
        name: name of the strategy or model.
        auic: area under the information curve: mean of the metric over the steps.
        rank: rank among all, averaged over rows (1 is best).
        rank_error: standard error of that average.
        last: the metric after the last question.
        n_asked: mean number of questions asked of a row.
        spent: mean cost of an interview.
        p_value: of the paired Wilcoxon test of row areas against the best; None for the best itself.
    """

    name: str
    auic: float
    rank: float
    rank_error: float
    last: float
    n_asked: float
    spent: float
    p_value: float | None


def compare(curves: Mapping[str, Curves], metric: Metric = "rmse") -> list[RankedResult]:
    """Rank simulations of the same rows. The best average rank comes first."""
    ranks = average_ranks(curves, metric)
    names = sorted(curves, key=lambda name: ranks[name][0])
    areas = _row_areas(curves, metric)
    n_steps = _max_steps(curves)
    return [
        RankedResult(
            name=name,
            auic=float(pad_steps(curves[name].metric(metric), n_steps).mean()),
            rank=ranks[name][0],
            rank_error=ranks[name][1],
            last=float(curves[name].metric(metric)[-1]),
            n_asked=float(curves[name].n_asked.mean()),
            spent=float(curves[name].spent[:, -1].mean()),
            p_value=None if name == names[0] else signed_rank(areas[name] - areas[names[0]]),
        )
        for name in names
    ]


def average_ranks(
    curves: Mapping[str, Curves], metric: Metric = "rmse"
) -> dict[str, tuple[float, float]]:
    """Rank by the area of each row (`Curves.row_area`), averaged over rows, and its standard error.

    This is the measure in the paper's tables. 1 is best. Ties share their ranks.
    """
    areas = np.stack(list(_row_areas(curves, metric).values()), axis=1)  # [rows, names]
    ranks = stats.rankdata(np.where(metric == "accuracy", -areas, areas), axis=1)
    n_rows = len(ranks)
    errors = ranks.std(0, ddof=1) / np.sqrt(n_rows) if n_rows > 1 else np.zeros(ranks.shape[1])
    return dict(zip(curves, zip(ranks.mean(0).tolist(), errors.tolist(), strict=True), strict=True))


def wilcoxon(a: Curves, b: Curves, metric: Metric = "rmse") -> float:
    """p-value of the paired, two-sided signed-rank test of the row areas of ``a`` and ``b``."""
    areas = _row_areas({"a": a, "b": b}, metric)
    return signed_rank(areas["a"] - areas["b"])


def signed_rank(differences: Numbers) -> float:
    """p-value of the two-sided signed-rank test (Wilcoxon 1945) of paired differences [rows].

    Differences of zero are dropped; the p-value is 1 if all are zero.
    """
    nonzero = differences[differences != 0]
    return float(stats.wilcoxon(nonzero).pvalue) if len(nonzero) else 1.0


def _row_areas(curves: Mapping[str, Curves], metric: Metric) -> dict[str, Numbers]:
    """Areas of the rows whose target is observed, all over the same number of steps [rows]."""
    if not curves:
        raise EvaluationError("there is nothing to compare. Give at least one simulation.")
    first_name, first = next(iter(curves.items()))
    for name, other in curves.items():
        if other.target != first.target or not np.array_equal(other.truth, first.truth, equal_nan=True):
            raise EvaluationError(
                f"{first_name!r} and {name!r} were not simulated on the same rows and target, so they "
                "cannot be compared row by row. Simulate both on one table."
            )
    n_steps = _max_steps(curves)
    return {
        name: pad_steps(curve.row_values(metric)[curve.known], n_steps).mean(1)
        for name, curve in curves.items()
    }


def _max_steps(curves: Mapping[str, Curves]) -> int:
    return max(curve.n_steps for curve in curves.values())
