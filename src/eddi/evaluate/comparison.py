"""Which strategy (or model) did better, row by row: the paper's ranks and paired tests."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import stats

from eddi.errors import EvaluationError
from eddi.evaluate.curves import Curves, Metric, Numbers


@dataclass(frozen=True)
class Standing:
    """How one of several did.

    Args:
        name: who.
        auic: area under the information curve: the metric's mean over the steps.
        rank: mean over rows of its rank among all (1 is best).
        rank_error: standard error of that mean.
        last: the metric when all was asked that would be.
        n_asked: questions asked of a row, on average.
        spent: what they cost, on average.
        p_value: of the paired Wilcoxon test of its rows' areas against those of the best; None for the
            best itself.
    """

    name: str
    auic: float
    rank: float
    rank_error: float
    last: float
    n_asked: float
    spent: float
    p_value: float | None


def compare(curves: Mapping[str, Curves], metric: Metric = "rmse") -> list[Standing]:
    """Everyone's standing, the best average rank first."""
    ranks = average_ranks(curves, metric)
    names = sorted(curves, key=lambda name: ranks[name][0])
    areas = _areas(curves, metric)
    n_steps = max(each.n_steps for each in curves.values())
    return [
        Standing(
            name=name,
            auic=float(_longer(getattr(curves[name], metric), n_steps).mean()),
            rank=ranks[name][0],
            rank_error=ranks[name][1],
            last=float(getattr(curves[name], metric)[-1]),
            n_asked=float(curves[name].n_asked.mean()),
            spent=float(curves[name].spent[:, -1].mean()),
            p_value=None if name == names[0] else signed_rank(areas[name] - areas[names[0]]),
        )
        for name in names
    ]


def average_ranks(
    curves: Mapping[str, Curves], metric: Metric = "rmse"
) -> dict[str, tuple[float, float]]:
    """Each one's rank among all by a row's own area (`row_auic`), averaged over rows; 1 is best.

    This is the measure of the paper's tables. Ties share their ranks. The second number is the standard
    error over rows.
    """
    areas = np.stack(list(_areas(curves, metric).values()), axis=1)  # [rows, names]
    ranks = stats.rankdata(np.where(metric == "accuracy", -areas, areas), axis=1)
    n_rows = len(ranks)
    errors = ranks.std(0, ddof=1) / np.sqrt(n_rows) if n_rows > 1 else np.zeros(ranks.shape[1])
    means = zip(ranks.mean(0).tolist(), errors.tolist(), strict=True)
    return dict(zip(curves, means, strict=True))


def wilcoxon(a: Curves, b: Curves, metric: Metric = "rmse") -> float:
    """p-value of the paired signed-rank test that two have the same areas, row by row.

    Two-sided (Wilcoxon 1945). Rows on which they agree say nothing; 1 where they agree on all.
    """
    areas = _areas({"a": a, "b": b}, metric)
    return signed_rank(areas["a"] - areas["b"])


def signed_rank(differences: Numbers) -> float:
    """p-value of Wilcoxon's signed-rank test that paired differences lie around nothing [rows]."""
    differing = differences[differences != 0]
    return float(stats.wilcoxon(differing).pvalue) if len(differing) else 1.0


def _areas(curves: Mapping[str, Curves], metric: Metric) -> dict[str, Numbers]:
    """Each one's areas over the rows whose target is known, all to the same number of steps [rows]."""
    if not curves:
        raise EvaluationError("there is nothing to compare. Give at least one simulation.")
    first_name, first = next(iter(curves.items()))
    for name, each in curves.items():
        same = each.target == first.target and np.array_equal(each.truth, first.truth, equal_nan=True)
        if not same:
            raise EvaluationError(
                f"{first_name!r} and {name!r} were not simulated on the same rows and target, so they "
                "cannot be compared row by row. Simulate both on one table."
            )
    n_steps = max(each.n_steps for each in curves.values())
    return {
        name: _longer(each.row_values(metric)[each.known], n_steps).mean(1)
        for name, each in curves.items()
    }


def _longer(values: Numbers, n_steps: int) -> Numbers:
    """Values [..., steps + 1] continued to ``n_steps``.

    Whoever stopped early keeps its last prediction, so that all areas are over the same steps.
    """
    more = n_steps + 1 - values.shape[-1]
    return np.concatenate([values, np.repeat(values[..., -1:], more, axis=-1)], axis=-1)
