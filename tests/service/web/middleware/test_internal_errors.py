"""Unexpected exceptions are logged without their message, and interrupted connections are harmless."""

import json
import socket

import pytest


def test_the_log_says_where_a_request_failed_without_quoting_the_error(serving, log, monkeypatch):
    def fail(*_):
        raise ValueError("Conwy is not a number")

    with serving() as client:
        monkeypatch.setattr("eddi.service.web.api.schemas.describe_start", fail)
        assert client.post("/interviews").status_code == 500
        metrics = client.get("/metrics").text
    failure, request = (json.loads(line) for line in log.wait_for_lines(3).splitlines()[:2])
    assert failure["error"]["type"] == "ValueError"
    assert any(
        "test_internal_errors.py" in frame and frame.endswith(" fail")
        for frame in failure["error"]["trace"]
    )
    assert "Conwy" not in log.text
    assert request["status"] == 500
    assert 'eddi_errors_total{route="/interviews"} 1.0' in metrics


@pytest.mark.parametrize("length", [2, 100])  # the whole body is sent, or a part of it
def test_a_connection_that_ends_early_does_no_harm(serving, log, length):
    head = f"POST /interviews HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
    with serving() as client:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", client.base_url.port)) as connection:
                connection.sendall(f"{head}Content-Type: application/json\r\n\r\n{{}}".encode())
        assert client.get("/readyz").status_code == 200
    assert "failed" not in log.text
