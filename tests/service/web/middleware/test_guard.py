"""What stands before every route: names, sizes, rates, headers and the log."""

import io
import json
import logging
import socket
import time

import pytest

from eddi.service.logs import JsonLines
from eddi.service.web.middleware.guard import HEADERS


@pytest.fixture
def log():
    """All that the service logs, as text."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("eddi.service")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel("DEBUG")
    yield text
    logger.setLevel(level)
    logger.removeHandler(handler)


def logged(log, n_lines):
    """What was logged, once there are so many lines: a line is written when its response is out."""
    deadline = time.monotonic() + 10
    while log.getvalue().count("\n") < n_lines and time.monotonic() < deadline:
        time.sleep(0.01)
    return log.getvalue()


@pytest.mark.parametrize("path", ["/healthz", "/nowhere", "/openapi.json", "/"])
def test_every_response_carries_the_headers_of_a_careful_site(client, path):
    headers = client.get(path).headers
    for name in HEADERS:
        assert name in headers
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]


def test_requests_have_a_number_their_own_or_ours(client):
    assert client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers["x-request-id"] == "abc-1"
    for strange in ("x" * 65, "a b", '"'):
        given = client.get("/healthz", headers={"X-Request-Id": strange}).headers["x-request-id"]
        assert given != strange
        assert len(given) == 32


def test_a_body_too_large_is_not_read(client):
    for content in (b"x" * 70_000, iter([b"x" * 40_000] * 3)):
        response = client.post("/ask", content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 413
        assert "larger than 65,536 bytes" in response.json()["detail"]
        assert response.headers["content-type"] == "application/problem+json"


def test_who_comes_too_often_is_told_to_wait(serving):
    with serving(rate=0.5, burst=3) as client:
        statuses = [client.get("/questionnaires").status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        refused = client.get("/questionnaires")
        assert int(refused.headers["retry-after"]) in (1, 2)
        assert "too many requests from this address. Try again in" in refused.json()["detail"]
        assert client.get("/healthz").status_code == 200


def test_a_local_server_does_not_go_by_a_foreign_name(client):
    refused = client.get("/healthz", headers={"Host": "evil.example"})
    assert refused.status_code == 421
    assert "does not go by the name 'evil.example'" in refused.json()["detail"]
    assert client.get("/healthz", headers={"Host": "localhost:99"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({}, 201),
    ],
)
def test_pages_of_other_sites_change_nothing(client, headers, status):
    assert client.post("/interviews", headers=headers).status_code == status


def test_a_page_of_ours_may_change_things(client):
    ours = str(client.base_url).rstrip("/")
    assert client.post("/interviews", headers={"Origin": ours}).status_code == 201
    assert client.get("/healthz", headers={"Origin": "https://evil.example"}).status_code == 200


def test_the_log_tells_of_requests_but_not_of_what_was_in_them(serving, log):
    with serving() as client:
        key = client.post("/interviews").json()["id"]
        secret = {"Authorization": "Bearer eddi_0123456789ab_secret", "Idempotency-Key": "idem-77"}
        answer = {"question": "town", "values": "Conwy"}
        client.post(f"/interviews/{key}/answers", json=answer, headers={**secret, "X-Request-Id": "r-1"})
        client.post(f"/interviews/{key}/answers", json={"question": "age", "values": "Methuselah"})
        client.get(f"/interviews/{key}?note=Conwy")
        client.get("/Conwy")
    text = logged(log, 5)
    for private in (key, "Conwy", "town", "Methuselah", "eddi_0123", "secret", "idem-77", "127.0.0.1"):
        assert private not in text
    every = [json.loads(line) for line in text.splitlines()]
    # The last request of the test before may be logged late, by its own server.
    lines = [line for line in every if line["route"] != "/healthz"]
    assert {"at", "level", "what", "request", "method", "route", "status", "ms"} == set(lines[1])
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/interviews", 201),
        ("POST", "/interviews/{key}/answers", 200),
        ("POST", "/interviews/{key}/answers", 422),
        ("GET", "/interviews/{key}", 200),
        ("GET", "none", 404),
    ]
    assert lines[1]["request"] == "r-1"


def test_the_log_tells_where_we_failed_but_not_in_words_that_may_quote_an_answer(
    serving, log, monkeypatch
):
    def fail(*_):
        raise ValueError("Conwy is not a number")

    with serving() as client:
        monkeypatch.setattr("eddi.service.web.api.wire.opened", fail)
        assert client.post("/interviews").status_code == 500
        metrics = client.get("/metrics").text
    failed, request = (json.loads(line) for line in logged(log, 3).splitlines()[:2])
    assert failed["error"]["type"] == "ValueError"
    assert any(
        "test_guard.py" in place and place.endswith(" fail") for place in failed["error"]["trace"]
    )
    assert "Conwy" not in log.getvalue()
    assert request["status"] == 500
    assert 'eddi_errors_total{route="/interviews"} 1.0' in metrics


@pytest.mark.parametrize("length", [2, 100])  # all of the body is sent, or a part of it
def test_a_connection_that_ends_early_harms_nobody(serving, log, length):
    head = f"POST /interviews HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n"
    with serving() as client:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", client.base_url.port)) as hasty:
                hasty.sendall(f"{head}Content-Type: application/json\r\n\r\n{{}}".encode())
        assert client.get("/readyz").status_code == 200
    assert "failed" not in log.getvalue()


BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def assert_page(response, status, heading):
    assert response.status_code == status
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert f"<h1>{heading}</h1>" in response.text
    assert (response.headers["x-request-id"] in response.text) is (status >= 500)
    assert 'href="/"' in response.text
    assert int(response.headers["content-length"]) == len(response.content)


def test_a_browser_that_is_refused_gets_a_page(client):
    assert_page(client.get("/nowhere", headers=BROWSER), 404, "There is no page here")
    put = client.put("/", headers=BROWSER)
    assert_page(put, 405, "This page cannot be reached that way")
    assert put.headers["allow"] == "GET, HEAD"
    large = client.post("/start", content=b"x" * 70_000, headers=BROWSER)
    assert_page(large, 413, "That was too much at once")
    elsewhere = client.get("/", headers={**BROWSER, "Host": "evil.example"})
    assert_page(elsewhere, 421, "This server goes by another name")
    assert "evil" not in elsewhere.text
    shape = client.post("/interviews", content=b"{", headers={**BROWSER, "Content-Type": "text/json"})
    assert_page(shape, 415, "That could not be understood")


def test_a_browser_that_comes_too_often_gets_a_page(serving):
    with serving(rate=0.5, burst=1) as client:
        client.get("/", headers=BROWSER)
        refused = client.get("/", headers=BROWSER)
        assert_page(refused, 429, "That was a little fast")
        assert int(refused.headers["retry-after"]) in (1, 2)


def test_a_browser_gets_a_page_when_we_fail_that_says_nothing_of_why(serving, monkeypatch):
    with serving() as client:
        monkeypatch.setattr("eddi.service.web.pages.story.most_left", lambda _: 1 / 0)
        failed = client.get("/", headers=BROWSER)
        assert_page(failed, 500, "Something went wrong on our side")
        assert "Zero" not in failed.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
def test_a_program_that_is_refused_gets_a_problem(client, accept):
    refused = client.get("/nowhere", headers={"Accept": accept})
    assert refused.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/i/0", "GET, POST, HEAD"),
        ("/interviews", "POST"),
        ("/interviews/0", "GET, DELETE, HEAD"),
        ("/interviews/0/answers/last", "DELETE"),
        ("/healthz", "GET, HEAD"),
    ],
)
def test_a_method_that_is_not_taken_is_told_which_are(client, path, allowed):
    refused = client.patch(path)
    assert refused.status_code == 405
    assert refused.headers["allow"] == allowed


def test_who_asks_for_the_head_only_gets_the_head_only(client):
    for path in ("/", "/healthz", "/openapi.json"):
        whole, head = client.get(path), client.head(path)
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
