"""The description of a public dataset: its source, licence, files, and how to read it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from eddi.errors import EddiError
from eddi_benchmarks.data.download import Remote

CC_BY = "licence CC BY 4.0"


class DatasetError(EddiError, LookupError):
    """A dataset is unknown, not on this machine, or not in its format."""


@dataclass(frozen=True)
class Dataset:
    """A public dataset.

    Args:
        source: where it comes from, and which files to save if it cannot be downloaded.
        licence: its licence, or what is known about it.
        files: SHA-256 by file name; None for files whose checksum may not be published.
        read: reads the table from a folder with these files; the target is the last column.
        extra_files: glob pattern of further files, which are part of the checksum.
        allow_root: whether its files may also be directly in the data folder, without a subfolder.
        downloads: files to download, by name.
        convert: writes the files from the downloads, where they are not the same.
    """

    source: str
    licence: str
    files: Mapping[str, str | None]
    read: Callable[[Path], pa.Table]
    extra_files: str = ""
    allow_root: bool = False
    downloads: Mapping[str, Remote] = field(default_factory=dict)
    convert: Callable[[Path], None] | None = None
