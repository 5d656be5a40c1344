"""Changes that wait are applied at once, and every request gets a result."""

import threading

import pytest

from eddi.service.interviews.batcher import BusyError
from eddi.service.interviews.change_queue import ChangeQueue, PendingChange
from eddi.store.base import StoreBusyError


def make_change(key="k"):
    return PendingChange(key, make_change=lambda _: None)


class Processor:
    """Records the sizes of batches; each waits until `proceed` is set."""

    def __init__(self):
        self.sizes = []
        self.started, self.proceed = threading.Event(), threading.Event()

    def apply(self, batch):
        self.sizes.append(len(batch))
        self.started.set()
        assert self.proceed.wait(10)
        for change in batch:
            change.result.set_result(change.key)


@pytest.fixture
def processor():
    return Processor()


def test_changes_that_arrive_meanwhile_form_the_next_batch(processor):
    queue = ChangeQueue(processor.apply, max_batch_size=3)
    changes = [queue.submit(make_change("0"))]
    assert processor.started.wait(10)
    changes += [queue.submit(make_change(f"{number}")) for number in range(1, 6)]
    processor.proceed.set()
    assert [change.wait() for change in changes] == ["0", "1", "2", "3", "4", "5"]
    assert processor.sizes == [1, 3, 2]
    queue.close()


def test_a_change_that_was_cancelled_is_not_applied(processor):
    queue = ChangeQueue(processor.apply)
    queue.submit(make_change("first"))
    assert processor.started.wait(10)
    cancelled, last = queue.submit(make_change("cancelled")), queue.submit(make_change("last"))
    assert cancelled.result.cancel()
    processor.proceed.set()
    assert last.wait() == "last"
    assert not last.result.cancel()
    assert processor.sizes == [1, 1]
    queue.close()


def test_a_full_queue_refuses_changes(processor):
    queue = ChangeQueue(processor.apply, max_waiting=2)
    queue.submit(make_change())
    assert processor.started.wait(10)
    for _ in range(2):
        queue.submit(make_change())
    with pytest.raises(BusyError, match="the server is busy"):
        queue.submit(make_change())
    processor.proceed.set()
    queue.close()


def test_waiting_changes_are_applied_before_the_queue_closes(processor):
    queue = ChangeQueue(processor.apply)
    changes = [queue.submit(make_change()) for _ in range(3)]
    processor.proceed.set()
    queue.close()
    assert all(change.result.done() for change in changes)
    with pytest.raises(BusyError, match="shutting down"):
        queue.submit(make_change())


def test_an_unexpected_error_reaches_all_requests_and_the_thread_continues():
    def fail_once(batch):
        if batch[0].key == "bad":
            raise ZeroDivisionError
        batch[0].result.set_result("applied")

    queue = ChangeQueue(fail_once)
    with pytest.raises(ZeroDivisionError):
        queue.submit(make_change("bad")).wait()
    assert queue.submit(make_change("good")).wait() == "applied"
    queue.close()


def test_an_error_of_the_store_is_not_taken_for_a_timeout():
    change = make_change()
    change.result.set_exception(StoreBusyError("locked"))
    with pytest.raises(StoreBusyError, match="locked"):
        change.wait()


def test_a_change_that_is_not_applied_in_time_is_given_up(monkeypatch):
    monkeypatch.setattr("eddi.service.interviews.change_queue.TIMEOUT_S", 0.01)
    with pytest.raises(BusyError, match="Try again"):
        make_change().wait()
