"""Report on the UCI runs next to the paper: ranks, tests, LASSO, areas, curves, decisions, time."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper import authors_code
from eddi_benchmarks.paper.comparison import (
    COMPARED_STRATEGIES,
    ENCODERS,
    STRATEGIES,
    Combination,
    PairedTest,
    RowAreas,
    combination_name,
)
from eddi_benchmarks.paper.comparison_tables import (
    rank_table,
    reference_test_table,
    strategy_test_table,
)
from eddi_benchmarks.paper.curve_figures import plot_by_dataset, plot_by_encoder
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import SIGNIFICANT, Numbers, format_mean, format_p

T = TypeVar("T")

METRIC = "draw_rmse"
"""The metric of the paper's ranks, tests and curves: RMSE, which its code takes over posterior draws."""
METRICS = (METRIC, "rmse", "nll")
METRIC_NAMES = {
    "draw_rmse": "RMSE of draws",
    "rmse": "RMSE of the mean prediction",
    "nll": "negative log-likelihood",
}
PAPERS_BEST = ("eddi", "pnp")
ALL_STRATEGIES = (*COMPARED_STRATEGIES, "lasso")
TIMED_PARTS = {
    "fit": "training",
    "eddi": "EDDI",
    "learn_sing": "learning the single best order",
    "sing": "single best",
    "rand": "Random",
    "learn_lasso": "LASSO regression",
    "lasso": "LASSO",
}


def _by_combination(by_strategy: Mapping[str, Sequence[T]]) -> dict[Combination, T]:
    return {
        (strategy, encoder): value
        for strategy, values in by_strategy.items()
        for encoder, value in zip(ENCODERS, values, strict=True)
    }


PAPER_RANKS: Mapping[Combination, float] = _by_combination(
    {
        "eddi": (5.72, 5.54, 5.08, 5.25),
        "rand": (8.03, 8.10, 7.77, 7.79),
        "sing": (8.68, 5.50, 5.20, 5.28),
    }
)
"""The paper's table "Average ranking of AUIC over 6 UCI datasets"."""
PAPER_P_VALUES = _by_combination(
    {
        "eddi": ("< 1e-48", "< 1e-23", "-", "< 1e-2"),
        "rand": ("0", "0", "0", "0"),
        "sing": ("0", "< 1e-13", "< 1e-2", "< 1e-4"),
    }
)
"""Its appendix's "p-values of Wilcoxon signed-rank test of EDDI-PNP vs. 11 other settings"."""
PAPER_LASSO_RANKS: Mapping[Combination, float] = _by_combination(
    {"eddi": (4.66, 4.53, 4.14, 4.24), "lasso": (4.86, 4.63, 4.41, 4.48)}
)
PAPER_LASSO_P_VALUES = dict(zip(ENCODERS, ("< 1e-4", "< 1e-6", "< 1e-24", "< 1e-19"), strict=True))
"""Its appendix's table of EDDI and LASSO."""


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Everything the paper shows for UCI, from the runs that are finished."""
    if not results:
        return []
    sections = [
        _rank_section(results),
        _test_section(results),
        _lasso_section(results),
        _area_section(results),
        _curve_section(results, folder),
        _decision_section(results, folder),
        _time_section(results),
    ]
    return [section for section in sections if section is not None]


def _rank_section(results: Sequence[RunResult]) -> Section:
    title = f"Average rank of AUIC ({METRIC_NAMES[METRIC]})"
    tables = [rank_table(results, METRIC, paper=PAPER_RANKS, title=title)]
    for metric in METRICS[1:]:
        title = f"Average rank of AUIC ({METRIC_NAMES[metric]}), which the paper does not report"
        tables.append(rank_table(results, metric, paper=dict.fromkeys(PAPER_RANKS), title=title))
    paragraphs = (_describe_runs(results), conclusion(results))
    title = "UCI: average rank of the area under the information curve"
    return Section(title, paragraphs, tuple(tables))


def _describe_runs(results: Sequence[RunResult]) -> str:
    settings = results[0].settings
    keys = ("dataset", "set_encoder", "seed")
    n_datasets, n_encoders, n_seeds = (len({result.settings[key] for result in results}) for key in keys)
    changes = authors_code.changed_options(settings)
    listed = ", ".join(f"{name} = {value}" for name, value in changes.items())
    source = f"the published code's {listed}" if changes else "the paper's settings"
    return (
        f"{len(results)} finished runs (datasets: {n_datasets}, set encoders: {n_encoders}, "
        f"repetitions: {n_seeds}) with {source}: {settings['max_steps']:,} training steps, "
        f"{settings['n_draws']} draws, and another random tenth of the rows held out in each "
        "repetition. Unlike in the paper's code, scaling is learned from training rows only. All errors "
        "are in units of the target's range in the training rows."
    )


def conclusion(results: Sequence[RunResult]) -> str:
    """Whether the paper's claims hold in these results."""
    areas = RowAreas.from_results(results, METRIC, list(PAPER_RANKS))
    if not areas.by_split:
        return "No split is finished for all four encoders yet, so nothing can be ranked."
    single_best = "the single best order, which is learned on the test rows"
    return " ".join(
        [
            _describe_first(areas),
            _describe_tests(areas, "rand", "Random"),
            _describe_tests(areas, "sing", single_best),
        ]
    )


def _describe_first(areas: RowAreas) -> str:
    rank = dict(zip(areas.combinations, areas.mean_ranks.mean(0).tolist(), strict=True))
    order = sorted(rank, key=lambda combination: rank[combination])
    ours, first = combination_name(PAPERS_BEST), combination_name(order[0])
    paper = f"in the paper: first with {PAPER_RANKS[PAPERS_BEST]:.2f}"
    if order[0] == PAPERS_BEST:
        return (
            f"{ours} has the best average rank of the twelve, {rank[PAPERS_BEST]:.2f} ({paper}); "
            f"{combination_name(order[1])} follows with {rank[order[1]]:.2f}."
        )
    test = PairedTest.from_areas(areas, PAPERS_BEST, order[0])
    return (
        f"{ours} does not have the best average rank of the twelve: it is number "
        f"{order.index(PAPERS_BEST) + 1} with {rank[PAPERS_BEST]:.2f} ({paper}). {first} is first with "
        f"{rank[order[0]]:.2f} (p = {format_p(test.p_rows)} over rows, {format_p(test.p_splits)} over "
        "splits)."
    )


def _describe_tests(areas: RowAreas, strategy: str, name: str) -> str:
    """How EDDI compares with another strategy, by encoder."""
    tests = {e: PairedTest.from_areas(areas, ("eddi", e), (strategy, e)) for e in ENCODERS}
    outcomes = [
        f"{_describe_outcome(test)} with {ENCODERS[encoder]} ({test.mean_saving:+.4f}, "
        f"p = {format_p(test.p_rows)})"
        for encoder, test in tests.items()
    ]
    return f"Compared with {name}, EDDI is {', '.join(outcomes)}."


def _describe_outcome(test: PairedTest) -> str:
    if test.p_rows >= SIGNIFICANT:
        return "neither better nor worse"
    return "better" if test.mean_saving > 0 else "worse"


def _test_section(results: Sequence[RunResult]) -> Section:
    title = f"Wilcoxon tests of {combination_name(PAPERS_BEST)} ({METRIC_NAMES[METRIC]})"
    tables = [reference_test_table(results, METRIC, paper=PAPER_P_VALUES, title=title)]
    for metric in METRICS[1:]:
        title = f"Wilcoxon tests of {combination_name(PAPERS_BEST)} ({METRIC_NAMES[metric]})"
        tables.append(reference_test_table(results, metric, title=title))
    return Section("UCI: is the difference significant?", (), tuple(tables))


def _lasso_section(results: Sequence[RunResult]) -> Section:
    text = (
        "LASSO selects variables by a regression on complete training rows, asks them in random order, "
        "and stops; predictions come from the same Partial VAE."
    )
    rank_comparison = rank_table(
        results, METRIC, paper=PAPER_LASSO_RANKS, title="Average rank of eight: EDDI and LASSO"
    )
    tests = strategy_test_table(
        results,
        METRIC,
        strategies=("eddi", "lasso"),
        paper=PAPER_LASSO_P_VALUES,
        title="EDDI against LASSO, by encoder",
    )
    return Section("UCI: the LASSO baseline", (text,), (rank_comparison, tests))


def _area_section(results: Sequence[RunResult]) -> Section:
    tables = tuple(_area_table(results, metric) for metric in METRICS)
    return Section("UCI: area under the information curve by dataset", (), tables)


def _area_table(results: Sequence[RunResult], metric: str) -> ReportTable:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for dataset, of_dataset in _group_by_dataset(results).items():
        areas = {
            (strategy, encoder): _areas(of_dataset, strategy, encoder, metric)  # [seeds]
            for strategy in ALL_STRATEGIES
            for encoder in ENCODERS
        }
        means = {pair: float(values.mean()) for pair, values in areas.items() if len(values)}
        smallest = min(means.values())
        for strategy in ALL_STRATEGIES:
            pairs = [(strategy, encoder) for encoder in ENCODERS]
            best |= {(len(rows), 2 + k) for k, pair in enumerate(pairs) if means.get(pair) == smallest}
            label = dataset if strategy == ALL_STRATEGIES[0] else ""
            cells = (format_mean(areas[pair], 3) for pair in pairs)
            rows.append((label, STRATEGIES[strategy], *cells))
    note = (
        "Mean of the curve over all steps, including step 0; ± is the standard error over repetitions."
    )
    columns = ("", "", *ENCODERS.values())
    return ReportTable(f"AUIC ({METRIC_NAMES[metric]})", columns, tuple(rows), note, frozenset(best))


def _areas(results: Sequence[RunResult], strategy: str, encoder: str, metric: str) -> Numbers:
    curves = [
        result.measurements["strategies"][strategy]["curves"][metric]
        for result in results
        if result.settings["set_encoder"] == encoder
    ]
    return np.array([np.mean(curve) for curve in curves], dtype=np.float64)


def _group_by_dataset(results: Sequence[RunResult]) -> dict[str, list[RunResult]]:
    groups: dict[str, list[RunResult]] = {}
    for result in results:
        groups.setdefault(str(result.settings["dataset"]), []).append(result)
    return groups


def _curve_section(results: Sequence[RunResult], folder: Path) -> Section:
    figures = []
    if any(result.settings["set_encoder"] == "pnp" for result in results):
        figures += [
            plot_by_dataset(results, metric, folder / f"curves-pnp-{metric}.png") for metric in METRICS
        ]
        path = folder / f"curves-lasso-{METRIC}.png"
        figures.append(plot_by_dataset(results, METRIC, path, strategies=("eddi", "lasso")))
    for dataset in _group_by_dataset(results):
        for metric in (METRIC, "nll"):
            path = folder / f"curves-{dataset}-{metric}.png"
            figures.append(plot_by_encoder(results, metric, path, dataset=dataset))
    return Section("UCI: information curves", (), (), tuple(figures))


def _decision_section(results: Sequence[RunResult], folder: Path) -> Section | None:
    figures = []
    for result in results:
        for file, caption in result.measurements.get("pictures", {}).items():
            if result.folder is not None and (result.folder / file).is_file():
                path = folder / f"decisions-{file}"
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(result.folder / file, path)
                figures.append(Figure(path, caption))
    if not figures:
        return None
    return Section("UCI: the decision process on Boston housing", (), (), tuple(figures))


def _time_section(results: Sequence[RunResult]) -> Section:
    rows = []
    for dataset, of_dataset in _group_by_dataset(results).items():
        measurements = [result.measurements for result in of_dataset]
        means = {part: np.mean([m["seconds"][part] for m in measurements]) for part in TIMED_PARTS}
        total = np.mean([result.provenance.get("seconds", np.nan) for result in of_dataset])
        n_rows = measurements[0]["n_rows"]["test"]
        n_steps = len(measurements[0]["strategies"]["eddi"]["curves"][METRIC]) - 1
        ms_per_question = 1e3 * means["eddi"] / (n_rows * n_steps)
        cells = (f"{seconds:.2f}" for seconds in [*means.values(), total, ms_per_question])
        rows.append((dataset, f"{n_rows}", f"{n_steps}", *cells))
    total_minutes = sum(result.provenance.get("seconds", 0.0) for result in results) / 60
    columns = (
        *("", "test rows", "questions", *TIMED_PARTS.values()),
        *("whole run", "EDDI, ms per question"),
    )
    note = "Means over runs in seconds, one core each; other programs ran at the same time."
    text = f"All {len(results)} runs took {total_minutes:.1f} minutes on one core in total."
    table = ReportTable("Seconds per run", columns, tuple(rows), note)
    return Section("UCI: time", (text,), (table,))
