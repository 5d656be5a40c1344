"""A report on simulated interviews: metrics that suit the target, next to a random and a fixed order."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eddi.evaluate.bootstrap import Difference, area_difference
from eddi.evaluate.curves import Curves, Metric, Numbers, pad_steps
from eddi.evaluate.streaming_curves import StreamingCurves

BASELINES = ("random", "fixed")
"""The strategies with which every simulation is compared."""

METRIC_NAMES = {
    "rmse": "RMSE",
    "accuracy": "accuracy",
    "auroc": "AUROC",
    "brier": "Brier score",
    "concordance": "concordance",
    "integrated_brier": "integrated Brier score",
}

AnyCurves = Curves | StreamingCurves


@dataclass(frozen=True)
class Comparison:
    """The result of one strategy, compared with that of the first strategy.

    Args:
        name: the strategy.
        metrics: the metrics after the last question, by name.
        area: the AUIC, the mean of the main metric over all steps; lower is better.
        difference: the area of the first strategy minus this one; None for the first strategy itself, and
            for streamed tables, whose rows are not kept.
    """

    name: str
    metrics: Mapping[str, float]
    area: float
    difference: Difference | None


def main_metric(curves: AnyCurves) -> Metric:
    """The metric whose area is compared: the Brier score of classes, the RMSE of a quantity.

    The RMSE of a survival target is the root of its integrated Brier score.
    """
    return "rmse" if curves.accuracy is None else "brier"


def list_metrics(curves: AnyCurves) -> dict[str, Numbers]:
    """The metrics that suit the target [steps + 1]; `METRIC_NAMES` has their displayed names."""
    if isinstance(curves, Curves) and curves.survival_metrics is not None:
        metrics = curves.survival_metrics
        return {"concordance": metrics.harrell, "integrated_brier": metrics.integrated_brier}
    if curves.accuracy is None:
        return {"rmse": curves.rmse}
    by_class = {"accuracy": curves.accuracy, "brier": curves.metric("brier")}
    if isinstance(curves, Curves) and curves.auroc is not None:
        return {"auroc": curves.auroc} | by_class
    return by_class


def majority_rate(curves: AnyCurves) -> float | None:
    """The accuracy of always guessing the most frequent class; None for quantities and streamed tables."""
    if not isinstance(curves, Curves) or curves.accuracy is None:
        return None
    counts = np.unique(curves.truth[curves.known], return_counts=True)[1]
    return float(counts.max() / counts.sum())


def compare_with_baselines(simulated: Mapping[str, AnyCurves]) -> list[Comparison]:
    """Compare the first simulation with the others, which must be of the same rows and target."""
    n_steps = max(curves.n_steps for curves in simulated.values())
    first = next(iter(simulated.values()))
    metric = main_metric(first)
    results = []
    for name, curves in simulated.items():
        difference = None
        if curves is not first and isinstance(first, Curves) and isinstance(curves, Curves):
            difference = area_difference(first.pad(n_steps), curves.pad(n_steps), metric)
        last = {key: float(values[-1]) for key, values in list_metrics(curves).items()}
        results.append(
            Comparison(name, last, float(pad_steps(curves.metric(metric), n_steps).mean()), difference)
        )
    return results


def report_document(simulated: Mapping[str, AnyCurves]) -> dict[str, Any]:
    """The fields of the first simulation, and its comparison with the others, as plain JSON."""
    (name, first), *others = simulated.items()
    return {
        **first.to_document(),
        "strategy": name,
        "majority_rate": majority_rate(first),
        "baselines": {
            other: {key: values.tolist() for key, values in list_metrics(curves).items()}
            for other, curves in others
        },
        "comparison": [asdict(result) for result in compare_with_baselines(simulated)],
    }
