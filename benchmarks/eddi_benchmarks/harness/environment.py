"""The environment of a run: library versions, machine, commit, memory and threads."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("eddi-ml", "torch", "numpy", "scikit-learn", "pyarrow")
CHECKOUT = Path(__file__).parents[3]


def describe_environment() -> dict[str, Any]:
    """Library versions, the machine, and the commit if this is a checkout, as JSON values."""
    versions = {library: _installed_version(library) for library in LIBRARIES}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "commit": _commit(),
    }


def peak_memory_mb() -> int | None:
    """The peak memory of this process in megabytes; None where the system does not report it."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, kilobytes elsewhere
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)


@contextmanager
def torch_threads(n_threads: int) -> Iterator[None]:
    """Let torch use ``n_threads`` threads inside the block."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _installed_version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:  # run from a checkout without being installed
        return None


def _commit() -> str | None:
    """The commit of this checkout, with "-dirty" if files have changed; None outside a checkout."""
    if not (CHECKOUT / ".git").exists():  # an installed package may be inside another repository
        return None
    command = [
        *("git", "-C", str(CHECKOUT), "describe"),
        *("--always", "--dirty", "--abbrev=40", "--exclude=*"),
    ]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    return completed.stdout.strip()
