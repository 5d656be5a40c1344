"""Fixtures of the benchmark tests: a folder of small artificial datasets."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # on a busy machine, several threads make small matrices slower

import gzip
import struct
from urllib.error import URLError

import numpy as np
import pytest
import torch

from eddi_benchmarks.data import download
from eddi_benchmarks.data.exact_network import Conditional, ExactNetwork


@pytest.fixture(autouse=True, scope="session")  # before fixtures of any scope that train a model
def one_thread():
    """Use one thread: on a busy machine, several make small networks many times slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """No test downloads anything."""

    def refuse(request, _schemes):
        raise URLError(f"tests have no network access, so {request.full_url} cannot be opened")

    monkeypatch.setattr(download, "open_url", refuse)


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty EDDI_DATA folder, and an empty cache next to it."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("EDDI_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def yacht(data):
    """An artificial table of 40 rows named yacht: two correlated numbers and an integer."""
    random = np.random.default_rng(0)
    first = random.normal(size=40)
    rows = zip(first, 2 * first + 0.1 * random.normal(size=40), random.integers(0, 9, 40), strict=True)
    lines = ["length,width,crew", *(f"{a:.6f},{b:.6f},{c}" for a, b, c in rows)]
    (data / "yacht").mkdir()
    (data / "yacht" / "data.csv").write_text("\n".join(lines) + "\n")
    return data / "yacht"


@pytest.fixture
def mnist(data):
    """Three training and two test images of 28 x 28 pixels, named mnist."""
    folder = data / "mnist"
    folder.mkdir()
    for part, n_images in (("train", 3), ("t10k", 2)):
        images = np.arange(n_images * 784).astype(np.uint8)
        header = struct.pack(">BBBBIII", 0, 0, 8, 3, n_images, 28, 28)
        _zip(folder / f"{part}-images-idx3-ubyte.gz", header + images.tobytes())
        header = struct.pack(">BBBBI", 0, 0, 8, 1, n_images)
        _zip(folder / f"{part}-labels-idx1-ubyte.gz", header + bytes(range(7, 7 + n_images)))
    return folder


@pytest.fixture(scope="session")
def illness():
    """A network of an illness, a reliable and an unreliable test, a habit, and an unrelated coin."""

    def given(parent, if_no, if_yes):
        return (parent,), np.array([[1 - if_no, 1 - if_yes], [if_no, if_yes]])

    levels = dict.fromkeys(("habit", "ill", "reliable", "unreliable", "coin"), ("no", "yes"))
    return ExactNetwork.from_conditionals(
        levels,
        [
            Conditional("habit", (), np.array([0.5, 0.5])),
            Conditional("ill", *given("habit", 0.2, 0.6)),
            Conditional("reliable", *given("ill", 0.05, 0.95)),
            Conditional("unreliable", *given("ill", 0.4, 0.6)),
            Conditional("coin", (), np.array([0.5, 0.5])),
        ],
    )


def _zip(path, content):
    path.write_bytes(gzip.compress(content))
