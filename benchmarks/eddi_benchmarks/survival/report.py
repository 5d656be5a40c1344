"""Report on the survival suite: ranks with everything known, and areas under concordance curves."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.statistics import NOT_AVAILABLE, format_mean

OURS = "ours"
METHODS = {
    OURS: "ours",
    "cox": "penalised Cox",
    "forest": "random survival forest",
    "boosting": "gradient boosting",
}
METRICS = {
    "harrell": "Harrell's concordance",
    "uno": "Uno's concordance",
    "integrated_brier": "integrated Brier score",
    "calibration_error": "calibration error at horizons",
}
LOWER_IS_BETTER = ("integrated_brier", "calibration_error")
ORDERS = (
    "ours",
    "random order",
    "Cox order, our predictions",
    "Cox, forward selection",
    "Cox, best static set",
)
PARAGRAPHS = (
    "Every dataset is split at random; all methods have the same training and test rows. Peers are those of "
    "scikit-survival: Cox regression with a ridge penalty, a random survival forest, and gradient boosting. "
    "Their settings are chosen by cross-validation of the training rows: the penalty; the size of leaves and "
    "the share of covariates; the depth and number of trees. They get missing numbers as medians and "
    "categories as indicators. Ours has the default settings.",
    "The integrated Brier score and Uno's concordance use weights for censoring, up to the time at which a "
    "tenth of the test rows is not censored. Calibration is the mean distance between predicted and "
    "Kaplan-Meier risk in fifths of the test rows, at that time and at half of it.",
)
INTERVIEWS = (
    "The area is the mean of Harrell's concordance over the steps of an interview, from before the first "
    "question (0.5) to the last. Ours asks each person the question with the most information about the "
    "time. Forward selection with Cox regression asks everybody in the same order; the best static set of "
    "each size comes from a beam search. Both predict with a regression of exactly these covariates.",
)

Scores = dict[tuple[str, int], dict[str, dict[str, float]]]


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:  # noqa: ARG001
    """The tables, from the runs that are finished."""
    if not results:
        return []
    scores = _collect(results)
    known = tuple(_metric_table(scores, metric) for metric in METRICS)
    tables = (_rank_table(scores), *_comparison_table(scores), *known)
    sections = [Section("Everything known", PARAGRAPHS, tables)]
    if areas := _collect_areas(results):
        sections.append(Section("Whole interviews", INTERVIEWS, (_area_table(areas),)))
    return sections


def _collect(results: Sequence[RunResult]) -> Scores:
    """Measurements by dataset and split, then by method, of cells in which all methods are finished."""
    cells: Scores = {}
    for result in results:
        settings = result.settings
        if settings["method"] in METHODS:
            cell = cells.setdefault((settings["dataset"], settings["seed"]), {})
            cell[settings["method"]] = result.measurements
    n_methods = max((len(cell) for cell in cells.values()), default=0)
    return {key: cell for key, cell in cells.items() if len(cell) == n_methods}


def _methods(scores: Scores) -> list[str]:
    present = {name for cell in scores.values() for name in cell}
    return [name for name in METHODS if name in present]


def _rank_table(scores: Scores) -> ReportTable:
    methods = _methods(scores)
    columns: list[list[float]] = []
    for metric in METRICS:
        sign = 1 if metric in LOWER_IS_BETTER else -1
        ranks = [rankdata([sign * cell[name][metric] for name in methods]) for cell in scores.values()]
        columns.append(np.mean(ranks, axis=0).tolist())
    rows = [
        (METHODS[name], *(f"{column[place]:.2f}" for column in columns))
        for place, name in enumerate(methods)
    ]
    best = {(int(np.argmin(column)), 1 + k) for k, column in enumerate(columns)}
    note = f"Mean over {len(scores)} dataset splits; 1 is best. The best method is in bold."
    return ReportTable("Average rank", ("method", *METRICS.values()), tuple(rows), note, frozenset(best))


def _comparison_table(scores: Scores) -> tuple[ReportTable, ...]:
    """How often ours is better than each peer; a tie counts half. Empty without peers."""
    peers = [name for name in _methods(scores) if name != OURS]
    if not peers or OURS not in _methods(scores):
        return ()
    rows = []
    for peer in peers:
        shares = [np.mean([_gain(cell, peer, metric) for cell in scores.values()]) for metric in METRICS]
        rows.append((METHODS[peer], *(f"{share * len(scores):g}" for share in shares)))
    title, note = (
        "Splits in which ours is better",
        f"Of {len(scores)} dataset splits; a tie counts half.",
    )
    return (ReportTable(title, ("peer", *METRICS.values()), tuple(rows), note),)


def _gain(cell: dict[str, dict[str, float]], peer: str, metric: str) -> float:
    """1 if ours is better than a peer in one split, 0 if it is worse, else a half."""
    difference = cell[OURS][metric] - cell[peer][metric]
    sign = -1 if metric in LOWER_IS_BETTER else 1
    return float(0.5 + 0.5 * np.sign(sign * difference))


def _metric_table(scores: Scores, metric: str) -> ReportTable:
    methods = _methods(scores)
    rows, best = [], set()
    for row, dataset in enumerate(dict.fromkeys(dataset for dataset, _ in scores)):
        own = [cell for (name, _), cell in scores.items() if name == dataset]
        values = [[cell[method][metric] for cell in own] for method in methods]
        means = np.array([np.mean(v) for v in values])
        best.add((row, 1 + int(means.argmin() if metric in LOWER_IS_BETTER else means.argmax())))
        rows.append((dataset, *(format_mean(v, 3) for v in values)))
    columns = ("dataset", *(METHODS[name] for name in methods))
    note = "Mean and standard error over splits."
    return ReportTable(METRICS[metric].capitalize(), columns, tuple(rows), note, frozenset(best))


def _collect_areas(results: Sequence[RunResult]) -> dict[str, dict[str, list[float]]]:
    """Areas under the concordance curve by dataset and order."""
    areas: dict[str, dict[str, list[float]]] = {}
    for result in results:
        for name, curves in result.measurements.get("interviews", {}).items():
            by_order = areas.setdefault(result.settings["dataset"], {})
            by_order.setdefault(name, []).append(float(np.mean(curves["concordance"])))
    return areas


def _area_table(areas: dict[str, dict[str, list[float]]]) -> ReportTable:
    rows, best = [], set()
    for row, (dataset, by_order) in enumerate(areas.items()):
        means = [float(np.mean(by_order[name])) if name in by_order else -1.0 for name in ORDERS]
        best.add((row, 1 + int(np.argmax(means))))
        texts = [
            format_mean(by_order[name], 3) if name in by_order else NOT_AVAILABLE for name in ORDERS
        ]
        rows.append((dataset, *texts))
    note = "Mean and standard error over splits; the best order is in bold."
    title = "Area under the concordance curve"
    return ReportTable(title, ("dataset", *ORDERS), tuple(rows), note, frozenset(best))
