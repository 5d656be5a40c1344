"""Requests that are too large are refused, whether they declare their length or not."""

import socket

import pytest


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_body_that_is_too_large_is_refused(client, is_streamed):
    content = iter([b"x" * 40_000] * 3) if is_streamed else b"x" * 70_000
    response = client.post("/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert "larger than 65,536 bytes" in response.json()["detail"]
    assert response.headers["content-type"] == "application/problem+json"


def test_tables_and_forms_of_analysts_may_be_larger(client):
    for path in ("/tables", "/analyst/tables", "/analyst/tables/x/schema"):
        response = client.post(path, content=b"x" * 70_000)
        assert response.status_code != 413, path


def test_a_form_that_anybody_may_send_is_small(client):
    assert client.post("/analyst/sign-in", content=b"x" * 70_000).status_code == 413


def test_a_large_multipart_form_is_refused_before_it_is_sent(serving):
    """By its declared length; without one, as soon as the limit is exceeded."""
    with serving(max_upload=100_000) as client:

        def parts():
            yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
            for _ in range(1000):
                yield b"x" * 10_000

        multipart = {"Content-Type": "multipart/form-data; boundary=b"}
        streamed = client.post("/tables", content=parts(), headers=multipart)
        assert streamed.status_code == 413
        assert "larger than 100,000 bytes" in streamed.json()["detail"]
        with socket.create_connection((client.base_url.host, client.base_url.port)) as connection:
            connection.sendall(
                b"POST /tables HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100001\r\n"
                b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
            )
            assert connection.recv(1000).startswith(b"HTTP/1.1 413")
