"""Figures of the decisions suite: curves of all methods for each dataset, and curves against cost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, FAINT, INK, MARKERS, SMALL
from eddi.evaluate.plots import METRIC_LABELS
from eddi_benchmarks.decisions.results import COST_METHODS, METHODS, DecisionResults
from eddi_benchmarks.paper.curve_figures import (
    LEGEND_HEIGHT,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    describe_bands,
    plot_mean_curve,
)
from eddi_benchmarks.report.content import Figure
from eddi_benchmarks.report.statistics import Numbers

WINE, TEAL, OLIVE = (
    "#882255",
    "#44AA99",
    "#999933",
)  # distinct from `COLOURS`, also for colour-blind readers
STYLES = {  # colour and marker
    "ours": (COLOURS[0], MARKERS[0]),
    "ours-ahead": (COLOURS[5], MARKERS[5]),
    "ours-cost": (COLOURS[0], MARKERS[0]),
    "static": (COLOURS[3], MARKERS[1]),
    "random": (COLOURS[2], MARKERS[2]),
    "paper": (COLOURS[6], MARKERS[6]),
    "gdfs": (COLOURS[1], MARKERS[3]),
    "dime": (COLOURS[4], MARKERS[4]),
    "dime-cost": (COLOURS[4], MARKERS[4]),
    "trees": (WINE, MARKERS[1]),
    "extra_trees": (OLIVE, MARKERS[5]),
    "linear": (TEAL, MARKERS[2]),
    "exact-greedy": (FAINT, MARKERS[1]),
    "exact": (FAINT, MARKERS[0]),
}
SIZE_FACTOR = 1.25  # relative to a panel of the paper's figures, because there are more lines
LEGEND_COLUMNS = 4
POINTS_PER_TICK = 4  # of the cost axis
MAX_RANGE = 3.0  # likelihoods: the largest range shown, in multiples of the range of a typical line


def plot_dataset(results: DecisionResults, dataset: str, path: Path) -> Figure:
    """Plot the main metric and the likelihood of all methods against the number of questions."""
    methods = [name for name in results.methods_without_cost if results.by_seed(dataset, name)]
    metrics = [results.metric, "nll"]
    figure, panels = _make_figure(len(metrics))
    for axes, metric in zip(panels, metrics, strict=True):
        lines = {
            name: plot_mean_curve(axes, STYLES[name], results.curves(dataset, name, metric))
            for name in reversed(methods)  # the first one is on top
        }
        if "exact-greedy" in lines:
            lines["exact-greedy"].set_linestyle(":")
        _label_axes(axes, metric, "questions asked")
        axes.locator_params(axis="x", integer=True)
    mean_curves = [results.curves(dataset, name, "nll").mean(0) for name in methods]
    _limit_range(panels[-1], mean_curves)
    _add_legend(figure, {name: lines[name] for name in methods})
    n_seeds = len({result.settings["seed"] for result in results.results})
    caption = (
        f"{dataset}: {METRIC_LABELS[results.metric]} and likelihood after each question. "
        f"{describe_bands(n_seeds)}"
    )
    return _save(figure, path, caption)


def plot_costs(results: DecisionResults, dataset: str, path: Path) -> Figure | None:
    """Plot the main metric against the cost; None if all questions cost the same."""
    measured = {name: list(results.by_seed(dataset, name).values()) for name in results.methods}
    by_cost = {
        name: [m["by_cost"] for m in of_method]
        for name, of_method in measured.items()
        if of_method and "by_cost" in of_method[0]
    }
    if not by_cost:
        return None
    figure, (axes,) = _make_figure(1)
    lines = {}
    for name, curves in by_cost.items():
        curve_array = np.array([curve["curve"] for curve in curves])
        lines[name] = plot_mean_curve(axes, STYLES[name], curve_array)
        lines[name].set_linestyle("-" if name in COST_METHODS else ":")
    spent = next(iter(by_cost.values()))[0]["spent"]
    ticks = range(0, len(spent), POINTS_PER_TICK)
    axes.set_xticks(ticks, [f"{spent[tick]:.0f}" for tick in ticks])
    _label_axes(axes, results.metric, "maximum cost per person")
    _add_legend(figure, lines)
    caption = (
        f"{dataset}: {METRIC_LABELS[results.metric]} against the cost per person. Solid lines: methods that "
        "divide the information of an answer by its cost."
    )
    return _save(figure, path, caption)


def _make_figure(n_panels: int) -> tuple[Any, list[Any]]:
    width = SIZE_FACTOR * PANEL_WIDTH * max(n_panels, 1.4) + 0.4
    figure = figures.figure(width, SIZE_FACTOR * PANEL_HEIGHT + 2 * LEGEND_HEIGHT)
    panels = list(figure.subplots(1, n_panels, squeeze=False)[0])
    for axes in panels:
        figures.tidy(axes)
    return figure, panels


def _label_axes(axes: Any, metric: str, x_label: str) -> None:
    axes.set_xlabel(x_label, color=INK, fontsize=SMALL + 0.5)
    axes.set_ylabel(METRIC_LABELS[metric], color=INK, fontsize=SMALL + 0.5)
    axes.margins(x=0.02)


def _limit_range(axes: Any, curves: Sequence[Numbers]) -> None:
    """Cut off lines far above the others, which would otherwise look flat."""
    maxima = sorted(float(curve.max()) for curve in curves)
    minimum = min(float(curve.min()) for curve in curves)
    limit = minimum + MAX_RANGE * (maxima[len(maxima) // 2] - minimum)
    if maxima[-1] > limit > minimum:
        axes.set_ylim(top=limit)


def _add_legend(figure: Any, lines: dict[str, Any]) -> None:
    figure.legend(
        list(lines.values()),
        [METHODS[name] for name in lines],
        loc="outside upper center",
        ncols=LEGEND_COLUMNS,
        frameon=False,
        fontsize=SMALL + 0.5,
    )


def _save(figure: Any, path: Path, caption: str) -> Figure:
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Figure(path, caption)
