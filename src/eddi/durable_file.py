"""Files that appear complete or not at all, and files that only their owner can read."""

import os
import time
from pathlib import Path
from typing import BinaryIO

IS_WINDOWS = os.name == "nt"
RETRY_DELAYS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # a reader closes a small file within milliseconds

OWNER_ONLY = 0o600  # mode of a file that other users of the machine must not read
OWNER_ONLY_FOLDER = 0o700


def create_private_folder(path: Path) -> None:
    """Create a folder, and its parents if necessary, that only its owner can enter."""
    if not path.parent.exists():
        create_private_folder(path.parent)
    path.mkdir(OWNER_ONLY_FOLDER, exist_ok=True)


def open_private_file(path: Path, *, append: bool = False) -> BinaryIO:
    """Open a file for writing that only its owner can read and write."""
    flags = os.O_CREAT | os.O_WRONLY | (os.O_APPEND if append else os.O_TRUNC)
    return os.fdopen(os.open(path, flags, OWNER_ONLY), "ab" if append else "wb")


def make_private(folder: Path) -> None:
    """Give a folder and everything in it modes that keep other users of the machine out."""
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = OWNER_ONLY_FOLDER if path.is_dir() else OWNER_ONLY
        if path.exists() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def name_unfinished(path: Path) -> Path:
    """The file to write to before `finish_file` gives it its name."""
    return path.with_name(path.name + ".unfinished")


def finish_file(unfinished: Path, path: Path) -> None:
    """Bring a written file to disk and rename it to ``path``; an existing file is replaced.

    After a crash, ``path`` is either the old file or the new one. Windows refuses to replace a file that
    another program has open, so it is tried again for a while there.
    """
    with unfinished.open("r+b") as file:  # Windows flushes only files that are open for writing
        os.fsync(file.fileno())
    for delay in RETRY_DELAYS_S if IS_WINDOWS else ():
        try:
            unfinished.replace(path)
        except PermissionError:
            time.sleep(delay)
        else:
            return
    unfinished.replace(path)
