"""Report on rewards compared with exact information: two tables and a figure."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.errors import MissingExtraError
from eddi.evaluate import figures
from eddi.evaluate.figures import BLUE, FAINT, INK, SMALL, VERMILION
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.statistics import Numbers, format_mean

FLOOR = 1e-5  # nats: smaller values are drawn at the edge of the figure
CEILING = 1.6
TICKS = (1e-5, 1e-3, 1e-1)
MAX_DOTS = 600  # of each colour in a panel

Group = tuple[str, str]
"""A network and a recipe."""

SCORES = ("reward", "own", "random")
MEASURES = {"tau": 2, "hit": 2, "regret": 4}  # with digits
HEADINGS = {"tau": "tau", "hit": "best", "regret": "regret"}
PARAGRAPHS = (
    "Rows are drawn from a published Bayesian network and a Partial VAE (PNP) is trained on them. For "
    "many evidence states, the reward of every open question is compared with its exact information "
    "about the target, computed from the joint distribution of the network. A state is a row of the "
    "network with some observed variables; only states in which the open questions differ in "
    "information count.",
    "tau is Kendall's rank correlation over the pairs of questions whose exact information differs. "
    "Best is the share of states in which a best question is chosen. Regret is the exact information, "
    "in nats, that the choice loses. Reward is the score of `Information()`: with the default recipe, "
    "the information of an answer about the target itself; with the paper's, its information in the "
    "space of z. Own is the mutual information of answer and target under the model's own "
    "distribution, through z (not defined for the paper's recipe, which treats levels as numbers). "
    "Random is the expectation of a random choice.",
)


def report_sections(results: Sequence[RunResult], folder: Path) -> list[Section]:
    """The tables and the figure, from the runs that are finished."""
    if not results:
        return []
    tables = (_choice_table(results), _prediction_table(results))
    title = "The reward compared with exact information"
    return [Section(title, PARAGRAPHS, tables, _plot(results, folder))]


def _group(results: Sequence[RunResult]) -> dict[Group, list[RunResult]]:
    groups: dict[Group, list[RunResult]] = {}
    for result in results:
        group = str(result.settings["network"]), str(result.settings["recipe"])
        groups.setdefault(group, []).append(result)
    return groups


def _choice_table(results: Sequence[RunResult]) -> ReportTable:
    rows: list[tuple[str, ...]] = []
    best: set[tuple[int, int]] = set()
    for (network, recipe), runs in _group(results).items():
        measurements = [result.measurements for result in runs]
        nats = format_mean([m["best_nats"] for m in measurements], 3)
        cells = [network, measurements[0]["target"], recipe, nats]
        for measure, digits in MEASURES.items():
            values = [_collect(runs, score, measure) for score in _scores_with(measure)]
            best.add((len(rows), len(cells) + _best_index(measure, values)))
            cells += [format_mean(of_score, digits) for of_score in values]
        rows.append(tuple(cells))
    n_states = sum(result.measurements["n_states"] for result in results)
    note = (
        f"Means over states and seeds, ± the standard error over seeds; {len(results)} runs, "
        f"{n_states:,} states. Nats is the information of the best question. The best score is in bold."
    )
    headings = [
        f"{HEADINGS[measure]}: {score}" for measure in MEASURES for score in _scores_with(measure)
    ]
    columns = ("network", "target", "recipe", "nats", *headings)
    title = "Choices by the reward compared with the exact best question"
    return ReportTable(title, columns, tuple(rows), note, frozenset(best))


def _scores_with(measure: str) -> tuple[str, ...]:
    return SCORES[:-1] if measure == "tau" else SCORES  # random choices have no order


def _collect(runs: Sequence[RunResult], score: str, measure: str) -> list[float]:
    choices = (run.measurements["choices"].get(score) for run in runs)
    return [choice[measure] for choice in choices if choice]


def _best_index(measure: str, values: Sequence[Sequence[float]]) -> int:
    sign = -1 if measure == "regret" else 1
    return int(np.argmax([sign * float(np.mean(v)) if v else -math.inf for v in values]))


def _prediction_table(results: Sequence[RunResult]) -> ReportTable:
    rows = []
    for (network, recipe), runs in _group(results).items():
        measurements = [result.measurements for result in runs]
        first = measurements[0]
        labels = (network, first["target"], str(first["n_variables"]), recipe, str(len(runs)))
        kl = (format_mean([m["kl"][key] for m in measurements], 4) for key in ("ours", "marginal"))
        seconds = np.mean([m["seconds"]["fit"] for m in measurements])
        rows.append((*labels, *kl, f"{seconds:.1f}"))
    note = (
        "Mean divergence, in nats, from the exact posterior of the target to the prediction, and to the "
        "marginal of the target, which is the prediction without evidence; ± as above."
    )
    columns = (
        *("network", "target", "variables", "recipe", "seeds"),
        *("KL", "KL of the marginal", "training, s"),
    )
    title = "Predictions of the target compared with its exact posterior"
    return ReportTable(title, columns, tuple(rows), note)


def _plot(results: Sequence[RunResult], folder: Path) -> tuple[Figure, ...]:
    groups = _group(results)
    networks, recipes = (list(dict.fromkeys(group[i] for group in groups)) for i in (0, 1))
    try:
        figure = figures.figure(1.2 + 2.1 * len(networks), 0.9 + 2.1 * len(recipes))
    except MissingExtraError:  # the tables do not need matplotlib
        return ()
    panels = figure.subplots(len(recipes), len(networks), squeeze=False, sharex=True, sharey=True)
    for line, recipe in zip(panels, recipes, strict=True):
        for axes, network in zip(line, networks, strict=True):
            _plot_panel(axes, groups.get((network, recipe), []))
        line[0].set_ylabel(f"{recipe} recipe\nreward, nats", fontsize=SMALL + 1, color=INK)
    for axes, network in zip(panels[0], networks, strict=True):
        figures.title(axes, figures.label(network))
    figure.supxlabel("exact information about the target, nats", fontsize=SMALL + 1.5, color=INK)
    _add_legend(figure)
    path = folder / "networks.png"
    figures.save(figure, path)
    caption = (
        "Reward against exact information of every open question in every evidence state, on "
        f"logarithmic axes. Values below {FLOOR:g} nats are at the edge, and at most {MAX_DOTS} dots "
        "of a colour are drawn in a panel. On the line, both are equal."
    )
    return (Figure(path, caption),)


def _plot_panel(axes: Any, runs: Sequence[RunResult]) -> None:
    figures.tidy(axes, grid="both")
    limits = (FLOOR / CEILING, CEILING)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits, aspect="equal")
    axes.set(xticks=TICKS, yticks=TICKS)
    axes.minorticks_off()
    axes.plot(limits, limits, color=FAINT, lw=0.9, zorder=1)
    chosen, others = _dots(runs)
    style = {"s": 9, "lw": 0, "rasterized": True}
    axes.scatter(*_thin_out(others).T, color=BLUE, alpha=0.22, zorder=2, **style)
    axes.scatter(*_thin_out(chosen).T, color=VERMILION, alpha=0.45, zorder=3, **style)


def _dots(runs: Sequence[RunResult]) -> tuple[Numbers, Numbers]:
    """Exact information and reward [questions, 2] of the chosen questions, and of all others."""
    chosen, others = [np.empty((0, 2))], [np.empty((0, 2))]
    for run in runs:
        for exact, rewards in zip(run.measurements["exact"], run.measurements["rewards"], strict=True):
            dots = np.maximum(np.column_stack([exact, rewards]), FLOOR)
            best = int(np.argmax(rewards))
            chosen.append(dots[best : best + 1])
            others.append(np.delete(dots, best, axis=0))
    return np.concatenate(chosen), np.concatenate(others)


def _thin_out(dots: Numbers) -> Numbers:
    """At most `MAX_DOTS` of the dots, evenly over the runs."""
    return dots[:: max(1, math.ceil(len(dots) / MAX_DOTS))]


def _add_legend(figure: Any) -> None:
    from matplotlib.lines import Line2D

    dot: dict[str, Any] = {"ls": "", "marker": "o", "ms": 5, "mew": 0}
    handles = [
        Line2D([], [], color=VERMILION, label="the question of the highest reward", **dot),
        Line2D([], [], color=BLUE, label="the other open questions", **dot),
        Line2D([], [], color=FAINT, lw=0.9, label="equal"),
    ]
    style = {"loc": "outside upper center", "ncols": 3, "frameon": False, "fontsize": SMALL + 1.5}
    figure.legend(handles=handles, **style)
