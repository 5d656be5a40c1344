"""The lock of a job's folder. The operating system releases it when the process that holds it ends.

On Linux and macOS the supervisor takes the lock and its worker inherits it. A lock cannot be inherited on
Windows: there the supervisor releases the lock, and the worker takes it when it starts.
"""

import os
import sys
import time
from pathlib import Path

from eddi.durable_file import create_private_folder
from eddi.errors import EddiError

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


CAN_INHERIT = sys.platform != "win32"
SECONDS_TO_WAIT = 10.0  # for the supervisor, which holds the lock until the worker has started
SECONDS_BETWEEN_TRIES = 0.05


class FolderLockedError(EddiError, RuntimeError):
    """Another process works on the job."""


def acquire_lock(folder: Path) -> int | None:
    """A file descriptor that holds the lock of a job's folder; None if another process holds it.

    The lock is released when the descriptor and all its inherited copies are closed.
    """
    create_private_folder(folder)
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def inherited_descriptors(lock: int) -> tuple[int, ...]:
    """What a worker process inherits: the lock, where that is possible."""
    return (lock,) if CAN_INHERIT else ()


def hold_lock(folder: Path, *, timeout_s: float = SECONDS_TO_WAIT) -> None:
    """Make sure that this worker process holds the lock until it ends.

    Raises:
        FolderLockedError: another process holds the lock.
    """
    deadline = time.monotonic() + timeout_s
    while not CAN_INHERIT and acquire_lock(folder) is None:  # the descriptor stays open
        if time.monotonic() > deadline:
            raise FolderLockedError(f"another process works on the job in {str(folder)!r}.")
        time.sleep(SECONDS_BETWEEN_TRIES)
