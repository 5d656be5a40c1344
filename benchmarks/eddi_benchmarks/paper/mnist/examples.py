"""Example images of one model: completed test images, and images generated from the prior."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import eddi
from eddi.table.evidence import Evidence

FILE = "images.npz"
STORED_NAMES = {"completions": "several"}  # array names that differ from the field names
N_INPUTS = 4  # images completed several times
N_COMPLETIONS = 8
N_GENERATED = 36
AMBIGUOUS_DIGITS = (4, 9, 3, 8)  # whose lower part determines the digit least

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Examples:
    """Example images [..., pixels]; grey values from 0 (paper) to 255 (ink)."""

    truth: Pixels  # one image of each digit
    random: Pixels  # mask of pixels removed at random
    random_filled: Pixels
    region: Pixels  # mask of pixels removed from the top
    region_filled: Pixels
    inputs: Pixels  # indices in truth of the images completed several times
    completions: Pixels  # [inputs, completions, pixels]
    generated: Pixels

    @classmethod
    def from_model(
        cls,
        model: eddi.PartialVAE,
        truth: Evidence,
        digits: NDArray[np.uint8],
        *,
        removals: Mapping[str, NDArray[np.bool_]],
        seed: int,
    ) -> "Examples":
        """Complete the first test image of each digit; all models of a seed get the same images."""
        distinct, first = np.unique(digits, return_index=True)
        images = truth[first]
        random, region = (removals[name][first] for name in ("random", "region"))
        ambiguous = [int(i) for digit in AMBIGUOUS_DIGITS for i in np.flatnonzero(distinct == digit)]
        inputs = np.array(ambiguous[:N_INPUTS] or [0], dtype=np.uint8)
        noise = torch.randn(
            (N_GENERATED, model.network_.latent), generator=torch.Generator().manual_seed(seed)
        )
        return cls(
            truth=_to_grey(images.values),
            random=random.astype(np.uint8),
            random_filled=_complete(model, images, random, n=1, seed=seed)[:, 0],
            region=region.astype(np.uint8),
            region_filled=_complete(model, images, region, n=1, seed=seed + 1)[:, 0],
            inputs=inputs,
            completions=_complete(model, images[inputs], region[inputs], n=N_COMPLETIONS, seed=seed + 2),
            generated=_to_grey(_pixel_probabilities(model, noise)),
        )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {_stored_name(field.name): getattr(self, field.name) for field in fields(self)}
        np.savez_compressed(folder / FILE, **arrays)

    @classmethod
    def load(cls, folder: Path) -> "Examples | None":
        """Load what `save` stored; None if there is nothing."""
        if not (folder / FILE).is_file():
            return None
        with np.load(folder / FILE, allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[_stored_name(field.name)] for field in fields(cls)})


def _stored_name(field: str) -> str:
    return STORED_NAMES.get(field, field)


@torch.no_grad()
def _complete(
    model: eddi.PartialVAE, images: Evidence, removed: NDArray[np.bool_], *, n: int, seed: int
) -> Pixels:
    """Fill the removed pixels of each image by ``n`` draws of z [images, n, pixels]."""
    fitted = model.fitted()
    posterior = fitted.posterior(fitted.code(images.hide(removed)))
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn((n, len(images), model.network_.latent), generator=random)
    probabilities = _pixel_probabilities(model, posterior.draw(noise.to(posterior.mean.device)))
    return _to_grey(np.where(removed, probabilities, images.values).swapaxes(0, 1))


@torch.no_grad()
def _pixel_probabilities(model: eddi.PartialVAE, z: torch.Tensor) -> NDArray[np.float32]:
    network = model.network_
    device = next(network.parameters()).device
    return np.asarray(network.moments(network.decode(z.to(device)))[0].cpu())


def _to_grey(shares: NDArray[np.floating[Any]]) -> Pixels:
    return np.asarray(np.rint(shares * 255), dtype=np.uint8)
