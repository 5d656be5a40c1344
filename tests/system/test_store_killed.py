"""A writer that is killed loses no acknowledged event, and two writers never use the same number."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eddi.store.factory import open_store

from .conftest import ENVIRONMENT

STREAM = "interview/7"
# Appends events, and prints the number and hash of each that was acknowledged.
WRITER = """
import sys
from eddi.store.base import StoreConflict
from eddi.store.factory import open_store

url, stream, name, n_events = sys.argv[1:]
store = open_store(url)
print("ready", flush=True)
sys.stdin.readline()
n_written = 0
while n_written < int(n_events):
    try:
        after = len(store.read(stream))
        facts = {"by": name, "n": n_written, "text": "x" * 500}
        event = store.append(stream, "told", facts, after=after)
    except StoreConflict:
        continue
    n_written += 1
    print(event.number, event.hash, flush=True)
"""


@contextmanager
def start_writer(url: str, name: str, n_events: int) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready to append events; it begins with `begin`."""
    command = [sys.executable, "-c", WRITER, url, STREAM, name, str(n_events)]
    writer = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        yield writer
    finally:
        writer.kill()
        writer.communicate()


def begin(writer: subprocess.Popen[str]) -> None:
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()


@pytest.mark.parametrize("n_before", [1, 8, 25])
def test_every_event_that_was_acknowledged_before_a_kill_is_stored_once(
    store_url: str, n_before: int
) -> None:
    with start_writer(store_url, "anna", 100_000) as writer:
        assert writer.stdout is not None
        begin(writer)
        acknowledged = [writer.stdout.readline() for _ in range(n_before)]
        writer.kill()
        acknowledged += [line for line in writer.stdout if line.endswith("\n")]
    store = open_store(store_url)
    events = store.read(STREAM)
    stored = [f"{event.number} {event.hash}\n" for event in events]
    assert stored[: len(acknowledged)] == acknowledged
    # One more event may be stored whose acknowledgement was cut off.
    assert len(acknowledged) <= len(stored) <= len(acknowledged) + 1
    assert [event.facts["n"] for event in events] == [*range(len(events))]
    assert store.verify() == []
    assert store.append(STREAM, "told", {}, after=len(events)).number == len(events) + 1
    store.close()


def test_two_processes_never_use_the_same_number(store_url: str) -> None:
    with start_writer(store_url, "anna", 40) as anna, start_writer(store_url, "bob", 40) as bob:
        for writer in (anna, bob):
            begin(writer)
        printed = [writer.communicate(timeout=60)[0].splitlines() for writer in (anna, bob)]
    numbers = sorted(int(line.split()[0]) for lines in printed for line in lines)
    assert numbers == [*range(1, 81)]
    store = open_store(store_url)
    authors = [event.facts["by"] for event in store.read(STREAM)]
    assert (authors.count("anna"), authors.count("bob")) == (40, 40)
    assert store.verify() == []
    store.close()
