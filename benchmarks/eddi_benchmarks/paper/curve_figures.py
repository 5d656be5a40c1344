"""Figures of information curves: a panel for each encoder or dataset, a line for each strategy."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, MARKERS, SMALL
from eddi.evaluate.plots import METRIC_LABELS
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.comparison import COMPARED_STRATEGIES, ENCODERS, STRATEGIES
from eddi_benchmarks.report.content import Figure
from eddi_benchmarks.report.statistics import Numbers, mean_and_error

STYLES = {  # colour and marker; the paper's green and pink for RAND and SING
    "eddi": (COLOURS[0], MARKERS[0]),
    "rand": (COLOURS[2], MARKERS[2]),
    "sing": (COLOURS[3], MARKERS[1]),
    "lasso": (COLOURS[4], MARKERS[3]),
}
LABELS = METRIC_LABELS | {"nll": "negative log-likelihood (nats)"}  # as in the paper
PANEL_WIDTH, PANEL_HEIGHT, LEGEND_HEIGHT = 2.9, 2.45, 0.45  # inches
MAX_MARKERS = 16  # on one line


def plot_by_encoder(
    results: Sequence[RunResult],
    metric: str,
    path: Path,
    *,
    dataset: str | None = None,
    strategies: Sequence[str] = COMPARED_STRATEGIES,
) -> Figure:
    """Plot a metric against the number of questions on one dataset, a panel for each encoder.

    Args:
        results: finished runs; an encoder without any has no panel.
        metric: one of those the runs measured.
        path: of the figure to write.
        dataset: whose runs to plot; None for all.
        strategies: the lines.
    """
    selected = [r for r in results if dataset is None or r.settings.get("dataset") == dataset]
    panels = {
        name: of_encoder
        for encoder, name in ENCODERS.items()
        if (of_encoder := [r for r in selected if r.settings["set_encoder"] == encoder])
    }
    n_seeds = len({result.settings["seed"] for result in selected})
    where = f" on {dataset}" if dataset else ""
    caption = f"{_describe(metric, strategies)}{where}, by set encoder. {describe_bands(n_seeds)}"
    return _plot_panels(panels, metric, path, strategies, caption, share_axes=True)


def plot_by_dataset(
    results: Sequence[RunResult],
    metric: str,
    path: Path,
    *,
    set_encoder: str = "pnp",
    strategies: Sequence[str] = COMPARED_STRATEGIES,
) -> Figure:
    """Plot a metric against the number of questions with one encoder, a panel for each dataset."""
    selected = [result for result in results if result.settings["set_encoder"] == set_encoder]
    names = dict.fromkeys(str(result.settings["dataset"]) for result in selected)
    panels = {name: [r for r in selected if r.settings["dataset"] == name] for name in names}
    n_seeds = len({result.settings["seed"] for result in selected})
    caption = (
        f"{_describe(metric, strategies)} with {ENCODERS[set_encoder]}, by dataset. "
        f"{describe_bands(n_seeds)}"
    )
    return _plot_panels(panels, metric, path, strategies, caption, share_axes=False)


def _describe(metric: str, strategies: Sequence[str]) -> str:
    names = ", ".join(STRATEGIES[strategy] for strategy in strategies)
    text = LABELS[metric]
    return f"{text[0].upper()}{text[1:]} of {names} after each question"


def describe_bands(n_seeds: int) -> str:
    """What the lines and bands of a figure are."""
    if n_seeds < 2:
        return "One repetition."
    return f"Mean of {n_seeds} repetitions; bands are ± one standard error."


def _plot_panels(
    panels: dict[str, list[RunResult]],
    metric: str,
    path: Path,
    strategies: Sequence[str],
    caption: str,
    *,
    share_axes: bool,
) -> Figure:
    """Plot up to four panels in one line, or more in lines of three, with one legend above."""
    n_columns = max(1, len(panels) if len(panels) <= 4 else 3)
    n_lines = max(1, math.ceil(len(panels) / n_columns))
    figure = figures.figure(PANEL_WIDTH * n_columns + 0.4, PANEL_HEIGHT * n_lines + LEGEND_HEIGHT)
    grid = figure.subplots(n_lines, n_columns, squeeze=False, sharey=share_axes, sharex=share_axes)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    lines: dict[str, Any] = {}
    for axes, (name, results) in zip(grid.flat, panels.items(), strict=False):
        lines |= _plot_panel(axes, results, metric, strategies)
        figures.title(axes, figures.label(name))
        axes.set_xlabel("questions asked", color=INK, fontsize=SMALL + 0.5)
    figure.supylabel(LABELS[metric], color=INK, fontsize=SMALL + 1.5)
    plotted = [name for name in strategies if name in lines]
    figure.legend(
        [lines[name] for name in plotted],
        [STRATEGIES[name] for name in plotted],
        loc="outside upper center",
        ncols=max(1, len(plotted)),
        frameon=False,
        fontsize=SMALL + 1.5,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Figure(path, caption)


def _plot_panel(
    axes: Any, results: list[RunResult], metric: str, strategies: Sequence[str]
) -> dict[str, Any]:
    """Plot the lines and bands of one panel; returns the lines by strategy."""
    figures.tidy(axes)
    lines = {}
    for name in reversed(strategies):  # the first one is on top
        measured = [result.measurements["strategies"].get(name) for result in results]
        curves = np.array([m["curves"][metric] for m in measured if m], dtype=np.float64)
        if len(curves):
            lines[name] = plot_mean_curve(axes, STYLES[name], curves)
    axes.margins(x=0.02)
    axes.locator_params(axis="x", integer=True)
    return lines


def plot_mean_curve(axes: Any, style: tuple[str, str], curves: Numbers) -> Any:
    """Plot the mean of curves [seeds, steps + 1] and a band of one standard error; returns the line."""
    colour, marker = style
    (mean, error), steps = mean_and_error(curves), np.arange(curves.shape[1])
    if len(curves) > 1:
        axes.fill_between(steps, mean - error, mean + error, color=colour, alpha=0.18, lw=0)
    markers = {"marker": marker, "ms": 3.8, "mec": "white", "mew": 0.5}
    markers["markevery"] = max(1, math.ceil(len(steps) / MAX_MARKERS))
    return axes.plot(steps, mean, color=colour, lw=1.6, **markers)[0]
