"""Plots of simulations: information curves, cost frontiers, questions asked, and calibration."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate import figures
from eddi.evaluate.calibration import Calibration
from eddi.evaluate.cost_frontier import CostFrontier
from eddi.evaluate.curves import ROOT_METRICS, Curves, Metric, Numbers
from eddi.evaluate.decision_plot import decision_process as decision_process
from eddi.evaluate.figures import COLOURS, FAINT, INK, MARKERS, SMALL
from eddi.evaluate.streaming_curves import StreamingCurves
from eddi.model.prediction import COVERAGE
from eddi.reward.units import BITS_PER_NAT

MAX_COST_POINTS = 1_000  # points of the cost axis: more than a print can resolve
MAX_CELL_LABELS = 1_000  # heat maps with more cells have no numbers in their cells
LEGEND_LABEL_LENGTH = 40  # characters
METRIC_LABELS: dict[str, str] = {
    "rmse": "error (RMSE)",
    "draw_rmse": "error of draws (RMSE)",
    "nll": "negative log-likelihood (bits)",
    "accuracy": "accuracy",
    "brier": "Brier score",
}


def information_curves(
    curves: Mapping[str, Curves | StreamingCurves],
    path: str | PathLike[str],
    *,
    target: str = "",
    unit: str = "",
    metric: Metric = "rmse",
    against: Literal["steps", "cost"] = "steps",
) -> None:
    """Plot a metric against the number of questions or their cost, one line per simulation.

    Bands are one standard error over rows to either side.

    Args:
        curves: simulations by the name shown in the legend.
        path: a file name that ends in .png, .svg or .pdf.
        target: label of the target; its name by default.
        unit: unit of the target; that of the curves by default.
        metric: rmse, draw_rmse, nll, accuracy or brier.
        against: "steps" (questions asked) or "cost" (total cost of the questions).
    """
    if not curves:
        raise EvaluationError("there is no curve to plot. Give at least one simulation.")
    if against not in ("steps", "cost"):
        raise EvaluationError(f"curves are plotted against 'steps' or 'cost', not {against!r}.")
    checked_path = figures.check_path(path)
    figure = figures.figure(6.4, 4.0)
    axes = figure.subplots()
    figures.tidy(axes)
    lines = [
        _draw_line(axes, curve, metric, against, style=_style(index))
        for index, curve in enumerate(curves.values())
    ]
    first = next(iter(curves.values()))
    axes.set_xlabel("questions asked" if against == "steps" else "cost", color=INK)
    axes.set_ylabel(_metric_label(metric, target or first.target, unit or first.unit), color=INK)
    figures.title(axes, "Information curves")
    axes.margins(x=0.02)
    if against == "steps":
        axes.xaxis.get_major_locator().set_params(integer=True)
    labels = [figures.label(name, LEGEND_LABEL_LENGTH) for name in curves]
    axes.legend(lines, labels, frameon=False, fontsize=SMALL + 1)
    figures.save(figure, checked_path)


def _style(index: int) -> dict[str, str]:
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def _metric_label(metric: Metric, target: str, unit: str) -> str:
    label = f"{figures.label(target)}: {METRIC_LABELS[metric]}"
    return f"{label}, {figures.label(unit)}" if unit and metric in ROOT_METRICS else label


def _draw_line(
    axes: Any,
    curve: Curves | StreamingCurves,
    metric: Metric,
    against: str,
    *,
    style: dict[str, Any],
) -> Any:
    """Draw one curve with its band and return the line."""
    if against == "cost":
        return _draw_cost_line(axes, curve, metric, colour=style["color"])
    x = np.arange(curve.n_steps + 1, dtype=np.float64)
    value, error = _in_unit(metric, curve.metric(metric), curve.standard_error_of(metric))
    axes.fill_between(x, value - error, value + error, color=style["color"], alpha=0.15, lw=0)
    return axes.plot(x, value, lw=1.8, ms=4.5, mec="white", mew=0.6, **style)[0]


def _in_unit(metric: Metric, value: Numbers, error: Numbers) -> tuple[Numbers, Numbers]:
    """A metric and its standard error in the unit of its label: log-likelihoods are computed in nats."""
    scale = BITS_PER_NAT if metric == "nll" else 1.0
    return value * scale, error * scale


def _draw_cost_line(axes: Any, curve: Curves | StreamingCurves, metric: Metric, *, colour: str) -> Any:
    """A step function: predictions change when a question is paid for, and not in between."""
    if isinstance(curve, StreamingCurves):
        raise EvaluationError(
            "streamed rows have no cost axis, because their costs are not stored. Plot against 'steps'."
        )
    costs = np.unique(curve.spent)
    x = costs if len(costs) <= MAX_COST_POINTS else np.linspace(0, costs[-1], MAX_COST_POINTS)
    by_cost = curve.by_cost(x)
    value, error = _in_unit(metric, by_cost.metric(metric), by_cost.standard_error_of(metric))
    axes.fill_between(x, value - error, value + error, step="post", color=colour, alpha=0.15, lw=0)
    return axes.plot(x, value, color=colour, lw=1.8, drawstyle="steps-post")[0]


def cost_frontier(
    frontiers: Mapping[str, CostFrontier], path: str | PathLike[str], *, metric: Metric = "rmse"
) -> None:
    """Plot the final error against the mean cost of an interview, one line per strategy.

    Each point is a price. Error bars are one standard error over rows to either side.
    """
    if not frontiers:
        raise EvaluationError("there is no cost frontier to plot. Give at least one.")
    checked_path = figures.check_path(path)
    figure = figures.figure(6.4, 4.0)
    axes = figure.subplots()
    figures.tidy(axes)
    for index, (name, frontier) in enumerate(frontiers.items()):
        value, error = _in_unit(metric, frontier.error(metric), frontier.standard_error(metric))
        axes.errorbar(
            frontier.cost,
            value,
            yerr=error,
            label=figures.label(name, LEGEND_LABEL_LENGTH),
            **{"lw": 1.6, "elinewidth": 1, "ms": 5, "mec": "white", "mew": 0.6},
            **_style(index),
        )
    first = next(iter(frontiers.values())).curves[0]
    axes.set_xlabel("mean cost of an interview", color=INK)
    axes.set_ylabel(_metric_label(metric, first.target, first.unit), color=INK)
    figures.title(axes, "Cost frontier")
    axes.legend(frameon=False, fontsize=SMALL + 1)
    figures.save(figure, checked_path)


def choices(curves: Curves, path: str | PathLike[str], *, n_steps: int | None = None) -> None:
    """Plot the share of rows that were asked each question at each step, as a heat map.

    Questions that were never asked are omitted. Questions asked earliest are at the top.
    """
    checked_path = figures.check_path(path)
    order = curves.order[:, :n_steps]
    asked = [k for k in range(len(curves.questions)) if (order == k).any()]
    if not asked:
        raise EvaluationError(
            "no question was asked in this simulation, so there is nothing to plot. "
            "Use a larger max_steps or a later stopping rule."
        )
    shares = np.stack([(order == k).mean(0) for k in asked])  # [questions, steps]
    steps = np.arange(1, order.shape[1] + 1)
    # Rows that were not asked a question count as asked after the last step.
    mean_step = shares @ steps + (1 - shares.sum(1)) * (len(steps) + 1)
    earliest_first = np.argsort(mean_step, kind="stable")
    names = [figures.label(curves.questions[asked[k]]) for k in earliest_first]
    figure = figures.figure(2.6 + 0.42 * max(len(steps), 5), 1.2 + 0.27 * len(names))
    axes = figure.subplots()
    _draw_heat_map(figure, axes, shares[earliest_first], names)
    axes.set_xticks(np.arange(len(steps)), steps)
    axes.set_xlabel("step", color=INK)
    figures.title(axes, f"Questions asked of {curves.n_rows:,} rows")
    figures.save(figure, checked_path)


def _draw_heat_map(figure: Any, axes: Any, shares: Numbers, names: list[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("blues", ["#ffffff", "#9ecae1", "#0072B2", "#08306b"])
    largest = float(shares.max())
    image = axes.imshow(100 * shares, cmap=colours, vmin=0, vmax=100 * largest, aspect="auto")
    axes.set_yticks(np.arange(len(names)), names)
    axes.tick_params(colors=INK, labelsize=SMALL + 0.5, length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(np.arange(shares.shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=figures.PALE, lw=0.8)
    axes.tick_params(which="minor", length=0)
    if shares.size <= MAX_CELL_LABELS:
        _label_cells(axes, shares)
    bar = figure.colorbar(image, ax=axes, aspect=max(12, len(names)), shrink=0.9, pad=0.02)
    bar.set_label("% of rows", color=INK, fontsize=SMALL + 0.5)
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.outline.set_visible(False)


def _label_cells(axes: Any, shares: Numbers) -> None:
    """Write each share of at least half a percent into its cell."""
    for (row, column), share in np.ndenumerate(shares):
        if share >= 0.005:
            colour = "white" if share > float(shares.max()) / 2 else INK
            text = f"{100 * share:.0f}"
            axes.text(column, row, text, ha="center", va="center", color=colour, size=SMALL - 1)


def calibration(
    curves: Curves, path: str | PathLike[str], *, steps: tuple[int, ...] | None = None
) -> None:
    """Plot observed against predicted frequencies at some steps: by default first, middle and last.

    See `Calibration` for what is compared. The points of a calibrated model lie on the diagonal.
    """
    checked_path = figures.check_path(path)
    figure = figures.figure(4.6, 5.0)
    axes = figure.subplots()
    figures.tidy(axes, grid="both")
    axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), label="perfect")
    draw = _draw_coverage if curves.rank is not None else _draw_reliability
    for index, step in enumerate(steps or sorted({0, (curves.n_steps + 1) // 2, curves.n_steps})):
        # Early predictions vary little between rows and have few points, so they are drawn on top.
        style = {**_style(index), "label": _step_label(step), "zorder": 20 - index}
        draw(axes, Calibration.from_curves(curves, step), style)
    _label_calibration_axes(axes, curves)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figures.title(axes, f"Calibration of {figures.label(curves.target)}")
    figure.legend(frameon=False, fontsize=SMALL + 0.5, loc="outside lower center", ncols=2)
    figures.save(figure, checked_path)


def _step_label(step: int) -> str:
    if step == 0:
        return "before the first question"
    return f"after {step} question{'' if step == 1 else 's'}"


def _draw_coverage(axes: Any, points: Calibration, style: dict[str, Any]) -> None:
    axes.fill_between(points.predicted, points.low, points.high, color=style["color"], alpha=0.15, lw=0)
    axes.plot(points.predicted, points.observed, ms=3.5, mec="white", mew=0.5, lw=1.5, **style)
    axes.axvline(COVERAGE, color=figures.PALE, lw=1.2, zorder=0)


def _draw_reliability(axes: Any, points: Calibration, style: dict[str, Any]) -> None:
    axes.vlines(points.predicted, points.low, points.high, color=style["color"], lw=1)
    axes.plot(points.predicted, points.observed, ms=5.5, mec="white", mew=0.6, lw=1.3, **style)


def _label_calibration_axes(axes: Any, curves: Curves) -> None:
    if curves.rank is not None:
        axes.set_xlabel("nominal coverage of the interval", color=INK)
        axes.set_ylabel("observed coverage", color=INK)
        return
    if curves.survival is not None:
        horizon = f"{curves.survival.shown_horizons[-1]:g} {figures.label(curves.unit)}".strip()
        axes.set_xlabel(f"predicted risk up to {horizon}", color=INK)
        axes.set_ylabel("observed risk (Kaplan-Meier)", color=INK)
        return
    level = figures.label(str(curves.levels[1])) if len(curves.levels) == 2 else "the most likely level"
    axes.set_xlabel(f"predicted probability of {level}", color=INK)
    axes.set_ylabel("observed frequency", color=INK)
