"""Run a function in a forked process with limits on memory and time, and report how it ended."""

import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_RESULT_BYTES = 10_000_000
NUMBER_BYTES = 8  # of the resident memory, before the result
PAGE_BYTES = resource.getpagesize()
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one process may take, in addition to what its parent has."""

    memory: int = 1_000 * MEGABYTE  # address space in bytes
    seconds: int = 30


@dataclass(frozen=True)
class Ending:
    """How a process ended: its result, or the status that the operating system reports."""

    result: Any
    status: int
    extra_megabytes: float  # resident memory beyond that at the start


def run_limited(function: Callable[[], Any], limits: Limits) -> Ending:
    """Return the result of ``function``, computed in a process of its own. The result is JSON."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _run_child(function, limits, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        before = int.from_bytes(pipe.read(NUMBER_BYTES), "little")
        content = pipe.read(MAX_RESULT_BYTES)
    _, status, usage = os.wait4(process, 0)
    extra = max(0.0, usage.ru_maxrss * 1024 - before) / MEGABYTE
    return Ending(json.loads(content) if content else None, status, extra)


def _run_child(function: Callable[[], Any], limits: Limits, writer: int) -> None:
    """Compute the result, write it and end, without returning to the code of the parent."""
    try:
        _set_limits(limits)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.write(writer, _resident_bytes().to_bytes(NUMBER_BYTES, "little"))
        os.write(writer, json.dumps(function()).encode())
    finally:
        os._exit(0)


def _set_limits(limits: Limits) -> None:
    memory = _address_bytes() + limits.memory
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(2 * limits.seconds)  # the machine may be busy


def _address_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * PAGE_BYTES


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES
