"""What all pictures share: a figure without global state, colours everyone can tell apart, a file."""

from os import PathLike
from pathlib import Path
from typing import Any

from eddi.errors import EvaluationError, MissingExtraError

# Okabe and Ito (2008): told apart with any colour vision; yellow is left out, for paper is white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # and in grey print
INK, FAINT, PALE = "#222222", "#8a8a8a", "#e4e4e4"
BLUE, VERMILION, GREEN = COLOURS[:3]
DOTS_PER_INCH = 200
FORMATS = (".png", ".svg", ".pdf")
LONGEST_LABEL = 30  # letters; longer ones lose their middle
SMALL, TITLE = 8.0, 11.0  # points


def check_path(path: str | PathLike[str]) -> Path:
    """The path of a picture in a format we write.

    Raises:
        EvaluationError: its extension is another.
    """
    suffix = Path(path).suffix
    if suffix.lower() not in FORMATS:
        got = f"ends in {suffix!r}" if suffix else "has no extension"
        raise EvaluationError(
            f"a picture is written as PNG, SVG or PDF, but {str(path)!r} {got}. "
            "End its name in .png, .svg or .pdf."
        )
    return Path(path)


def figure(width: float, height: float) -> Any:
    """An empty figure, in inches, whose parts make room for each other."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "pictures need matplotlib. Install it with `pip install eddi-ml[plots]`."
        ) from None
    return Figure(figsize=(width, height), layout="constrained")


def save(picture: Any, path: Path) -> None:
    """Write the figure, as large as what is on it needs."""
    picture.savefig(path, dpi=DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.08)


def tidy(axes: Any, *, grid: str = "y") -> None:
    """Axes with nothing on them that says nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=SMALL + 0.5, length=3, color=FAINT)
    if grid:
        axes.grid(axis=grid, color=PALE, lw=0.8)
    axes.set_axisbelow(True)


def title(axes: Any, words: str) -> None:
    axes.set_title(words, loc="left", fontsize=TITLE, fontweight="bold", color=INK)


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """A name as it may stand in a picture: on one line, not too long, a dollar being a dollar."""
    words = " ".join(name.split())
    if len(words) > longest:  # the middle goes, for long names often differ in their ends
        front, back = longest - longest // 3 - 1, longest // 3
        words = f"{words[:front].rstrip()}…{words[-back:].lstrip()}"
    words = words.replace("$", r"\$")
    return f" {words}" if words.startswith("_") else words  # matplotlib hides labels that begin so
