"""Many who append at once share one write, and each hears of its own fate."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi.store.base import Event, StoreConflict, StoreError
from eddi.store.chain import START, sealed
from eddi.store.group_commit import Together, Wish


def wish(number: int) -> Wish:
    return Wish(f"stream {number}", "told", {"n": number}, after=0)


def written(a_wish: Wish) -> Event:
    return sealed(a_wish.stream, a_wish.kind, a_wish.facts, head=START, after=a_wish.after)


class Disk:
    """Counts what is written at once; nothing is until it may go on."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.began, self.go_on = threading.Event(), threading.Event()

    def write(self, wishes: list[Wish]) -> None:
        self.sizes.append(len(wishes))
        self.began.set()
        assert self.go_on.wait(10)
        for each in wishes:
            if each.stream == "stream 3":
                each.error = StoreConflict("second")
            else:
                each.event = written(each)


def crowd(together: Together, disk: Disk, n_wishes: int) -> list[Event | BaseException]:
    """One writes; while it does, the others come."""

    def ask(number: int) -> Event | BaseException:
        try:
            return together.grant(wish(number))
        except BaseException as error:
            return error

    with ThreadPoolExecutor(n_wishes) as threads:
        first = threads.submit(ask, 0)
        assert disk.began.wait(10)
        rest = [threads.submit(ask, number) for number in range(1, n_wishes)]
        while len(together._waiting) < n_wishes - 1:
            pass
        disk.go_on.set()
        return [end.result(10) for end in (first, *rest)]


def test_those_who_wait_are_written_together() -> None:
    disk = Disk()
    ends = crowd(Together(disk.write), disk, 6)
    assert disk.sizes == [1, 5]
    assert isinstance(ends[3], StoreConflict)
    events = [end for end in ends if isinstance(end, Event)]
    assert [event.facts["n"] for event in events] == [0, 1, 2, 4, 5]


class BrokenDisk(Disk):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, wishes: list[Wish]) -> None:
        super().write(wishes)
        if len(self.sizes) == 2:
            raise self.error


def test_a_write_that_fails_fails_for_all_who_shared_it() -> None:
    disk = BrokenDisk(StoreError("the disk is full"))
    first, *rest = crowd(Together(disk.write), disk, 4)
    assert isinstance(first, Event)
    assert [str(end) for end in rest] == ["the disk is full"] * 3


def test_an_interruption_is_one_threads_own_and_the_others_may_try_again() -> None:
    disk = BrokenDisk(KeyboardInterrupt())
    _, *rest = crowd(Together(disk.write), disk, 4)
    interrupted = [end for end in rest if isinstance(end, KeyboardInterrupt)]
    others = [str(end) for end in rest if isinstance(end, StoreError)]
    assert (len(interrupted), others) == (1, ["writing was interrupted. Try again."] * 2)


def test_a_wish_that_was_overlooked_is_not_taken_for_written() -> None:
    with pytest.raises(StoreError, match="unwritten"):
        Together(lambda _: None).grant(wish(0))
