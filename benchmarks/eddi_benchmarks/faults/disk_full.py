"""A disk that becomes full while people answer: requests are refused with an explanation, and none is lost.

The store is on a small file system in memory, which only the superuser can create. Others limit the size
of files instead, which SQLite reports as an error of the disk.
"""

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from eddi.store.factory import open_store
from eddi_benchmarks.service.server import ServerProcess, run_server

FOLDER_BYTES = 3_000_000
MAX_REQUESTS = 5_000
N_REFUSALS = 10  # after which space is freed


@dataclass
class DiskResult:
    """What happened while the disk was full, and afterwards."""

    n_stored: int = 0  # interviews that were acknowledged before the disk was full
    statuses: Counter[int] = field(default_factory=Counter)  # while it was full
    details: set[str] = field(default_factory=set)
    readiness: int = 0  # status while it was full
    n_after: int = 0  # interviews that were acknowledged after space was freed
    n_lost: int = 0
    n_faults: int = 0

    def __str__(self) -> str:
        counts = ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        return (
            f"{self.n_stored} interviews until the disk was full; then {counts}, /readyz {self.readiness}; "
            f"{self.n_after} after space was freed; {self.n_lost} lost, {self.n_faults} faults in the chain"
        )

    @property
    def is_handled(self) -> bool:
        """Whether the server explained the full disk, and continued afterwards."""
        refusals = set(self.statuses) <= {503, 507} and bool(self.statuses)
        return refusals and self.n_after > 0 and not self.n_lost and not self.n_faults


@contextmanager
def small_disk(n_bytes: int) -> Iterator[Path]:
    """Mount a file system in memory of this size."""
    with tempfile.TemporaryDirectory(prefix="eddi-disk-") as folder:
        options = f"size={n_bytes},mode=0700"
        mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
        subprocess.run(mount, check=True)  # noqa: S603  # our own command
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)  # noqa: S603, S607


def can_mount() -> bool:
    """Whether this user can mount a file system."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return False
    try:
        with small_disk(100_000):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def run(model: Path) -> DiskResult:
    """Fill the disk of a server's store, then free space."""
    result, keys = DiskResult(), list[str]()
    with small_disk(FOLDER_BYTES) as folder:
        filler = folder / "filler"
        filler.write_bytes(b"x" * (FOLDER_BYTES // 4))
        store = f"sqlite:///{folder / 'answers.db'}"
        with run_server(model.resolve(), store=store, settings=_quiet()) as server:
            _fill(server, result, keys)
            filler.unlink()
            _continue(server, result, keys)
        with_store = open_store(store)
        result.n_lost = sum(not with_store.read(f"interview/{key}") for key in keys)
        result.n_faults = len(with_store.verify())
        with_store.close()
    return result


def _quiet() -> dict[str, str]:
    return {"EDDI_LOG": "error", "EDDI_MAX_WAIT": "0"}


def _fill(server: ServerProcess, result: DiskResult, keys: list[str]) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=30) as client:
        for _ in range(MAX_REQUESTS):
            response = client.post("/interviews")
            if response.status_code == 201:
                keys.append(response.json()["id"])
                continue
            result.statuses[response.status_code] += 1
            result.details.add(response.json().get("detail", ""))
            if result.statuses.total() == N_REFUSALS:
                result.readiness = client.get("/readyz").status_code
                break
    result.n_stored = len(keys)


def _continue(server: ServerProcess, result: DiskResult, keys: list[str]) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=30) as client:
        for _ in range(10):
            response = client.post("/interviews")
            if response.status_code == 201:
                keys.append(response.json()["id"])
                result.n_after += 1
