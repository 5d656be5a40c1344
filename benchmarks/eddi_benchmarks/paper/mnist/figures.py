"""Figures of example images: completions by each model, and images generated from the prior."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.evaluate import figures
from eddi_benchmarks.paper.mnist.examples import Examples, Pixels

GAP = 3  # pixels between images
REMOVED_COLOUR = np.array([0.80, 0.87, 0.93])  # of removed pixels: neither ink nor paper
BACKGROUND = 0.93


def plot_inpainting(examples: Mapping[str, Examples], removal: str, path: Path) -> None:
    """Plot a column for each digit: the true image, the observed pixels, and each model's completion."""
    first = next(iter(examples.values()))
    removed = getattr(first, removal)
    rows = {"truth": _to_colours(first.truth), "shown": _to_colours(first.truth, removed)}
    rows |= {name: _to_colours(getattr(e, f"{removal}_filled")) for name, e in examples.items()}
    figure = figures.figure(0.62 * len(first.truth) + 1, 0.62 * len(rows))
    axes = figure.subplots()
    _show(axes, _tile(np.stack(list(rows.values()))))
    row_height = _side(first.truth) + GAP
    ticks = [GAP + row_height * (row + 0.5) - GAP / 2 for row in range(len(rows))]
    axes.set_yticks(ticks, list(rows))
    axes.tick_params(axis="y", length=0, labelsize=figures.TITLE, labelcolor=figures.INK)
    figures.save(figure, path)


def plot_completions(examples: Mapping[str, Examples], path: Path) -> None:
    """Plot a panel for each model: the observed pixels and several completions of them."""
    n_lines = (len(examples) + 1) // 2
    figure = figures.figure(9.0, 0.3 + 2.15 * n_lines)
    panels = figure.subplots(n_lines, 2, squeeze=False).flat
    for (name, e), axes in zip(examples.items(), panels, strict=False):
        observed = _to_colours(e.truth[e.inputs], e.region[e.inputs])[:, None]
        _show(axes, _tile(np.concatenate([observed, _to_colours(e.completions)], axis=1)))
        figures.title(axes, name)
    for axes in list(panels):  # unused panels
        axes.set_axis_off()
    figures.save(figure, path)


def plot_generated(examples: Mapping[str, Examples], path: Path) -> None:
    """Plot a panel for each model: images decoded from draws of the prior."""
    figure = figures.figure(2.5 * len(examples), 2.9)
    panels = figure.subplots(1, len(examples), squeeze=False)[0]
    for axes, (name, e) in zip(panels, examples.items(), strict=True):
        n_columns = int(np.sqrt(len(e.generated)))
        images = _to_colours(e.generated[: n_columns * n_columns])
        _show(axes, _tile(images.reshape(n_columns, n_columns, *images.shape[1:])))
        figures.title(axes, name)
    figures.save(figure, path)


def _side(pixels: Pixels) -> int:
    return int(np.sqrt(pixels.shape[-1]))


def _to_colours(pixels: Pixels, removed: Pixels | None = None) -> NDArray[np.float64]:
    """Dark ink on white paper; removed pixels have a colour of their own [..., side, side, 3]."""
    side = _side(pixels)
    colours = np.repeat(1 - pixels[..., None] / 255, 3, axis=-1)
    if removed is not None:
        colours = np.where(removed[..., None] > 0, REMOVED_COLOUR, colours)
    return np.asarray(colours.reshape(*pixels.shape[:-1], side, side, 3))


def _tile(images: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrange images [lines, columns, side, side, 3] in one image, with gaps around them."""
    n_lines, n_columns, side = images.shape[:3]
    shape = (n_lines * (side + GAP) + GAP, n_columns * (side + GAP) + GAP, 3)
    tiled = np.full(shape, BACKGROUND)
    for line in range(n_lines):
        for column in range(n_columns):
            top, left = GAP + line * (side + GAP), GAP + column * (side + GAP)
            tiled[top : top + side, left : left + side] = images[line, column]
    return tiled


def _show(axes: Any, image: NDArray[np.float64]) -> None:
    axes.imshow(image, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
