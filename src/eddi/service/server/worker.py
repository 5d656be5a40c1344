"""One of several worker processes that serve the same socket: ``python -m eddi.service.server.worker``.

The supervisor starts it with the settings in its environment. It inherits the socket that all workers
share, a pipe on which it says that it is ready, and a pipe that closes when the supervisor ends.
"""

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from starlette.types import ASGIApp

from eddi.errors import EddiError
from eddi.service import app, logs
from eddi.service.interviews.metrics import Metrics
from eddi.service.server.web_server import WebServer, connection_limits, limit_garbage_collection
from eddi.service.server.worker_metrics import WorkerMetrics
from eddi.service.settings import Settings

METRICS_INTERVAL_S = 1.0  # between writes of the metrics for other workers


class WorkerServer(WebServer):
    """The server of a worker. It ends when the supervisor does.

    Args:
        app: the application.
        settings: of the server.
        metrics: of all workers.
        ready: descriptor of the pipe on which the worker says that it is ready.
        lifeline: descriptor of the pipe that closes when the supervisor ends.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        metrics: WorkerMetrics,
        ready: int,
        lifeline: int,
    ) -> None:
        super().__init__(app, settings, limits=connection_limits(settings))
        self.metrics, self._ready, self._lifeline = metrics, ready, lifeline
        self._next_write = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self._lifeline, self._stop)
        self.metrics.write()
        os.write(self._ready, b"1")
        os.close(self._ready)

    async def on_tick(self, counter: int) -> bool:
        now = asyncio.get_running_loop().time()
        if now >= self._next_write:
            self._next_write = now + METRICS_INTERVAL_S
            self.metrics.write()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self.metrics.write()

    def _stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._lifeline)
        self.should_exit = True


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the supervisor says otherwise, and return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        settings = Settings()
        torch.set_num_threads(1)  # for such a small network, several threads are slower than one
        logs.configure(settings.log)
        metrics = Metrics()
        shared = WorkerMetrics(metrics.registry, options.folder)
        metrics.collector = shared
        application = app.build(settings, metrics=metrics, runs_jobs=options.runs_jobs)
    except EddiError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    server = WorkerServer(
        application, settings, metrics=shared, ready=options.ready, lifeline=options.lifeline
    )
    limit_garbage_collection()
    try:
        server.run(sockets=[socket.socket(fileno=options.listener)])
    except KeyboardInterrupt:  # the server raises the signals that it handled again
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listener", type=int, required=True, help="descriptor of the socket")
    parser.add_argument("--ready", type=int, required=True, help="descriptor of a pipe")
    parser.add_argument("--lifeline", type=int, required=True, help="descriptor of a pipe")
    parser.add_argument("--folder", type=Path, required=True, help="for metrics")
    parser.add_argument("--runs-jobs", action="store_true", help="run the workshop's jobs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
