"""Find, verify and load public datasets.

A dataset is a folder named after it, in the folder that the environment variable EDDI_DATA names or in
the user's cache. If it is in neither, it is downloaded into the cache, provided that its source offers
the exact file. No dataset is part of this package.
"""

import hashlib
import os
import warnings
from pathlib import Path

import pyarrow as pa

from eddi.errors import EddiWarning
from eddi_benchmarks.data.catalogue import DATASETS, UCI
from eddi_benchmarks.data.dataset import Dataset, DatasetError
from eddi_benchmarks.data.download import DownloadError, OnBytes, fetch

__all__ = ["DATASETS", "UCI", "DatasetError", "checksum", "find", "load", "verify"]

FOLDER_VARIABLE = "EDDI_DATA"


def find(name: str, *, on_progress: OnBytes | None = None) -> Path:
    """The folder of the dataset ``name``, which is downloaded into the user's cache if necessary.

    Raises:
        DatasetError: there is no such dataset, or it is neither on this machine nor at its source.
    """
    dataset = _lookup(name)
    roots = _data_folders()
    folders = [root / name for root in roots]
    candidates = [*folders, *(roots[:-1] if dataset.allow_root else [])]
    for folder in candidates:
        if all((folder / file).is_file() for file in dataset.files):
            return folder
    failure = ""
    if dataset.downloads:
        try:
            return _download(dataset, folders[-1], on_progress)
        except DownloadError as error:
            failure = f" The download failed: {error}."
    raise DatasetError(
        f"the dataset {name!r} is not on this machine: looked for {', '.join(dataset.files)} in "
        f"{' and '.join(map(str, candidates))}.{failure} Get {dataset.source} ({dataset.licence}). "
        f"Then put the folder {name!r} into {folders[-1].parent} or into the folder that "
        f"{FOLDER_VARIABLE} names."
    )


def load(name: str) -> pa.Table:
    """Load the dataset as a table, its target last; warn if its files differ from ours."""
    return _lookup(name).read(verify(name))


def verify(name: str) -> Path:
    """The folder of the dataset; warn if its files are not those of the published results."""
    folder, dataset = find(name), _lookup(name)
    for file, expected in dataset.files.items():
        if expected is None:
            continue
        actual = _sha256(folder / file)
        public = dataset.downloads.get(file)
        if actual not in (expected, public.sha256 if public else expected):
            message = (
                f"{file} of the dataset {name!r} is not the file of the published results: its SHA-256 "
                f"is {actual}, expected {expected}. Results may differ from the published ones."
            )
            warnings.warn(message, EddiWarning, stacklevel=3)
    return folder


def checksum(name: str) -> str:
    """The SHA-256 of the dataset's file, or of the checksums of its files if it has several."""
    folder, dataset = find(name), _lookup(name)
    extra = sorted(folder.glob(dataset.extra_files)) if dataset.extra_files else []
    checksums = [_sha256(path) for path in [*(folder / file for file in dataset.files), *extra]]
    if len(checksums) == 1:
        return checksums[0]
    return hashlib.sha256("".join(checksums).encode()).hexdigest()


def _lookup(name: str) -> Dataset:
    if name not in DATASETS:
        raise DatasetError(f"there is no dataset {name!r}. Choose one of {', '.join(DATASETS)}.")
    return DATASETS[name]


def _download(dataset: Dataset, folder: Path, on_progress: OnBytes | None) -> Path:
    for file, remote in dataset.downloads.items():
        fetch(remote, folder / file, on_progress=on_progress)
    if dataset.convert:
        dataset.convert(folder)
    return folder


def _data_folders() -> list[Path]:
    """The folders to search, the user's cache last."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddi"
    configured = os.environ.get(FOLDER_VARIABLE)
    return [Path(configured), cache] if configured else [cache]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
