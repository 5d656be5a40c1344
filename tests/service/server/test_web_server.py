"""The number of connections stays below the number of files that a process may open."""

import errno
import gc
import logging

import pytest

from eddi.service.server import web_server
from eddi.service.server.connections import ConnectionLimits
from eddi.service.server.web_server import (
    GARBAGE_THRESHOLDS,
    WebServer,
    connection_limits,
    limit_garbage_collection,
)
from eddi.service.settings import Settings

resource = pytest.importorskip("resource")  # not on Windows


@pytest.fixture
def file_limit(monkeypatch):
    """Sets the limit of open files that the server sees; returns the list of limits that it sets."""
    new_limits = []

    def set_limit(soft, hard):
        monkeypatch.setattr(web_server.resource, "getrlimit", lambda _: (soft, hard))
        monkeypatch.setattr(
            web_server.resource, "setrlimit", lambda _, limits: new_limits.append(limits)
        )
        return new_limits

    return set_limit


def test_a_process_that_may_open_few_files_accepts_few_connections(file_limit):
    file_limit(256, 256)
    assert connection_limits(Settings()).max_connections == 64
    file_limit(1024, 1024)
    assert connection_limits(Settings()).max_connections == 832


def test_the_limit_of_open_files_is_raised_as_far_as_necessary(file_limit):
    new_limits = file_limit(1024, 1_000_000)
    assert connection_limits(Settings(connections=5000)).max_connections == 5000
    assert new_limits == [(5192, 1_000_000)]


def test_a_sufficient_limit_of_open_files_is_not_changed(file_limit):
    new_limits = file_limit(20_000, 20_000)
    assert connection_limits(Settings(connections=100)).max_connections == 100
    assert new_limits == []


def test_connections_that_cannot_be_accepted_are_logged_once_per_minute(caplog):
    server = WebServer(lambda *_: None, Settings(), limits=ConnectionLimits())
    error = OSError(errno.EMFILE, "Too many open files")
    with caplog.at_level(logging.ERROR):
        for _ in range(1000):
            server._handle_loop_error(None, {"message": "accept", "exception": error})
    assert [record.getMessage() for record in caplog.records] == [
        "connections cannot be accepted: too many open files"
    ]


@pytest.fixture
def garbage_collector():
    thresholds = gc.get_threshold()
    yield gc
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_garbage_collection_leaves_out_what_exists_when_the_server_starts(garbage_collector):
    limit_garbage_collection()
    assert garbage_collector.get_freeze_count() > 10_000
    assert len(garbage_collector.get_objects()) < 1000
    assert garbage_collector.get_threshold() == GARBAGE_THRESHOLDS
