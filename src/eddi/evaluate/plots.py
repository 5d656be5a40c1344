"""Pictures of information curves."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from eddi.errors import MissingExtraError
from eddi.evaluate.curves import Curves

COLOURS = ("#0b6e4f", "#c8553d", "#3d5a80", "#8a6d3b")
DOTS_PER_INCH = 160


def information_curves(
    curves: Mapping[str, Curves], path: str | PathLike[str], *, target: str, unit: str = ""
) -> None:
    """Draw error against questions asked, one line a strategy, to ``path`` (PNG, SVG or PDF)."""
    figure, axes = _canvas()
    for (name, curve), colour in zip(curves.items(), COLOURS, strict=False):
        _line(axes, name, curve, colour)
    axes.set_xlabel("questions asked")
    axes.set_ylabel(f"error of {target} (RMSE{', ' + unit if unit else ''})")
    axes.set_title("What each answer is worth", loc="left", fontweight="bold")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight")


def _canvas() -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "pictures need matplotlib. Install it with `pip install eddi-ml[plots]`."
        ) from None
    figure = Figure(figsize=(6.4, 4.0))
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e6e6e6")
    axes.set_axisbelow(True)
    return figure, axes


def _line(axes: Any, name: str, curve: Curves, colour: str) -> None:
    steps = np.arange(len(curve.rmse))
    # The band is one standard error of the RMSE, by the delta method on the mean squared error.
    squares = curve.errors**2
    n_rows = np.maximum(np.isfinite(squares).sum(0), 1)
    spread = np.nanstd(squares, axis=0) / np.sqrt(n_rows) / (2 * np.maximum(curve.rmse, 1e-12))
    axes.fill_between(steps, curve.rmse - spread, curve.rmse + spread, color=colour, alpha=0.15, lw=0)
    axes.plot(steps, curve.rmse, color=colour, marker="o", ms=4, lw=2, label=name)
