"""Information curves of many runs: one panel an encoder or a dataset, one line a strategy."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eddi.evaluate import figures
from eddi.evaluate.figures import COLOURS, INK, MARKERS, SMALL
from eddi.evaluate.plots import NAMES
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.report.content import Picture

ENCODERS = {"zi": "ZI", "zi-m": "ZI-m", "pnp": "PNP", "pn": "PN"}  # in the order of the paper's tables
STRATEGIES = {"eddi": "EDDI", "rand": "Random", "sing": "Single best", "lasso": "LASSO"}
LOOKS = {  # the paper's green and pink for RAND and SING
    "eddi": (COLOURS[0], MARKERS[0]),
    "rand": (COLOURS[2], MARKERS[2]),
    "sing": (COLOURS[3], MARKERS[1]),
    "lasso": (COLOURS[4], MARKERS[3]),
}
PANEL_WIDTH, PANEL_HEIGHT, LEGEND_HEIGHT = 2.9, 2.45, 0.45  # inches
MAX_MARKS = 16  # on one line; more would hide it


def curve_picture(
    outcomes: Sequence[Outcome],
    metric: str,
    path: Path,
    *,
    dataset: str | None = None,
    strategies: Sequence[str] = ("eddi", "rand", "sing"),
) -> Picture:
    """Draw a metric against questions asked on one dataset, a panel an encoder; bands are over seeds.

    Args:
        outcomes: of the runs; an encoder of which none is finished has no panel.
        metric: one of those the runs measured.
        path: of the picture to write.
        dataset: whose runs to draw; all where None.
        strategies: the lines.
    """
    here = [each for each in outcomes if dataset is None or each.settings.get("dataset") == dataset]
    panels = {
        words: some
        for encoder, words in ENCODERS.items()
        if (some := [each for each in here if each.settings["set_encoder"] == encoder])
    }
    n_seeds = len({each.settings["seed"] for each in here})
    where = f" on {dataset}" if dataset else ""
    words = f"{_of(metric, strategies)}{where}, by set encoder. {band_words(n_seeds)}"
    return _sheet(panels, metric, path, strategies, words, alike=True)


def dataset_picture(
    outcomes: Sequence[Outcome],
    metric: str,
    path: Path,
    *,
    set_encoder: str = "pnp",
    strategies: Sequence[str] = ("eddi", "rand", "sing"),
) -> Picture:
    """Draw a metric against questions asked with one encoder, a panel a dataset."""
    here = [each for each in outcomes if each.settings["set_encoder"] == set_encoder]
    names = dict.fromkeys(str(each.settings["dataset"]) for each in here)
    panels = {name: [each for each in here if each.settings["dataset"] == name] for name in names}
    n_seeds = len({each.settings["seed"] for each in here})
    words = f"{_of(metric, strategies)} with {ENCODERS[set_encoder]}, by dataset. {band_words(n_seeds)}"
    return _sheet(panels, metric, path, strategies, words, alike=False)


def _of(metric: str, strategies: Sequence[str]) -> str:
    named = ", ".join(STRATEGIES[name] for name in strategies)
    what = NAMES[metric]
    return f"{what[0].upper()}{what[1:]} of {named} after each question"


def band_words(n_seeds: int) -> str:
    """What the bands are."""
    if n_seeds < 2:
        return "One repetition."
    return f"Mean of {n_seeds} repetitions; bands are one standard error to either side."


def _sheet(
    panels: dict[str, list[Outcome]],
    metric: str,
    path: Path,
    strategies: Sequence[str],
    words: str,
    *,
    alike: bool,
) -> Picture:
    """Panels side by side (at most four, or three where there are more), one legend above."""
    n_columns = max(1, len(panels) if len(panels) <= 4 else 3)
    n_lines = max(1, math.ceil(len(panels) / n_columns))
    figure = figures.figure(PANEL_WIDTH * n_columns + 0.4, PANEL_HEIGHT * n_lines + LEGEND_HEIGHT)
    grid = figure.subplots(n_lines, n_columns, squeeze=False, sharey=alike, sharex=alike)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    lines: dict[str, Any] = {}
    for axes, (name, outcomes) in zip(grid.flat, panels.items(), strict=False):
        lines |= _panel(axes, outcomes, metric, strategies)
        figures.title(axes, figures.label(name))
        axes.set_xlabel("questions asked", color=INK, fontsize=SMALL + 0.5)
    figure.supylabel(NAMES[metric], color=INK, fontsize=SMALL + 1.5)
    shown = {name: lines[name] for name in strategies if name in lines}
    labels = [STRATEGIES[name] for name in shown]
    figure.legend(
        list(shown.values()),
        labels,
        loc="outside upper center",
        ncols=max(1, len(labels)),
        frameon=False,
        fontsize=SMALL + 1.5,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figures.save(figure, figures.check_path(path))
    return Picture(path, words)


def _panel(axes: Any, outcomes: list[Outcome], metric: str, strategies: Sequence[str]) -> dict[str, Any]:
    """One panel's lines and bands; returns the lines by strategy."""
    figures.tidy(axes)
    lines = {}
    for name in reversed(strategies):  # the first is drawn last, above the others
        told = [each.figures["strategies"].get(name) for each in outcomes]
        curves = np.array([each["curves"][metric] for each in told if each], dtype=np.float64)
        if len(curves):
            lines[name] = line(axes, LOOKS[name], curves)
    axes.margins(x=0.02)
    axes.locator_params(axis="x", integer=True)
    return lines


def line(axes: Any, look: tuple[str, str], curves: Any) -> Any:
    """The mean of curves [seeds, steps + 1], and one standard error to either side."""
    colour, marker = look
    mean, at = curves.mean(0), np.arange(curves.shape[1])
    if len(curves) > 1:
        error = curves.std(0, ddof=1) / math.sqrt(len(curves))
        axes.fill_between(at, mean - error, mean + error, color=colour, alpha=0.18, lw=0)
    dots = {"marker": marker, "ms": 3.8, "mec": "white", "mew": 0.5}
    dots["markevery"] = max(1, math.ceil(len(at) / MAX_MARKS))
    return axes.plot(at, mean, color=colour, lw=1.6, **dots)[0]
