"""The report on deployments without data: errors against cumulative cost, and paired tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, SMALL
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import (
    NOT_AVAILABLE,
    Numbers,
    format_mean,
    format_p,
    paired_t_test,
    signed_rank_test,
)

OURS, ORACLE = "ours", "oracle"
APPROACHES = {
    "ours": "ours: beliefs, exploration, learning",
    "all-50": "ask everything of the first 50, then train once",
    "all-100": "ask everything of the first 100, then train once",
    "greedy": "learning without exploration",
    "oracle": "trained on the full table",
}
N_COSTS = 41  # points of the grid of cumulative costs
N_SHARES = 8  # of them in a table
MAX_EXCESS = 0.1  # of our error over that of the full table
PARAGRAPHS = (
    "Respondents arrive in random order at a questionnaire without data. The schema states kinds, levels and "
    "ranges, and no relations. An interview asks four questions; many early ones are random. The target of "
    "each respondent becomes known afterwards. The error is that of held-out rows, interviewed without "
    "exploration with the model of that moment: mean squared error in units of the variance of the target, "
    "or the Brier score of classes.",
)


@dataclass(frozen=True)
class DeploymentCurve:
    """The error of one deployment after each model, against the cumulative cost."""

    dataset: str
    approach: str
    seed: int
    costs: Numbers  # before each model's first respondent [models]
    errors: Numbers  # on the test rows [models]
    respondent_costs: Numbers  # [respondents]
    respondent_errors: Numbers  # at the end of each interview [respondents]

    @classmethod
    def from_result(cls, result: RunResult) -> "DeploymentCurve":
        """The curve of a finished run."""
        settings, measured = result.settings, result.measurements
        return cls(
            str(settings["dataset"]),
            str(settings["approach"]),
            int(settings["seed"]),
            np.array([checkpoint["cost"] for checkpoint in measured["checkpoints"]]),
            np.array([checkpoint["error"] for checkpoint in measured["checkpoints"]]),
            np.array(measured["costs"]),
            np.array(measured["errors"]),
        )

    def error_at(self, costs: Numbers) -> Numbers:
        """The error of the model in use at each cumulative cost."""
        places = np.searchsorted(self.costs, costs, side="right") - 1
        return np.asarray(self.errors[np.maximum(places, 0)])

    @property
    def final_error(self) -> float:
        return float(self.errors[-1])

    @property
    def total_cost(self) -> float:
        return float(self.respondent_costs.sum())


@dataclass(frozen=True)
class Deployments:
    """All curves, by dataset, approach and seed."""

    curves: dict[tuple[str, str, int], DeploymentCurve]

    @classmethod
    def from_results(cls, results: Sequence[RunResult]) -> "Deployments":
        curves = map(DeploymentCurve.from_result, results)
        return cls({(curve.dataset, curve.approach, curve.seed): curve for curve in curves})

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(dataset for dataset, _, _ in self.curves))

    @property
    def approaches(self) -> list[str]:
        present = {approach for _, approach, _ in self.curves}
        return [approach for approach in APPROACHES if approach in present]

    def of(self, dataset: str, approach: str) -> list[DeploymentCurve]:
        """The curves of one approach, by seed."""
        keys = sorted(key for key in self.curves if key[:2] == (dataset, approach))
        return [self.curves[key] for key in keys]

    def pairs(self, dataset: str, other: str) -> list[tuple[DeploymentCurve, DeploymentCurve]]:
        """Our curve and another one with the same seed."""
        own = {curve.seed: curve for curve in self.of(dataset, OURS)}
        return [(own[curve.seed], curve) for curve in self.of(dataset, other) if curve.seed in own]

    def ratios(self, dataset: str, other: str) -> Numbers:
        """Our error relative to another one's, by seed and cumulative cost [seeds, costs]."""
        ratios = []
        for own, curve in self.pairs(dataset, other):
            costs = cost_grid(own, curve)
            ratios.append(own.error_at(costs) / curve.error_at(costs))
        return np.array(ratios).reshape(-1, N_COSTS)


def cost_grid(first: DeploymentCurve, second: DeploymentCurve) -> Numbers:
    """Cumulative costs that both deployments reach."""
    return np.linspace(0, min(first.total_cost, second.total_cost), N_COSTS)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Report on the runs that are finished."""
    if not results:
        return []
    deployments = Deployments.from_results(results)
    tables = (
        _criteria_table(deployments),
        _final_table(deployments),
        _comparison_table(deployments),
        _cost_table(deployments),
        _cumulative_table(deployments),
    )
    figure = _plot(deployments, folder)
    return [Section("Deployments without data", PARAGRAPHS, tables, (figure,))]


def _criteria_table(deployments: Deployments) -> ReportTable:
    """Whether our approach is close to the full table, and better than the others at every cost."""
    others = [name for name in deployments.approaches if name not in (OURS, ORACLE)]
    rows = []
    for dataset in deployments.datasets:
        excess = [
            own.final_error / other.final_error for own, other in deployments.pairs(dataset, ORACLE)
        ]
        cells = [_answer(bool(excess) and float(np.mean(excess)) <= 1 + MAX_EXCESS)]
        for other in others:
            means = np.log(deployments.ratios(dataset, other)).mean(0)[1:]  # without the start at cost 0
            share = float((means <= 0).mean())
            cells.append(_answer(share == 1) if share == 1 else f"at {share:.0%} of costs")
        rows.append((dataset, *cells))
    columns = (
        "",
        f"within {MAX_EXCESS:.0%} of the full table",
        *(f"no worse than: {APPROACHES[o]}" for o in others),
    )
    note = "Means over seeds; the other tables have the figures. At cost 0 all approaches are the same."
    return ReportTable("What holds", columns, tuple(rows), note)


def _answer(holds: bool) -> str:
    return "yes" if holds else "no"


def _final_table(deployments: Deployments) -> ReportTable:
    rows = []
    for dataset in deployments.datasets:
        cells = [
            format_mean([c.final_error for c in deployments.of(dataset, approach)], 3)
            for approach in deployments.approaches
        ]
        excess = [
            own.final_error / other.final_error for own, other in deployments.pairs(dataset, ORACLE)
        ]
        rows.append((dataset, *cells, f"{np.mean(excess) - 1:+.1%}" if excess else NOT_AVAILABLE))
    note = (
        "Mean and standard error over seeds. Last column: our error relative to that of the full table."
    )
    columns = ("", *(APPROACHES[a] for a in deployments.approaches), "ours against the full table")
    return ReportTable("Error after the last respondent", columns, tuple(rows), note)


def _comparison_table(deployments: Deployments) -> ReportTable:
    others = [name for name in deployments.approaches if name not in (OURS, ORACLE)]
    rows = [
        (dataset, APPROACHES[other], *_compare(deployments.ratios(dataset, other)))
        for dataset in deployments.datasets
        for other in others
    ]
    for other in others:
        ratios = [deployments.ratios(dataset, other) for dataset in deployments.datasets]
        rows.append(("all", APPROACHES[other], *_compare(np.concatenate(ratios))))
    columns = ("", "compared with", "ratio of errors", "highest ratio", "t-test", "signed-rank test")
    note = (
        "Our error divided by the other one's at the same cumulative cost: geometric mean over costs and "
        "seeds, and the highest mean over seeds at any cost. Tests are paired by table and seed, of the mean "
        "log ratio over all costs."
    )
    return ReportTable("Error at the same cumulative cost", columns, tuple(rows), note)


def _compare(ratios: Numbers) -> tuple[str, str, str, str]:
    if not len(ratios):
        return (NOT_AVAILABLE,) * 4
    logs = np.log(ratios)
    means = logs.mean(1)
    return (
        f"{np.exp(logs.mean()):.3f}",
        f"{np.exp(logs.mean(0)).max():.3f}",
        format_p(paired_t_test(means)),
        format_p(signed_rank_test(means)),
    )


def _cost_table(deployments: Deployments) -> ReportTable:
    """The ratio of errors at some of the cumulative costs, over all tables and seeds."""
    places = np.linspace(0, N_COSTS - 1, N_SHARES + 1).round().astype(int)[1:]
    rows = []
    for other in deployments.approaches:
        if other in (OURS, ORACLE):
            continue
        ratios = [deployments.ratios(dataset, other) for dataset in deployments.datasets]
        logs = np.log(np.concatenate(ratios))
        cells = [
            f"{np.exp(logs[:, place].mean()):.2f} ({format_p(signed_rank_test(logs[:, place]))})"
            for place in places
        ]
        rows.append((APPROACHES[other], *cells))
    columns = ("compared with", *(f"{share:.0%}" for share in places / (N_COSTS - 1)))
    note = (
        "Our error divided by the other one's, when this share of the common cost was spent: geometric mean "
        "over tables and seeds, and the p-value of a signed-rank test in parentheses."
    )
    return ReportTable("Error at each cumulative cost", columns, tuple(rows), note)


def _cumulative_table(deployments: Deployments) -> ReportTable:
    rows = []
    for dataset in deployments.datasets:
        for approach in deployments.approaches:
            curves = deployments.of(dataset, approach)
            errors = [float(curve.respondent_errors.mean()) for curve in curves]
            costs = [curve.total_cost for curve in curves]
            rows.append((dataset, APPROACHES[approach], format_mean(errors, 3), format_mean(costs, 0)))
    columns = ("", "approach", "mean error of all respondents", "questions asked")
    note = "Of each respondent at the end of the own interview, from the first one on."
    return ReportTable("Cumulative error and cost", columns, tuple(rows), note)


def _plot(deployments: Deployments, folder: Path) -> Figure:
    datasets = deployments.datasets
    figure = figures.figure(3.2 * len(datasets) + 0.4, 3.2)
    panels = figure.subplots(1, len(datasets), squeeze=False)[0]
    lines: dict[str, Any] = {}
    for axes, dataset in zip(panels, datasets, strict=True):
        figures.tidy(axes)
        for number, approach in enumerate(deployments.approaches):
            curves = deployments.of(dataset, approach)
            if not curves:
                continue
            costs = np.linspace(0, min(curve.total_cost for curve in curves), N_COSTS)
            mean = np.mean([curve.error_at(costs) for curve in curves], axis=0)
            (line,) = axes.step(costs, mean, where="post", color=COLOURS[number], linewidth=1.6)
            line.set_linestyle(":" if approach == ORACLE else "-")
            lines[APPROACHES[approach]] = line
        axes.set_title(dataset, color=INK, fontsize=SMALL + 1)
        axes.set_xlabel("questions asked so far", color=INK, fontsize=SMALL + 0.5)
        axes.set_ylabel("error", color=INK, fontsize=SMALL + 0.5)
    figure.legend(
        list(lines.values()),
        list(lines),
        loc="outside upper center",
        ncols=2,
        frameon=False,
        fontsize=SMALL,
    )
    path = folder / "cold-start.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Figure(path, "Error on held-out rows against the number of questions asked so far.")
