"""Report on the decisions suite: areas, tests, likelihood, coverage, time and curves."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi_benchmarks.data.datasets import UCI
from eddi_benchmarks.decisions.figures import plot_costs, plot_dataset
from eddi_benchmarks.decisions.fixed_order_baseline import LEARNERS
from eddi_benchmarks.decisions.results import EXACT_METHODS, METHODS, DecisionResults
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.statistics import (
    NOT_AVAILABLE,
    SIGNIFICANT,
    Numbers,
    format_mean,
    format_p,
    paired_t_test,
)

AUTHORS_AUIC = {
    "gdfs": dict(zip(UCI, (0.102, 0.100, 0.060, 0.122, 0.120, 0.047), strict=True)),
    "dime": dict(zip(UCI, (0.102, 0.108, 0.072, 0.124, 0.121, 0.047), strict=True)),
}
"""AUIC of the authors' own code, tuned, on seeds 0-2 of the same splits."""
FIXED_ORDER_MODELS = tuple(LEARNERS)  # a decision takes no time
TRAINED_MODELS = ("ours", "paper", "gdfs", "dime", *FIXED_ORDER_MODELS)
GROUPS_PARAGRAPH = (
    "Rows that describe the same thing are on the same side of each split: mixtures of concrete that were "
    "measured at several ages, and wines that are listed several times. Test rows are therefore new mixtures "
    "and new wines. With rows split at random, as in the decisions suite, a model can recognise many of them."
)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Report on the runs that are finished, first real-valued targets and then classes."""
    selected = [DecisionResults.select(results, is_class=is_class) for is_class in (False, True)]
    parts = [part for part in selected if part.results]
    if not parts:
        return []
    calibration = (
        *map(_likelihood_table, parts),
        *(_coverage_table(p) for p in parts if not p.is_class),
    )
    return [
        Section(
            "Prediction with few questions", _describe_runs(results), tuple(map(_area_table, parts))
        ),
        Section("Is the difference significant?", (), tuple(map(_test_table, parts))),
        Section("Likelihood and calibration", (), calibration),
        Section("Time", (), tuple(map(_time_table, parts))),
        _curve_section(parts, folder),
    ]


def _describe_runs(results: Sequence[RunResult]) -> tuple[str, ...]:
    n_seeds = len({result.settings["seed"] for result in results})
    has_groups = any(result.settings.get("keep_groups") for result in results)
    return (
        *((GROUPS_PARAGRAPH,) if has_groups else ()),
        f"{len(results)} finished runs, {n_seeds} splits per dataset. Real-valued targets: a tenth of "
        "the rows is held out, the target is in units of its range in the training rows, and the "
        "curve starts before the first question. Classes: a fifth is held out, stratified, and the "
        "mean is over the steps after the first question. All methods have the same training rows and "
        "take their validation rows from them; none was tuned on held-out rows.",
        "No method asks a row a question that it has no answer to, and a row without open questions "
        "keeps its last prediction. GDFS (Covert et al. 2023) and DIME (Gadgil et al. 2024) are our "
        "implementations from their papers; missing values are replaced by the mean and masked. Their "
        "predictive distributions of real-valued targets have the standard deviation of their errors "
        "on validation rows. In every run, validation rows choose the dropout rate (0, 0.1, 0.3 or 0.5) "
        "and the length of each stage of training.",
        "`Boosted trees` (scikit-learn's histogram gradient boosting), `extra trees` (extremely "
        "randomised trees) and `linear` (ridge or logistic regression on standardised columns; missing "
        "values imputed) ask one fixed order, which is chosen greedily by the held-out loss on training "
        "rows. A model is fitted to each prefix of the order, with hyperparameters chosen by the held-out "
        "loss.",
        "`Fixed order` and `random order` use our model; the fixed order is learned on training rows. "
        "`Exact` applies Bayes' rule to the mixture that an artificial table was drawn from; it asks "
        "greedily, or looks one answer ahead.",
    )


def _area_table(results: DecisionResults) -> ReportTable:
    """A row per dataset and a column per method, with the authors' results next to GDFS and DIME."""
    columns: dict[str, list[str]] = {}
    best: set[tuple[int, int]] = set()
    best_methods = [results.best_methods(dataset) for dataset in results.datasets]
    has_authors = not (results.is_class or results.has_groups)
    for name in results.methods_without_cost:
        best |= {(row, 1 + len(columns)) for row, methods in enumerate(best_methods) if name in methods}
        columns[METHODS[name]] = [_format_areas(results, d, name) for d in results.datasets]
        if name in AUTHORS_AUIC and has_authors:
            auic = AUTHORS_AUIC[name]
            columns[f"{METHODS[name]}, authors' code"] = [
                f"{auic[d]:.3f}" if d in auic else NOT_AVAILABLE for d in results.datasets
            ]
    note = (
        "Mean and standard error over splits; the best in bold (except for exact inference, which knows "
        f"the true distribution). {'Higher' if results.is_class else 'Lower'} is better."
    )
    if has_authors:
        note += " The results of the authors' code are means over splits 0 to 2."
    title = "Classes: mean accuracy" if results.is_class else "Real-valued targets: AUIC, the mean RMSE"
    return _dataset_table(title, results, columns, note, best=best)


def _format_areas(results: DecisionResults, dataset: str, method: str, metric: str | None = None) -> str:
    return format_mean(list(results.areas(dataset, method, metric).values()), 3)


def _test_table(results: DecisionResults) -> ReportTable:
    columns: dict[str, list[str]] = {}
    best: set[tuple[int, int]] = set()
    others = [n for n in results.methods_without_cost if n not in ("ours", *EXACT_METHODS)]
    for other in others:
        cells = []
        for row, dataset in enumerate(results.datasets):
            gains = results.gains(dataset, "ours", other)
            p = paired_t_test(gains)
            if p is not None and p < SIGNIFICANT and gains.mean() > 0:
                best.add((row, 1 + len(columns)))
            cells.append(f"{gains.mean():+.4f} ({format_p(p)})" if len(gains) else NOT_AVAILABLE)
        p, n_wins, n_datasets = results.compare("ours", other)
        cells.append(f"{n_wins} of {n_datasets} ({format_p(p)})")
        columns[f"against {METHODS[other]}"] = cells
    note = (
        "Mean gain of ours (positive is better) and the p-value of a paired two-sided t-test over the "
        "splits of a dataset; bold where ours is better with p < 0.05. Last row: the number of "
        "datasets on which ours is better on average, and the signed-rank test over all datasets and "
        "splits."
    )
    metric = "accuracy" if results.is_class else "AUIC"
    title = f"Gain in {metric}"
    return _dataset_table(title, results, columns, note, best=best, last_row="all datasets")


def _likelihood_table(results: DecisionResults) -> ReportTable:
    columns = {
        METHODS[name]: [_format_areas(results, d, name, "nll") for d in results.datasets]
        for name in results.methods_without_cost
    }
    kind = "classes" if results.is_class else "real-valued targets, in units of their range"
    note = "Nats, averaged over the same steps; lower is better."
    return _dataset_table(f"Negative log-likelihood: {kind}", results, columns, note)


def _coverage_table(results: DecisionResults) -> ReportTable:
    """How often the 90% interval contains the true value: minimum and maximum over steps."""
    columns = {
        METHODS[name]: [_format_range(results.curves(d, name, "coverage")) for d in results.datasets]
        for name in results.methods_without_cost
    }
    note = "Minimum and maximum over the number of answers, of the mean over splits; nominal: 0.90."
    return _dataset_table("Coverage of 90% intervals", results, columns, note)


def _format_range(curves: Numbers) -> str:
    if not len(curves):
        return NOT_AVAILABLE
    mean = curves.mean(0)
    return f"{mean.min():.2f} to {mean.max():.2f}"


def _time_table(results: DecisionResults) -> ReportTable:
    n_questions = (results.of_dataset(d)[0].measurements["n_questions"] for d in results.datasets)
    columns = {"questions": [str(n) for n in n_questions]}
    for model in TRAINED_MODELS:
        training, decision = [], []
        for dataset in results.datasets:
            runs = _timed_runs(results, dataset, model)
            seconds = [run["seconds"] for run in runs]
            training.append(f"{np.mean(seconds):.1f}" if runs else NOT_AVAILABLE)
            milliseconds = [ms for run in runs if (ms := run["methods"][model].get("ms")) is not None]
            decision.append(f"{np.median(milliseconds):.2f}" if milliseconds else NOT_AVAILABLE)
        columns[f"{METHODS[model]}: training, s"] = training
        if model not in FIXED_ORDER_MODELS:
            columns[f"{METHODS[model]}: decision, ms"] = decision
    note = (
        "On one core, without runs on a GPU. Training: mean over splits. Decision: for one row with "
        "half of its answers, median."
    )
    kind = "classes" if results.is_class else "real-valued targets"
    return _dataset_table(f"Training and decision time: {kind}", results, columns, note)


def _timed_runs(results: DecisionResults, dataset: str, model: str) -> list[dict[str, Any]]:
    return [
        result.measurements
        for result in results.of_dataset(dataset)
        if result.settings["model"] == model and result.provenance.get("device", "cpu") == "cpu"
    ]


def _dataset_table(
    title: str,
    results: DecisionResults,
    columns: dict[str, list[str]],
    note: str,
    *,
    best: Iterable[tuple[int, int]] = (),
    last_row: str = "",
) -> ReportTable:
    """A table with a row for each dataset, and possibly one more."""
    labels = [*results.datasets, last_row] if last_row else results.datasets
    rows = zip(labels, *columns.values(), strict=True)
    return ReportTable(title, ("", *columns), tuple(rows), note, frozenset(best))


def _curve_section(parts: Sequence[DecisionResults], folder: Path) -> Section:
    figures = []
    for results in parts:
        for dataset in results.datasets:
            figures.append(plot_dataset(results, dataset, folder / f"decisions-{dataset}.png"))
            cost_figure = plot_costs(results, dataset, folder / f"decisions-{dataset}-cost.png")
            figures += [cost_figure] if cost_figure else []
    return Section("Curves", (), (), tuple(figures))
