"""Pictures of simulations: information curves, what was asked when, and calibration."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

import numpy as np

from eddi.errors import EvaluationError
from eddi.evaluate import figures
from eddi.evaluate.calibration import Calibration
from eddi.evaluate.cost_frontier import Frontier
from eddi.evaluate.curves import Curves, Metric, Numbers
from eddi.evaluate.decision_trace import decision_process as decision_process
from eddi.evaluate.figures import COLOURS, FAINT, INK, MARKERS, SMALL
from eddi.model.prediction import COVERAGE

MAX_COSTS = 1_000  # points of the cost axis: more than a line of print can show
MAX_FIGURES = 1_000  # cells up to which a heat map says its figures
NAMES: dict[str, str] = {
    "rmse": "error (RMSE)",
    "draw_rmse": "error of draws (RMSE)",
    "nll": "negative log-likelihood (nats)",
    "accuracy": "accuracy",
    "brier": "Brier score",
}


def information_curves(
    curves: Mapping[str, Curves],
    path: str | PathLike[str],
    *,
    target: str = "",
    unit: str = "",
    metric: Metric = "rmse",
    against: Literal["steps", "cost"] = "steps",
) -> None:
    """Draw a metric against questions asked or cost spent, one line a strategy, to ``path``.

    Bands are one standard error over rows to either side. The format, PNG, SVG or PDF, is that of the
    path's extension.

    Args:
        curves: simulations by the name to show.
        path: where to.
        target: what to call the target; its own name where left out.
        unit: of the target; its own where left out.
        metric: rmse, draw_rmse, nll, accuracy or brier.
        against: "steps" (questions asked) or "cost" (what they cost).
    """
    if not curves:
        raise EvaluationError("there is no curve to draw. Give at least one simulation.")
    if against not in ("steps", "cost"):
        raise EvaluationError(f"curves are drawn against 'steps' or 'cost', not {against!r}.")
    where = figures.check_path(path)
    figure = figures.figure(6.4, 4.0)
    axes = figure.subplots()
    figures.tidy(axes)
    lines = [
        _line(axes, curve, metric, against, place=place) for place, curve in enumerate(curves.values())
    ]
    first = next(iter(curves.values()))
    axes.set_xlabel("questions asked" if against == "steps" else "cost spent", color=INK)
    axes.set_ylabel(_metric_label(metric, target or first.target, unit or first.unit), color=INK)
    figures.title(axes, "What each answer is worth")
    axes.margins(x=0.02)
    if against == "steps":
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(lines, [figures.label(name, 40) for name in curves], frameon=False, fontsize=SMALL + 1)
    figures.save(figure, where)


def _metric_label(metric: Metric, target: str, unit: str) -> str:
    words = f"{figures.label(target)}: {NAMES[metric]}"
    return f"{words}, {figures.label(unit)}" if unit and metric in ("rmse", "draw_rmse") else words


def _line(axes: Any, curve: Curves, metric: Metric, against: str, *, place: int) -> Any:
    """One curve and its band; returns the line."""
    colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
    at: Numbers = np.arange(curve.n_steps + 1, dtype=np.float64)
    shown, drawstyle = curve, "default"
    if against == "cost":
        paid = np.unique(curve.spent)
        at = paid if len(paid) <= MAX_COSTS else np.linspace(0, paid[-1], MAX_COSTS)
        # What is known changes when a question is paid for, and not in between.
        shown, marker, drawstyle = curve.by_cost(at), "", "steps-post"
    spread = shown.standard_error_of(metric)
    value: Numbers = getattr(shown, metric)
    step = "post" if against == "cost" else None
    axes.fill_between(at, value - spread, value + spread, step=step, color=colour, alpha=0.15, lw=0)
    dots = {"marker": marker, "ms": 4.5, "mec": "white", "mew": 0.6} if marker else {}
    return axes.plot(at, value, color=colour, lw=1.8, drawstyle=drawstyle, **dots)[0]


def cost_frontier(
    frontiers: Mapping[str, Frontier], path: str | PathLike[str], *, metric: Metric = "rmse"
) -> None:
    """Draw what interviews end with against what they cost, a point a price, one line a strategy.

    Bars are one standard error over rows to either side.
    """
    if not frontiers:
        raise EvaluationError("there is no frontier to draw. Give at least one.")
    where = figures.check_path(path)
    figure = figures.figure(6.4, 4.0)
    axes = figure.subplots()
    figures.tidy(axes)
    for place, (name, each) in enumerate(frontiers.items()):
        style = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        bars = {"yerr": each.standard_error(metric), "elinewidth": 1, "label": figures.label(name, 40)}
        axes.errorbar(each.cost, each.error(metric), lw=1.6, ms=5, mec="white", mew=0.6, **style, **bars)
    first = next(iter(frontiers.values())).curves[0]
    axes.set_xlabel("mean cost of an interview", color=INK)
    axes.set_ylabel(_metric_label(metric, first.target, first.unit), color=INK)
    figures.title(axes, "What certainty costs")
    axes.legend(frameon=False, fontsize=SMALL + 1)
    figures.save(figure, where)


def choices(curves: Curves, path: str | PathLike[str], *, n_steps: int | None = None) -> None:
    """Draw which question was asked when: the share of rows asked each question at each step.

    Questions that were never asked are left out; those asked earliest stand on top.
    """
    where = figures.check_path(path)
    order = curves.order[:, :n_steps]
    asked = [place for place in range(len(curves.questions)) if (order == place).any()]
    if not asked:
        raise EvaluationError("no question was asked in this simulation; there is nothing to draw.")
    shares = np.stack([(order == place).mean(0) for place in asked])  # [questions, steps]
    steps = np.arange(1, order.shape[1] + 1)
    # Whoever is asked of few rows counts as asked after the last step for the others.
    when = shares @ steps + (1 - shares.sum(1)) * (len(steps) + 1)
    first = np.argsort(when, kind="stable")
    names = [figures.label(curves.questions[asked[place]]) for place in first]
    figure = figures.figure(2.6 + 0.42 * max(len(steps), 5), 1.2 + 0.27 * len(names))
    axes = figure.subplots()
    _heat_map(figure, axes, shares[first], names)
    axes.set_xticks(np.arange(len(steps)), steps)
    axes.set_xlabel("question number", color=INK)
    figures.title(axes, f"What was asked when, of {curves.n_rows:,} rows")
    figures.save(figure, where)


def _heat_map(figure: Any, axes: Any, shares: Numbers, names: list[str]) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("worth", ["#ffffff", "#9ecae1", "#0072B2", "#08306b"])
    most = float(shares.max())
    image = axes.imshow(100 * shares, cmap=colours, vmin=0, vmax=100 * most, aspect="auto")
    axes.set_yticks(np.arange(len(names)), names)
    axes.tick_params(colors=INK, labelsize=SMALL + 0.5, length=0)
    axes.spines[:].set_visible(False)
    axes.set_xticks(np.arange(shares.shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=figures.PALE, lw=0.8)
    axes.tick_params(which="minor", length=0)
    for (row, column), share in np.ndenumerate(shares if shares.size <= MAX_FIGURES else shares[:0]):
        if share >= 0.005:
            ink = "white" if share > most / 2 else INK
            words = {"ha": "center", "va": "center", "color": ink, "size": SMALL - 1}
            axes.text(column, row, f"{100 * share:.0f}", **words)
    bar = figure.colorbar(image, ax=axes, aspect=max(12, len(names)), shrink=0.9, pad=0.02)
    bar.set_label("% of rows", color=INK, fontsize=SMALL + 0.5)
    bar.ax.tick_params(labelsize=SMALL, length=2)
    bar.outline.set_visible(False)


def calibration(
    curves: Curves, path: str | PathLike[str], *, steps: tuple[int, ...] | None = None
) -> None:
    """Draw whether stated certainty comes true: before, half-way, and in the end.

    Levels: how often what was given a probability happened, in ten bins (of the second level of two,
    otherwise of the most likely one). Quantities: how often central intervals hold the truth, against
    how often they should. On the diagonal all is well.
    """
    where = figures.check_path(path)
    shown = steps or tuple(sorted({0, (curves.n_steps + 1) // 2, curves.n_steps}))
    figure = figures.figure(4.6, 5.0)
    axes = figure.subplots()
    figures.tidy(axes, grid="both")
    axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), label="perfect")
    draw = _nominal if curves.rank is not None else _reliability
    for place, step in enumerate(shown):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        # Earlier beliefs are alike and take few points: they stand in front of later ones.
        style = {"color": colour, "marker": marker, "label": _after(step), "zorder": 20 - place}
        draw(axes, Calibration.at(curves, step), style)
    _calibration_labels(axes, curves)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figures.title(axes, f"Calibration of {figures.label(curves.target)}")
    figure.legend(frameon=False, fontsize=SMALL + 0.5, loc="outside lower center", ncols=2)
    figures.save(figure, where)


def _after(step: int) -> str:
    if step == 0:
        return "before the first question"
    return f"after {step} question{'' if step == 1 else 's'}"


def _nominal(axes: Any, found: Calibration, style: dict[str, Any]) -> None:
    axes.fill_between(found.stated, found.low, found.high, color=style["color"], alpha=0.15, lw=0)
    axes.plot(found.stated, found.came, ms=3.5, mec="white", mew=0.5, lw=1.5, **style)
    axes.axvline(COVERAGE, color=figures.PALE, lw=1.2, zorder=0)


def _reliability(axes: Any, found: Calibration, style: dict[str, Any]) -> None:
    axes.vlines(found.stated, found.low, found.high, color=style["color"], lw=1)
    axes.plot(found.stated, found.came, ms=5.5, mec="white", mew=0.6, lw=1.3, **style)


def _calibration_labels(axes: Any, curves: Curves) -> None:
    if curves.rank is not None:
        axes.set_xlabel("how often the interval should hold the truth", color=INK)
        axes.set_ylabel("how often it does", color=INK)
        return
    what = figures.label(str(curves.levels[1])) if len(curves.levels) == 2 else "the most likely level"
    axes.set_xlabel(f"stated probability of {what}", color=INK)
    axes.set_ylabel("how often it came true", color=INK)
