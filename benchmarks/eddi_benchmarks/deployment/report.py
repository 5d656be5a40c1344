"""The report on deployments without data: errors against cumulative cost, and paired tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, SMALL
from eddi_benchmarks.deployment.curves import (
    APPROACHES,
    COMPLETE,
    EXPERT,
    GREEDY,
    INFORMED,
    N_COSTS,
    ORACLE,
    OURS,
    Deployments,
)
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import (
    NOT_AVAILABLE,
    SIGNIFICANT,
    Numbers,
    format_mean,
    format_p,
    paired_interval,
    paired_t_test,
    signed_rank_test,
)

N_SHARES = 8  # of the cumulative costs in a table
MAX_EXCESS = 0.1  # of our error over that of the full table
PARAGRAPHS = (
    "Respondents arrive in random order at a questionnaire without data. The schema states kinds, levels and "
    "ranges, and no relations. An interview asks four questions; ours asks the first 40 respondents every "
    "question of the table. The target of each respondent becomes known afterwards. The error is that of "
    "held-out rows, each asked four questions without exploration by the model of that moment: mean squared "
    "error in units of the variance of the target, or the Brier score of classes.",
    "With stated beliefs, the schema also has shares of levels and relations that an expert would state: "
    "see `expert_beliefs.py`. With the full table's questions, a model of the full table chooses what "
    "respondents are asked, and a model without that knowledge learns from their answers: a reference point "
    "for good questions without exploration.",
)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """Report on the runs that are finished."""
    if not results:
        return []
    deployments = Deployments.from_results(results)
    tables = (
        _excess_table(deployments),
        _criteria_table(deployments),
        _final_table(deployments),
        _comparison_table(deployments),
        _cost_table(deployments),
        _cumulative_table(deployments),
    )
    figure = _plot(deployments, folder)
    return [Section("Deployments without data", PARAGRAPHS, tables, (figure,))]


def _excess_table(deployments: Deployments) -> ReportTable:
    """Whether our approach ends close to a model of the full table, and whether complete rows would."""
    compared = (OURS, EXPERT, GREEDY, INFORMED, COMPLETE)
    approaches = [name for name in compared if name in deployments.approaches]
    rows = []
    for approach in approaches:
        excess = {dataset: deployments.excess(dataset, approach) for dataset in deployments.datasets}
        excess["all"] = np.concatenate(list(excess.values()))
        rows += [
            (dataset, APPROACHES[approach], *_describe_excess(ratios))
            for dataset, ratios in excess.items()
        ]
    columns = ("", "approach", "error", "95% interval", f"within {MAX_EXCESS:.0%}")
    note = (
        "Relative to the error of the full table, after the last respondent: geometric mean over seeds, and "
        "the interval of a paired t-test of log ratios. Complete rows show what 300 respondents can tell."
    )
    return ReportTable("Error relative to the full table", columns, tuple(rows), note)


def _describe_excess(ratios: Numbers) -> tuple[str, str, str]:
    if not len(ratios):
        return (NOT_AVAILABLE,) * 3
    logs = np.log(ratios)
    mean = float(np.exp(logs.mean()))
    interval = paired_interval(logs)
    ends = NOT_AVAILABLE if interval is None else " to ".join(f"{np.exp(e) - 1:+.1%}" for e in interval)
    return f"{mean - 1:+.1%}", ends, "yes" if mean <= 1 + MAX_EXCESS else "no"


def _criteria_table(deployments: Deployments) -> ReportTable:
    """Whether our approach is better than each other one at every cumulative cost.

    With stated beliefs, too; at the end, what these and the questions of the full table change.
    """
    owns = [own for own in (OURS, EXPERT) if own in deployments.approaches]
    pairs = [(own, other) for own in owns for other in deployments.others]
    pairs += [(o, p) for o, p in ((EXPERT, OURS), (INFORMED, GREEDY)) if o in deployments.approaches]
    rows = []
    for own, other in pairs:
        names = (APPROACHES[own], APPROACHES[other])
        ratios = {d: deployments.ratios(d, other, own=own) for d in deployments.datasets}
        ratios["all"] = deployments.all_ratios(other, own=own)
        rows += [(dataset, *names, *_count_costs(part)) for dataset, part in ratios.items()]
    columns = (
        *(
            "",
            "approach",
            "compared with",
            "better at",
            "worse at",
            "significantly better",
            "significantly worse",
        ),
        *("highest ratio", "its t-test", "better at every cost"),
    )
    note = (
        "Numbers of cumulative costs at which the approach has a lower or higher error than the other one at "
        "the same cost (geometric mean of their ratio), and at which a paired t-test of log ratios has "
        f"p < 0.05. {N_COSTS} equally spaced costs from 0 on are compared, less those before the first model "
        "of either."
    )
    return ReportTable("Better at every cumulative cost?", columns, tuple(rows), note)


def _count_costs(ratios: Numbers) -> tuple[str, ...]:
    """How many costs our error is lower and higher at; ``ratios`` are those of `Deployments.ratios`."""
    differs = (ratios != 1).any(0) if len(ratios) else np.zeros(0, dtype=bool)
    if not differs.any():
        return (NOT_AVAILABLE,) * 7
    logs = np.log(ratios[:, differs.argmax() :])  # from the first model on
    means = logs.mean(0)
    p_values = [paired_t_test(column) for column in logs.T]
    is_significant = np.array([p is not None and p < SIGNIFICANT for p in p_values])
    counts = (means < 0, means > 0, is_significant & (means < 0), is_significant & (means > 0))
    worst = int(means.argmax())
    return (
        *(f"{int(count.sum())} of {len(means)}" for count in counts),
        f"{np.exp(means[worst]):.3f}",
        format_p(p_values[worst]),
        "yes" if (means < 0).all() else "no",
    )


def _final_table(deployments: Deployments) -> ReportTable:
    rows = []
    for dataset in deployments.datasets:
        cells = [
            format_mean([c.final_error for c in deployments.of(dataset, approach)], 3)
            for approach in deployments.approaches
        ]
        rows.append((dataset, *cells))
    columns = ("", *(APPROACHES[a] for a in deployments.approaches))
    note = "Mean and standard error over seeds."
    return ReportTable("Error after the last respondent", columns, tuple(rows), note)


def _comparison_table(deployments: Deployments) -> ReportTable:
    others = deployments.others
    rows = [
        (dataset, APPROACHES[other], *_compare(deployments.ratios(dataset, other)))
        for dataset in deployments.datasets
        for other in others
    ]
    rows += [("all", APPROACHES[other], *_compare(deployments.all_ratios(other))) for other in others]
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
    for other in deployments.others:
        logs = np.log(deployments.all_ratios(other))
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
            colour = COLOURS[number % len(COLOURS)]
            (line,) = axes.step(costs, mean, where="post", color=colour, linewidth=1.6)
            line.set_linestyle(":" if approach in (ORACLE, INFORMED, COMPLETE) else "-")
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
