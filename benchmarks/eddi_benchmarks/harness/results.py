"""Results on disk: written in one piece or not at all, with what one must know to believe them."""

import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("eddi-ml", "torch", "numpy", "scikit-learn", "pyarrow")


def write(path: Path, content: dict[str, Any]) -> None:
    """Write ``content`` as JSON; a kill leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(json.dumps(content, indent=1) + "\n")
    unfinished.replace(path)


def read(path: Path) -> dict[str, Any] | None:
    """What `write` wrote, or None where nothing readable is."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def circumstances() -> dict[str, Any]:
    """Library versions, the machine in words, and the commit where the package is a checkout."""
    versions = map(_version, LIBRARIES)
    return {
        "versions": {"python": platform.python_version(), **dict(zip(LIBRARIES, versions, strict=True))},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "commit": _commit(),
    }


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:  # run from a checkout that was not installed
        return None


def _commit() -> str | None:
    """The commit of this checkout, with "-dirty" where files differ; None where it is no checkout."""
    root = Path(__file__).parents[3]
    if not (root / ".git").exists():  # an installed package may lie in somebody else's repository
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
