"""The public datasets our claims are measured on: where they lie, and whether they are the ones we mean.

A dataset is a folder of its name, in the folder of the environment variable EDDI_DATA or in the
user's cache. None of them is part of this package.
"""

import gzip
import hashlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import EddiError, EddiWarning
from eddi.table import formats

FOLDER_VARIABLE = "EDDI_DATA"
IDX_UNSIGNED_BYTES = 0x08  # the type code in an IDX file's header


class DatasetError(EddiError, LookupError):
    """A dataset is unknown, not on this machine, or not in its format."""


@dataclass(frozen=True)
class Dataset:
    """Where a dataset comes from, and its files with their SHA-256."""

    source: str
    files: dict[str, str]


def _uci(source: str, sha256: str) -> Dataset:
    return Dataset(
        f"{source}; save it as data.csv with a line of names, the target last", {"data.csv": sha256}
    )


DATASETS = {
    "boston": _uci(
        "Boston housing (Harrison & Rubinfeld 1978), StatLib at Carnegie Mellon",
        "59f7ce87c12ec1b5171d45cf591ff1111ecb9b3bf127bacf1a7e46be883ed2dd",
    ),
    "concrete": _uci(
        "Concrete Compressive Strength, number 165 of the UCI Machine Learning Repository",
        "431e0b0b8bab99794c905cb45440a089c32c8f6d14bfd2602d1449727db92222",
    ),
    "energy": _uci(
        "Energy Efficiency (heating load), number 242 of the UCI Machine Learning Repository",
        "fbe8cb33b36297feb31a32904d8fec2c4cdf0cb7ec19cd0f2da52034048f6fe7",
    ),
    "wine_red": _uci(
        "Wine Quality (red), number 186 of the UCI Machine Learning Repository",
        "0a217383ca4f6abe5f4df1bfa741de54979537957374d8a4c0b44960db1be840",
    ),
    "kin8nm": _uci(
        "kin8nm of the Delve kin family (University of Toronto), number 189 of OpenML",
        "e74acfb93744b300a8bca76890a2a4a2f3dedf0ea6a76a7fb353da44ee91c773",
    ),
    "yacht": _uci(
        "Yacht Hydrodynamics, number 243 of the UCI Machine Learning Repository",
        "a4a7e66ae52fa37ac87a8c9d5625ba36f17bb47a36696048036ab651bb57c1b1",
    ),
    "mnist": Dataset(
        "MNIST handwritten digits (LeCun, Cortes & Burges), the four gzipped IDX files",
        {
            f"{part}-ubyte.gz": sha256
            for part, sha256 in (
                (
                    "train-images-idx3",
                    "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
                ),
                (
                    "train-labels-idx1",
                    "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
                ),
                ("t10k-images-idx3", "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341"),
                ("t10k-labels-idx1", "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6"),
            )
        },
    ),
}
UCI = ("boston", "concrete", "energy", "wine_red", "kin8nm", "yacht")
"""The six sets of the paper's section 4.2."""


def find(name: str) -> Path:
    """The folder of the dataset ``name``.

    Raises:
        DatasetError: there is no such dataset, or this machine does not have all its files.
    """
    dataset = _dataset(name)
    places = [folder / name for folder in _folders()]
    for place in places:
        if all((place / file).is_file() for file in dataset.files):
            return place
    raise DatasetError(
        f"the dataset {name!r} is not on this machine: looked for {', '.join(dataset.files)} in "
        f"{' and '.join(map(str, places))}. Get {dataset.source}, and put the folder {name!r} into the "
        f"last of these places or into a folder that {FOLDER_VARIABLE} names."
    )


def load(name: str) -> pa.Table:
    """The dataset as a table, its target the last column; warns where its files are not ours."""
    folder = find(name)
    for file, expected in _dataset(name).files.items():
        if (found := _sha256(folder / file)) != expected:
            message = (
                f"{file} of the dataset {name!r} is not the file our numbers were taken on: its SHA-256 "
                f"is {found}, expected {expected}. Results may differ from the published ones."
            )
            warnings.warn(message, EddiWarning, stacklevel=2)
    return _read_mnist(folder) if name == "mnist" else formats.read(folder / "data.csv")


def checksum(name: str) -> str:
    """What the dataset on this machine is, in 64 letters: the SHA-256 of its file or of their sums."""
    folder = find(name)
    sums = [_sha256(folder / file) for file in _dataset(name).files]
    return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise DatasetError(f"there is no dataset {name!r}. Choose one of {', '.join(DATASETS)}.")
    return DATASETS[name]


def _folders() -> list[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddi"
    named = os.environ.get(FOLDER_VARIABLE)
    return [Path(named), cache] if named else [cache]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_mnist(folder: Path) -> pa.Table:
    """70,000 images, first the 60,000 for training: 784 pixels from 0 to 255, then the digit."""
    images = np.concatenate(
        [_read_idx(folder / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    )
    digits = np.concatenate(
        [_read_idx(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")]
    )
    pixels = np.ascontiguousarray(images.reshape(len(images), -1).T)  # [pixels, images]
    names = [f"pixel_{place}" for place in range(len(pixels))]
    return pa.table([*map(pa.array, pixels), pa.array(digits)], names=[*names, "digit"])


def _read_idx(path: Path) -> NDArray[Any]:
    """An array of the IDX format: two zero bytes, a type, the number of axes, their sizes, the bytes."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != bytes([0, 0, IDX_UNSIGNED_BYTES]):
        raise DatasetError(f"{path.name} is not an IDX file of bytes. Get the original file.")
    n_axes = content[3]
    shape = np.frombuffer(content, ">u4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
