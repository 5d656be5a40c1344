"""`eddi serve` in a process of its own, with its processor time, memory and messages."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from eddi.errors import EddiError

MAX_MESSAGES = 1_000_000  # characters that are kept of what a server prints
TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
STOP_S = 30.0


class ServerProcess:
    """A running server."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.messages, self.n_characters = "", 0  # what it printed to standard error
        self.port = self._read_port()
        self._reader = threading.Thread(target=self._read_messages, daemon=True)
        self._reader.start()

    def pids(self) -> list[int]:
        """Return the process numbers of the server and its workers."""
        return [self.process.pid, *self.worker_pids()]

    def worker_pids(self) -> list[int]:
        """Return the process numbers of the workers; none for a server of one process."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in _read(children).split()]

    def cpu_seconds(self) -> float:
        """Return the processor time of all processes."""
        return sum(_cpu_seconds(pid) for pid in self.pids())

    def memory_mb(self) -> float:
        """Return the memory of all processes; memory that they share is counted once."""
        return sum(_memory_mb(pid) for pid in self.pids())

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the command."""
        self.process.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End the server and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(STOP_S)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code

    def _read_port(self) -> int:
        for line in self._lines():
            if match := re.search(r"http://localhost:(\d+)", line):
                return int(match[1])
        self.process.communicate()
        raise EddiError(f"the server did not start. Its output: {self.messages.strip()}")

    def _read_messages(self) -> None:
        for _ in self._lines():
            pass

    def _lines(self) -> Iterator[str]:
        assert self.process.stderr is not None  # noqa: S101  # a pipe
        for line in self.process.stderr:
            self.n_characters += len(line)
            if len(self.messages) < MAX_MESSAGES:
                self.messages += line
            yield line


@contextmanager
def run_server(
    model: Path,
    *,
    store: str,
    options: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    source: Path | None = None,
    max_files: int | None = None,
    folder: Path | None = None,
) -> Iterator[ServerProcess]:
    """Run a real server until the block ends.

    Args:
        model: the model file.
        store: the URL of the store.
        options: further options of `eddi serve`.
        settings: environment variables.
        source: the `src` folder of another version of eddi.
        max_files: the number of files that the server may open.
        folder: the working folder.
    """
    command = [sys.executable, "-m", "eddi", "serve", str(model), "--port", "0", "--store", store]
    if max_files is not None:
        command = ["prlimit", f"--nofile={max_files}", "--", *command]
    environment = {**os.environ, "EDDI_RATE": "0", "EDDI_LOG": "warning", **(settings or {})}
    if source is not None:
        path = [str(source), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(path)
    process = subprocess.Popen(  # noqa: S603  # our own command
        [*command, *options], env=environment, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    server = ServerProcess(process)
    try:
        yield server
    finally:
        server.end()


def _cpu_seconds(pid: int) -> float:
    """Return the processor time of a process, and of its children that have ended."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS_PER_S if fields else 0.0


def _memory_mb(pid: int) -> float:
    match = re.search(r"^Pss:\s+(\d+) kB", _read(Path(f"/proc/{pid}/smaps_rollup")), re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:  # the process has ended
        return ""
