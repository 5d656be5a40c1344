"""Concurrent appends share one write, and each caller gets its own result."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi.store.base import Event, PendingAppend, StoreConflict, StoreError
from eddi.store.chain import EMPTY_HEAD, create_event
from eddi.store.group_commit import GroupCommit


def make_request(number: int) -> PendingAppend:
    return PendingAppend(f"stream {number}", "told", {"n": number}, after=0)


class Disk:
    """Records the batch sizes and blocks every write until `proceed` is set."""

    def __init__(self) -> None:
        self.batch_sizes: list[int] = []
        self.started, self.proceed = threading.Event(), threading.Event()

    def write(self, batch: list[PendingAppend]) -> None:
        self.batch_sizes.append(len(batch))
        self.started.set()
        assert self.proceed.wait(10)
        for request in batch:
            if request.stream == "stream 3":
                request.error = StoreConflict("second")
            else:
                request.event = create_event(
                    request.stream, request.kind, request.facts, head=EMPTY_HEAD, after=request.after
                )


def append_concurrently(disk: Disk, n_requests: int) -> list[Event | BaseException]:
    """Append from many threads; all but the first arrive while the first one writes."""
    group_commit = GroupCommit(disk.write)

    def append(number: int) -> Event | BaseException:
        request = make_request(number)
        try:
            group_commit.append([request])
            return request.result()
        except BaseException as error:
            return error

    with ThreadPoolExecutor(n_requests) as threads:
        first = threads.submit(append, 0)
        assert disk.started.wait(10)
        others = [threads.submit(append, number) for number in range(1, n_requests)]
        while len(group_commit._pending) < n_requests - 1:
            pass
        disk.proceed.set()
        return [future.result(10) for future in (first, *others)]


def test_waiting_appends_are_written_in_one_batch() -> None:
    disk = Disk()
    results = append_concurrently(disk, 6)
    assert disk.batch_sizes == [1, 5]
    assert isinstance(results[3], StoreConflict)
    events = [result for result in results if isinstance(result, Event)]
    assert [event.facts["n"] for event in events] == [0, 1, 2, 4, 5]


class BrokenDisk(Disk):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, batch: list[PendingAppend]) -> None:
        super().write(batch)
        if len(self.batch_sizes) == 2:
            raise self.error


def test_a_failed_write_fails_for_the_whole_batch() -> None:
    first, *others = append_concurrently(BrokenDisk(StoreError("the disk is full")), 4)
    assert isinstance(first, Event)
    assert [str(error) for error in others] == ["the disk is full"] * 3


def test_an_interruption_is_raised_in_one_thread_and_the_others_can_retry() -> None:
    _, *others = append_concurrently(BrokenDisk(KeyboardInterrupt()), 4)
    interrupted = [error for error in others if isinstance(error, KeyboardInterrupt)]
    messages = [str(error) for error in others if isinstance(error, StoreError)]
    assert (len(interrupted), messages) == (1, ["writing was interrupted. Try again."] * 2)


def test_an_append_that_was_not_written_is_an_error() -> None:
    request = make_request(0)
    GroupCommit(lambda _: None).append([request])
    with pytest.raises(StoreError, match="did not write"):
        request.result()
