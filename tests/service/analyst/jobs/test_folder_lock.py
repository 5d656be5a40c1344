"""One process at a time holds the lock of a job's folder, inherited or taken by the worker itself."""

import os

import pytest

from eddi.service.analyst.jobs import folder_lock
from eddi.service.analyst.jobs.folder_lock import (
    FolderLockedError,
    acquire_lock,
    hold_lock,
    inherited_descriptors,
)


def test_a_lock_is_held_once_and_free_after_it_is_closed(tmp_path):
    lock = acquire_lock(tmp_path / "job")
    assert lock is not None
    assert acquire_lock(tmp_path / "job") is None
    os.close(lock)
    again = acquire_lock(tmp_path / "job")
    assert again is not None
    os.close(again)


def test_a_worker_that_inherited_the_lock_does_not_take_it_again(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_lock, "CAN_INHERIT", True)
    lock = acquire_lock(tmp_path)
    assert inherited_descriptors(lock) == (lock,)
    hold_lock(tmp_path, timeout_s=0)
    os.close(lock)


def test_without_inheritance_the_worker_takes_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_lock, "CAN_INHERIT", False)
    lock = acquire_lock(tmp_path)
    assert inherited_descriptors(lock) == ()
    with pytest.raises(FolderLockedError, match="another process works on the job"):
        hold_lock(tmp_path, timeout_s=0)
    os.close(lock)
    opened = []
    monkeypatch.setattr(os, "open", lambda *args, call=os.open: opened.append(call(*args)) or opened[-1])
    hold_lock(tmp_path, timeout_s=0)
    assert acquire_lock(tmp_path) is None
    os.close(opened[0])
