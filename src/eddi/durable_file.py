"""Files that appear complete or not at all, on every operating system."""

import os
import time
from pathlib import Path

IS_WINDOWS = os.name == "nt"
RETRY_DELAYS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # a reader closes a small file within milliseconds


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
