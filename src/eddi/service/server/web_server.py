"""One web server process: accepts connections up to a limit, and ends them if their clients are too slow."""

import asyncio
import errno
import functools
import gc
import logging
import socket
import sys
import time
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from eddi.service.server.connections import ConnectionLimits, LimitedConnection, WaitingConnections
from eddi.service.settings import Settings

if sys.platform != "win32":
    import resource

SHUTDOWN_S = 10  # how long open requests may take to finish when the server stops
BACKLOG = 1024  # connections that may wait to be accepted
ACCEPTS_AT_ONCE = 32  # connections accepted before others are served
RESERVED_FILES = 192  # for the store, models and connections that are accepted before others are closed
# New objects before the garbage collector looks at the youngest, and its runs before it looks at older ones.
# Python's defaults are for small programs: thousands of interviews in memory are examined again and again.
GARBAGE_THRESHOLDS = (50_000, 20, 50)
CHECK_INTERVAL_S = 0.5  # between searches for connections that waited too long
MIN_REPORT_INTERVAL_S = 60.0  # between log lines about connections that cannot be accepted
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)

_log = logging.getLogger(__name__)


def connection_limits(settings: Settings) -> ConnectionLimits:
    """Return the limits of the settings; fewer connections if the process may open fewer files."""
    n_files = _raise_file_limit(settings.connections + RESERVED_FILES)
    max_connections = max(n_files - RESERVED_FILES, n_files // 4, 1)
    return ConnectionLimits(
        max_connections=min(settings.connections, max_connections),
        head_s=settings.head_seconds,
        body_s=settings.body_seconds,
    )


def _raise_file_limit(wanted: int) -> int:
    """Let the process open ``wanted`` files if the system allows it; return how many it may open."""
    if sys.platform == "win32":
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return limit


def limit_garbage_collection() -> None:
    """Let the garbage collector run rarely, and leave out what exists already: modules and models."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)


class WebServer(uvicorn.Server):
    """A server for one application on a socket that is already bound."""

    def __init__(self, app: ASGIApp, settings: Settings, *, limits: ConnectionLimits) -> None:
        self.waiting = WaitingConnections(limits)
        protocol = functools.partial(LimitedConnection, waiting=self.waiting)
        super().__init__(
            uvicorn.Config(
                app,
                http=cast(type[asyncio.Protocol], protocol),
                log_config=None,
                access_log=False,
                server_header=False,
                forwarded_allow_ips=settings.proxies,
                timeout_graceful_shutdown=SHUTDOWN_S,
                timeout_keep_alive=int(limits.keep_alive_s),
                ws="none",
                backlog=ACCEPTS_AT_ONCE,
            )
        )
        self._next_check = 0.0
        self._next_report = 0.0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._handle_loop_error)
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(BACKLOG)  # the loop accepts fewer at once, but more may wait

    async def on_tick(self, counter: int) -> bool:
        now = asyncio.get_running_loop().time()
        if now >= self._next_check:
            self._next_check = now + CHECK_INTERVAL_S
            self.waiting.close_late(now)
        return await super().on_tick(counter)

    def _handle_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log errors; of connections that cannot be accepted for lack of files, one per minute."""
        error = context.get("exception")
        if not (isinstance(error, OSError) and error.errno in OUT_OF_FILES):
            return loop.default_exception_handler(context)
        if time.monotonic() >= self._next_report:
            self._next_report = time.monotonic() + MIN_REPORT_INTERVAL_S
            _log.error("connections cannot be accepted: too many open files")
        return None
