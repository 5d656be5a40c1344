"""Shared parts of all plots: figures without global state, a colour-blind safe palette, and saving."""

from os import PathLike
from pathlib import Path
from typing import Any

from eddi.errors import EvaluationError, MissingExtraError

# Okabe and Ito (2008), safe for all kinds of colour vision; without yellow, too pale on white paper.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # distinguish lines in greyscale print
INK, FAINT, PALE = "#222222", "#8a8a8a", "#e4e4e4"
BLUE, VERMILION, GREEN = COLOURS[:3]
DOTS_PER_INCH = 200
FORMATS = (".png", ".svg", ".pdf")
MAX_LABEL_LENGTH = 30  # characters; longer labels are shortened in the middle
SMALL, TITLE = 8.0, 11.0  # font sizes in points


def check_path(path: str | PathLike[str]) -> Path:
    """Check that a plot's path has a supported extension, and return it.

    Raises:
        EvaluationError: the extension is not .png, .svg or .pdf.
    """
    suffix = Path(path).suffix
    if suffix.lower() not in FORMATS:
        problem = f"ends in {suffix!r}" if suffix else "has no extension"
        raise EvaluationError(
            f"plots are saved as PNG, SVG or PDF, but {str(path)!r} {problem}. "
            "Use a file name that ends in .png, .svg or .pdf."
        )
    return Path(path)


def figure(width: float, height: float) -> Any:
    """Create an empty figure of a size in inches, with constrained layout."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "plots need matplotlib. Install it with `pip install eddi-ml[plots]`."
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path) -> None:
    """Write a figure, cropped to its content."""
    figure.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.08)


def tidy(axes: Any, *, grid: str = "y") -> None:
    """Remove superfluous spines and set colours, font sizes and grid lines of some axes."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=SMALL + 0.5, length=3, color=FAINT)
    if grid:
        axes.grid(axis=grid, color=PALE, lw=0.8)
    axes.set_axisbelow(True)


def title(axes: Any, text: str) -> None:
    """Set the title of some axes."""
    axes.set_title(text, loc="left", fontsize=TITLE, fontweight="bold", color=INK)


def label(name: str, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Format a name as a label: on one line, shortened, and without matplotlib's special characters."""
    text = " ".join(name.split())
    if len(text) > max_length:  # shorten the middle: long names often differ at the end
        n_front, n_back = max_length - max_length // 3 - 1, max_length // 3
        text = f"{text[:n_front].rstrip()}…{text[-n_back:].lstrip()}"
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text  # matplotlib hides labels that start with _
