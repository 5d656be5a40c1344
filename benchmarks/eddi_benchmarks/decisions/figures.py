"""One picture a dataset: how every method went, question by question; and what money buys."""

from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, FAINT, INK, MARKERS, SMALL
from eddi.evaluate.plots import NAMES
from eddi_benchmarks.decisions.results import BY_COST, METHODS, Results
from eddi_benchmarks.paper.curve_figures import (
    LEGEND_HEIGHT,
    PANEL_HEIGHT,
    PANEL_WIDTH,
    band_words,
    line,
)
from eddi_benchmarks.report.content import Picture

LOOKS = {
    "ours": (COLOURS[0], MARKERS[0]),
    "ours-ahead": (COLOURS[5], MARKERS[5]),
    "ours-cost": (COLOURS[0], MARKERS[0]),
    "static": (COLOURS[3], MARKERS[1]),
    "random": (COLOURS[2], MARKERS[2]),
    "paper": (COLOURS[6], MARKERS[6]),
    "gdfs": (COLOURS[1], MARKERS[3]),
    "dime": (COLOURS[4], MARKERS[4]),
    "dime-cost": (COLOURS[4], MARKERS[4]),
    "exact-greedy": (FAINT, MARKERS[1]),
    "exact": (FAINT, MARKERS[0]),
}
TALLER = 1.25  # than a panel of the paper's pictures: there are more lines here
LEGEND_COLUMNS = 4
N_APART = 4  # points of a frontier from one number on its axis to the next
LOWEST = 3.0  # likelihoods: how many times the range of all but the worst line is shown


def dataset_picture(results: Results, dataset: str, path: Path) -> Picture:
    """The headline metric and the likelihood against questions asked, all methods."""
    named = [name for name in results.methods if name not in BY_COST and results.told(dataset, name)]
    panels = [results.metric, "nll"]
    figure, axes = _figure(len(panels))
    for each, metric in zip(axes, panels, strict=True):
        lines = {
            name: line(each, LOOKS[name], results.curves(dataset, name, metric))
            for name in reversed(named)
        }
        if "exact-greedy" in lines:
            lines["exact-greedy"].set_linestyle(":")
        _finish(each, metric, "questions asked")
    _stay_readable(axes[-1], [results.curves(dataset, name, "nll").mean(0) for name in named])
    _legend(figure, {name: lines[name] for name in named})
    n_seeds = len({each.settings["seed"] for each in results.outcomes})
    words = (
        f"{dataset}: {NAMES[results.metric]} and likelihood after each question. {band_words(n_seeds)}"
    )
    return _save(figure, path, words)


def frontier_picture(results: Results, dataset: str, path: Path) -> Picture | None:
    """The headline metric against money spent; None where nothing has a price."""
    told = {name: list(results.told(dataset, name).values()) for name in results.methods}
    paid = {name: each for name, each in told.items() if each and "by_cost" in each[0]}
    if not paid:
        return None
    figure, (axes,) = _figure(1)
    lines = {}
    for name, each in paid.items():
        spent = np.array(each[0]["by_cost"]["spent"])
        lines[name] = line(axes, LOOKS[name], np.array([one["by_cost"]["curve"] for one in each]))
        lines[name].set_linestyle("-" if name in BY_COST else ":")
    ticks = range(0, len(spent), N_APART)
    axes.set_xticks(ticks, [f"{spent[tick]:.0f}" for tick in ticks])
    _finish(axes, results.metric, "spent on a person, at most")
    _legend(figure, lines)
    words = (
        f"{dataset}: {NAMES[results.metric]} against what was spent on each person. Solid: methods that "
        "divide what an answer is worth by its cost."
    )
    return _save(figure, path, words)


def _figure(n_panels: int) -> tuple[Any, list[Any]]:
    width = TALLER * PANEL_WIDTH * max(n_panels, 1.4) + 0.4
    figure = figures.figure(width, TALLER * PANEL_HEIGHT + 2 * LEGEND_HEIGHT)
    axes = list(figure.subplots(1, n_panels, squeeze=False)[0])
    for each in axes:
        figures.tidy(each)
    return figure, axes


def _finish(axes: Any, metric: str, along: str) -> None:
    axes.set_xlabel(along, color=INK, fontsize=SMALL + 0.5)
    axes.set_ylabel(NAMES[metric], color=INK, fontsize=SMALL + 0.5)
    axes.margins(x=0.02)
    if along == "questions asked":
        axes.locator_params(axis="x", integer=True)


def _stay_readable(axes: Any, curves: list[Any]) -> None:
    """A line far above all others leaves the picture, or the others would be flat."""
    highest = sorted(float(curve.max()) for curve in curves)
    lowest = min(float(curve.min()) for curve in curves)
    usual = highest[len(highest) // 2] - lowest
    if highest[-1] > lowest + LOWEST * usual > lowest:
        axes.set_ylim(top=lowest + LOWEST * usual)


def _legend(figure: Any, lines: dict[str, Any]) -> None:
    figure.legend(
        list(lines.values()),
        [METHODS[name] for name in lines],
        loc="outside upper center",
        ncols=LEGEND_COLUMNS,
        frameon=False,
        fontsize=SMALL + 0.5,
    )


def _save(figure: Any, path: Path, words: str) -> Picture:
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Picture(path, words)
