"""Pictures of digits: what a model fills in, what else it might have, and what it imagines."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import eddi
from eddi.evaluate import figures
from eddi.table.evidence import Evidence

FILE = "images.npz"
N_INPUTS = 4  # images completed several times
N_COMPLETIONS = 8
N_GENERATED = 36
AMBIGUOUS = (4, 9, 3, 8)  # digits of which the lower part says least
GAP = 3  # pixels between images
REMOVED = np.array([0.80, 0.87, 0.93])  # the colour of a removed pixel: neither ink nor paper

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Album:
    """What one model makes of a few test images; 0 is paper, 255 ink, all [..., pixels]."""

    truth: Pixels  # one image of each digit
    random: Pixels  # 1 where a pixel is removed at random
    random_filled: Pixels
    region: Pixels  # 1 where a pixel is removed from the top
    region_filled: Pixels
    inputs: Pixels  # places in truth of the images completed several times
    several: Pixels  # [inputs, completions, pixels]
    generated: Pixels

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez_compressed(folder / FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Album | None":
        """What `save` wrote, or None where nothing is."""
        if not (folder / FILE).is_file():
            return None
        with np.load(folder / FILE, allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})


def album(
    model: eddi.PartialVAE,
    truth: Evidence,
    digits: NDArray[np.uint8],
    removals: Mapping[str, NDArray[np.bool_]],
    *,
    seed: int,
) -> Album:
    """The first test image of each digit, filled in; the same images for every model of a seed."""
    shown, first = np.unique(digits, return_index=True)
    whole = truth[first]
    random, region = (removals[name][first] for name in ("random", "region"))
    wanted = [int(place) for digit in AMBIGUOUS for place in np.flatnonzero(shown == digit)]
    inputs = np.array(wanted[:N_INPUTS] or [0], dtype=np.uint8)
    chosen = whole[inputs]
    several = _filled(model, chosen, region[inputs], N_COMPLETIONS, seed=seed + 2)
    prior = torch.randn(
        (N_GENERATED, model.network_.latent), generator=torch.Generator().manual_seed(seed)
    )
    return Album(
        truth=_grey(whole.values),
        random=random.astype(np.uint8),
        random_filled=_filled(model, whole, random, 1, seed=seed)[:, 0],
        region=region.astype(np.uint8),
        region_filled=_filled(model, whole, region, 1, seed=seed + 1)[:, 0],
        inputs=inputs,
        several=several,
        generated=_grey(_chances(model, prior)),
    )


@torch.no_grad()
def _filled(
    model: eddi.PartialVAE, whole: Evidence, removed: NDArray[np.bool_], n: int, *, seed: int
) -> Pixels:
    """Each image with its removed pixels as ``n`` draws of z would have them [images, n, pixels]."""
    posterior = model.posterior(model.code(whole.hide(removed)))
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn((n, len(whole), model.network_.latent), generator=random)
    chances = _chances(model, posterior.draw(noise.to(posterior.mean.device)))
    return _grey(np.where(removed, chances, whole.values).swapaxes(0, 1))


@torch.no_grad()
def _chances(model: eddi.PartialVAE, z: torch.Tensor) -> NDArray[np.float32]:
    network = model.network_
    device = next(network.parameters()).device
    return np.asarray(network.moments(network.decode(z.to(device)))[0].cpu())


def _grey(shares: NDArray[np.floating[Any]]) -> Pixels:
    return np.asarray(np.rint(shares * 255), dtype=np.uint8)


def inpainting(albums: Mapping[str, Album], removal: str, path: Path) -> None:
    """A column for each digit: the truth, what was shown, and what each model makes of it."""
    first = next(iter(albums.values()))
    removed = getattr(first, removal)
    rows = {"truth": _painted(first.truth), "shown": _painted(first.truth, removed)}
    rows |= {name: _painted(getattr(made, f"{removal}_filled")) for name, made in albums.items()}
    picture = figures.figure(0.62 * len(first.truth) + 1, 0.62 * len(rows))
    axes = picture.subplots()
    _show(axes, _sheet(np.stack(list(rows.values()))))
    side = _side(first.truth) + GAP
    axes.set_yticks([GAP + side * (place + 0.5) - GAP / 2 for place in range(len(rows))], list(rows))
    axes.tick_params(axis="y", length=0, labelsize=figures.TITLE, labelcolor=figures.INK)
    figures.save(picture, path)


def several(albums: Mapping[str, Album], path: Path) -> None:
    """A panel for each model: what was shown, and several ways the model completes it."""
    picture = figures.figure(9.0, 0.3 + 2.15 * ((len(albums) + 1) // 2))
    panels = picture.subplots((len(albums) + 1) // 2, 2, squeeze=False).flat
    for (name, made), axes in zip(albums.items(), panels, strict=False):
        truth, removed = made.truth[made.inputs], made.region[made.inputs]
        cells = [_painted(truth, removed)[:, None], _painted(made.several)]
        _show(axes, _sheet(np.concatenate(cells, axis=1)))
        figures.title(axes, name)
    for axes in list(panels):  # those that are left over
        axes.set_axis_off()
    figures.save(picture, path)


def generated(albums: Mapping[str, Album], path: Path) -> None:
    """A panel for each model: images decoded from draws of the prior."""
    picture = figures.figure(2.5 * len(albums), 2.9)
    panels = picture.subplots(1, len(albums), squeeze=False)[0]
    for axes, (name, made) in zip(panels, albums.items(), strict=True):
        across = int(np.sqrt(len(made.generated)))
        cells = _painted(made.generated[: across * across])
        _show(axes, _sheet(cells.reshape(across, across, *cells.shape[1:])))
        figures.title(axes, name)
    figures.save(picture, path)


def _side(pixels: Pixels) -> int:
    return int(np.sqrt(pixels.shape[-1]))


def _painted(pixels: Pixels, removed: Pixels | None = None) -> NDArray[np.float64]:
    """Dark ink on white paper, removed pixels in a colour of their own [..., side, side, 3]."""
    side = _side(pixels)
    colours = np.repeat(1 - pixels[..., None] / 255, 3, axis=-1)
    if removed is not None:
        colours = np.where(removed[..., None] > 0, REMOVED, colours)
    return np.asarray(colours.reshape(*pixels.shape[:-1], side, side, 3))


def _sheet(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Images [down, across, side, side, 3] on one sheet, with gaps between and around."""
    down, across, side = cells.shape[:3]
    sheet = np.full((down * (side + GAP) + GAP, across * (side + GAP) + GAP, 3), 0.93)
    for row in range(down):
        for column in range(across):
            top, left = GAP + row * (side + GAP), GAP + column * (side + GAP)
            sheet[top : top + side, left : left + side] = cells[row, column]
    return sheet


def _show(axes: Any, sheet: NDArray[np.float64]) -> None:
    axes.imshow(sheet, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
