"""MNIST handwritten digits as a table."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi_benchmarks.data.dataset import Dataset, DatasetError
from eddi_benchmarks.data.download import Remote

BASE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist"
IDX_UNSIGNED_BYTES = 0x08  # type code in the header of an IDX file
FILES = {
    "train-images-idx3-ubyte.gz": (
        "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
        Remote(
            f"{BASE_URL}/train-images-idx3-ubyte.gz",
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            9_912_422,
        ),
    ),
    "train-labels-idx1-ubyte.gz": (
        "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
        Remote(
            f"{BASE_URL}/train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            28_881,
        ),
    ),
    "t10k-images-idx3-ubyte.gz": (
        "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341",
        Remote(
            f"{BASE_URL}/t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            1_648_877,
        ),
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6",
        Remote(
            f"{BASE_URL}/t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            4_542,
        ),
    ),
}
"""SHA-256 of our file, and the public file, by name; they differ only in their compression."""


def read_mnist(folder: Path) -> pa.Table:
    """Read 70,000 images, the 60,000 training images first: 784 pixels from 0 to 255, then the digit."""
    images = np.concatenate(
        [_read_idx(folder / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    )
    digits = np.concatenate(
        [_read_idx(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")]
    )
    pixels = np.ascontiguousarray(images.reshape(len(images), -1).T)  # [pixels, images]
    names = [f"pixel_{i}" for i in range(len(pixels))]
    return pa.table([*map(pa.array, pixels), pa.array(digits)], names=[*names, "digit"])


def _read_idx(path: Path) -> NDArray[Any]:
    """Read an IDX file: two zero bytes, a type code, the number of axes, their sizes, the values."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != bytes([0, 0, IDX_UNSIGNED_BYTES]):
        raise DatasetError(f"{path.name} is not an IDX file of bytes. Get the original file.")
    n_axes = content[3]
    shape = np.frombuffer(content, ">u4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


MNIST = Dataset(
    "MNIST handwritten digits (LeCun, Cortes & Burges), the four gzipped IDX files",
    "copyright of LeCun and Cortes, commonly distributed under CC BY-SA 3.0",
    {name: sha256 for name, (sha256, _) in FILES.items()},
    read=read_mnist,
    downloads={name: remote for name, (_, remote) in FILES.items()},
)
