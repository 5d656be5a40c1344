"""`eddi serve` in its own process."""

import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from .conftest import start


class Server:
    """A running server. It starts in the background; `address` waits until it listens."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.messages = ""  # what it printed to standard error so far
        self.output = ""  # what it printed to standard output, once it has ended
        self._reader = threading.Thread(target=self._read)

    @cached_property
    def address(self) -> str:
        """The URL that the server printed."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.messages += line
            if found := re.search(r"served at (http://\S+)", line):
                self._reader.start()
                return found[1]
        raise AssertionError(f"the server did not start:\n{self.messages}")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.messages += line

    def end(self, number: signal.Signals) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        if self._reader.is_alive():
            self._reader.join()
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.output = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


@contextmanager
def run_server(model: Path, folder: Path, store: str, *options: str) -> Iterator[Server]:
    """Serve a model on a free port, and kill the server at the end if it is still running."""
    server = Server(start("serve", model, "--store", store, "--port", "0", *options, folder=folder))
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)
