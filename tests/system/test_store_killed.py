"""A writer killed in mid-work loses nothing it was told is kept; two writers never take one number."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from eddi.store.factory import open_store

STREAM = "interview/7"
WRITER = """
import sys
from eddi.store.base import StoreConflict
from eddi.store.factory import open_store

url, stream, name, n_events = sys.argv[1:]
store = open_store(url)
print("ready", flush=True)
sys.stdin.readline()
done = 0
while done < int(n_events):
    try:
        after = len(store.read(stream))
        event = store.append(stream, "told", {"by": name, "n": done, "text": "x" * 500}, after=after)
    except StoreConflict:
        continue
    done += 1
    print(event.number, event.hash, flush=True)
"""


@contextmanager
def writer(url: str, name: str, n_events: int) -> Iterator[subprocess.Popen[str]]:
    """A process that appends, and prints the number and hash of what was acknowledged."""
    words = [sys.executable, "-c", WRITER, url, STREAM, name, str(n_events)]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def start(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


@pytest.mark.parametrize("n_before", [1, 8, 25])
def test_what_was_acknowledged_before_a_kill_is_there_and_nothing_twice(
    store_url: str, n_before: int
) -> None:
    with writer(store_url, "anna", 100_000) as child:
        assert child.stdout is not None
        start(child)
        told = [child.stdout.readline() for _ in range(n_before)]
        child.kill()
        told += [line for line in child.stdout if line.endswith("\n")]
    store = open_store(store_url)
    events = store.read(STREAM)
    kept = [f"{event.number} {event.hash}\n" for event in events]
    assert kept[: len(told)] == told
    assert len(told) <= len(kept) <= len(told) + 1  # one may be on disk whose answer was cut off
    assert [event.facts["n"] for event in events] == [*range(len(events))]
    assert store.verify() == []
    assert store.append(STREAM, "told", {}, after=len(events)).number == len(events) + 1
    store.close()


def test_two_processes_never_take_one_number(store_url: str) -> None:
    with writer(store_url, "anna", 40) as anna, writer(store_url, "bob", 40) as bob:
        for child in (anna, bob):
            start(child)
        told = [child.communicate(timeout=60)[0].splitlines() for child in (anna, bob)]
    numbers = sorted(int(line.split()[0]) for lines in told for line in lines)
    assert numbers == [*range(1, 81)]
    store = open_store(store_url)
    by = [event.facts["by"] for event in store.read(STREAM)]
    assert (by.count("anna"), by.count("bob")) == (40, 40)
    assert store.verify() == []
    store.close()
