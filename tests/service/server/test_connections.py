"""Clients that are slow, silent or too many cannot occupy a real server."""

import socket
import threading
import time
from contextlib import ExitStack

import pytest

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
HALF_HEAD = HEAD[:20]
POST_HEAD = b"\r\n".join(
    (
        b"POST /ask HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Content-Length: 100",
        b"\r\n",
    )
)


def connect(client):
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=10)


def read_until_closed(connection):
    received = b""
    while chunk := connection.recv(65_536):
        received += chunk
    return received


@pytest.fixture(scope="module")
def impatient(serving):
    """A server that gives clients half a second."""
    with serving(head_seconds=0.5, body_seconds=0.5) as client:
        yield client


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, POST_HEAD, POST_HEAD + b"{"])
def test_a_client_that_stops_in_the_middle_of_a_request_is_disconnected(impatient, sent):
    with connect(impatient) as connection:
        connection.sendall(sent)
        started_at = time.monotonic()
        response = read_until_closed(connection)
        assert 0.4 < time.monotonic() - started_at < 5
        assert response.startswith(b"HTTP/1.1 408")


def test_a_client_that_sends_a_byte_at_a_time_is_disconnected(impatient):
    with connect(impatient) as connection:
        connection.sendall(POST_HEAD)
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            send_slowly(connection, n_bytes=100)


def send_slowly(connection, n_bytes):
    for _ in range(n_bytes):
        connection.sendall(b" ")
        time.sleep(0.1)


def test_a_body_that_arrives_steadily_has_enough_time(impatient):
    """The body takes twice the time that a silent client has, but 10 kB add a second."""
    body = b'{"answers": {}}' + b" " * 20_000
    head = POST_HEAD.replace(b"100", str(len(body)).encode())
    with connect(impatient) as connection:
        connection.sendall(head)
        for start in range(0, len(body), 5_000):
            connection.sendall(body[start : start + 5_000])
            time.sleep(0.25)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")


def test_a_connection_serves_several_requests(impatient):
    with connect(impatient) as connection:
        for _ in range(3):
            connection.sendall(HEAD)
            assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
            time.sleep(0.6)


def test_a_new_client_is_served_although_silent_ones_use_all_connections(serving):
    with serving(connections=20) as client, ExitStack() as stack:
        silent = [stack.enter_context(connect(client)) for _ in range(60)]
        for connection in silent[-20:]:
            connection.sendall(HALF_HEAD)
        assert client.get("/healthz").status_code == 200
        assert read_until_closed(silent[0]) == b""


def test_connections_that_are_all_being_served_are_not_closed_for_a_new_one(serving, monkeypatch):
    with serving(connections=2, max_wait=0) as client, ExitStack() as stack:
        proceed = threading.Event()
        monkeypatch.setattr(client.app.state.service, "ask", lambda _: proceed.wait(10))
        for _ in range(2):
            busy = stack.enter_context(connect(client))
            busy.sendall(POST_HEAD.replace(b"100", b"2") + b"{}")
        time.sleep(0.2)
        with connect(client) as third:
            response = read_until_closed(third)
        proceed.set()
        assert response.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in response
        _, _, body = response.partition(b"\r\n\r\n")
        assert b"content-length: %d\r\n" % len(body) in response


def test_a_head_that_is_too_large_is_refused(impatient):
    with connect(impatient) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n" + b"X-Long: " + b"x" * 70_000)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 431")


def test_very_many_pipelined_requests_end_the_connection(impatient):
    with connect(impatient) as connection:
        connection.sendall(HEAD * 200)
        assert read_until_closed(connection).count(b"HTTP/1.1 200") < 200


def test_malformed_data_after_a_request_is_no_internal_error(serving, monkeypatch, caplog):
    """The response to the request can no longer be sent."""
    with serving() as client, connect(client) as connection:
        proceed = threading.Event()
        resume = client.app.state.service.resume
        monkeypatch.setattr(
            client.app.state.service, "resume", lambda key: proceed.wait(10) and resume(key)
        )
        connection.sendall(b"GET /interviews/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        time.sleep(0.1)
        connection.sendall(b"\x00 garbage\r\n\r\n")
        assert read_until_closed(connection).startswith(b"HTTP/1.1 400")
        proceed.set()
        assert client.get("/healthz").status_code == 200
        time.sleep(0.1)
    assert not any("handler is closed" in str(record.exc_info) for record in caplog.records)
    assert not any(record.levelname == "ERROR" for record in caplog.records)


def test_a_client_that_sends_nothing_more_receives_its_response(client):
    with connect(client) as connection:
        connection.sendall(b"GET /interviews/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert read_until_closed(connection).startswith(b"HTTP/1.1 404")


def test_a_client_that_ends_in_the_middle_of_a_body_is_no_internal_error(client, caplog):
    with connect(client) as connection:
        connection.sendall(
            POST_HEAD.replace(b"/ask", b"/start").replace(b"json", b"x-www-form-urlencoded")
        )
        connection.shutdown(socket.SHUT_WR)
        assert read_until_closed(connection) == b""
    assert client.get("/healthz").status_code == 200
    assert not any(record.levelname == "ERROR" for record in caplog.records)
