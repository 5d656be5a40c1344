"""Requests that no correct client sends: malformed heads, bodies, encodings, lengths and methods.

The server must respond to each with a status below 500, or 503 and 507 on purpose, or close the
connection, and it must still be alive afterwards.
"""

import random
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from eddi_benchmarks.service.http_connection import HOST

DELIBERATE = (503, 507)
TIMEOUT_S = 5.0  # for a response; a server may wait for the rest of a request
PATHS = (
    *(
        "/",
        "/interviews",
        "/interviews/{key}",
        "/interviews/{key}/answers",
        "/interviews/{key}/answers/last",
    ),
    *("/ask", "/healthz", "/readyz", "/metrics", "/questionnaires", "/tables", "/jobs", "/models"),
    *("/fhir/Questionnaire", "/fhir/Questionnaire/$next-question", "/fhir/metadata"),
    *("/analyst", "/analyst/sign-in", "/analyst/tables", "/i/{key}", "/start", "/static/pages.css"),
)
METHODS = ("POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD")
RARE_METHODS = ("PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW", "g\x00t")
BODIES = (
    b"",
    b"{}",
    b"{",
    b"null",
    b"[]",
    b"\x00",
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b'{"question": "\\ud800", "values": 1}',
    b'{"question": "a", "values": 1e999}',
    b'{"question": "a", "values": NaN}',
    b'{"question": {}, "values": []}',
    b'{"question": "a", "question": "b"}',
    b'{"answers": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"answers": {"a": ' + b"9" * 5000 + b"}}",
    b"question=a&values=%zz&x=%00",
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx',
    b"--b\r\n\r\n--b--",
    b"a" * 70_000,
)
CONTENT_TYPES = (
    *(
        "application/json",
        "application/json; charset=utf-7",
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
    ),
    *(
        "multipart/form-data; boundary=b",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "x" * 300,
    ),
    *("\xff/\xfe", "application/json; charset=\x7f", "image/png"),
)
HEADERS = (
    *(
        "Origin: http://[",
        "Origin: \xff",
        "Host: [",
        "Host: ",
        "Host: a b",
        "Host: x:99999",
        "If-Match: \xe9",
    ),
    *(
        'If-Match: "-1"',
        "If-Match: " + "9" * 400,
        "Idempotency-Key: ",
        "Idempotency-Key: \xfc",
        "Cookie: a=\xff; =;",
    ),
    *(
        "Authorization: Bearer",
        "Authorization: Bearer \xff",
        "Authorization: Basic Og==",
        "X-Request-Id: \r\n x",
    ),
    *(
        "Accept: text/html, \xff",
        "Accept: " + "a/b," * 2000,
        "Range: bytes=-1",
        "Upgrade: websocket",
        "Expect: 200",
    ),
    *(
        "X-Forwarded-For: ,,\xff",
        "X-Forwarded-Proto: javascript",
        "Content-Encoding: gzip",
        "Connection: upgrade",
    ),
    *(
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: -1",
        "Content-Length: 1e3",
    ),
    *(
        "Content-Length: 99999999999999999999",
        "Sec-Fetch-Site: \xff",
        "X: " + "x" * 30_000,
        "no colon",
        ": empty",
    ),
)
TARGETS = (
    *(
        "*",
        "",
        "//",
        "http://evil.example/",
        "/%",
        "/%00",
        "/%ff%fe",
        "/..%2f..%2fetc/passwd",
        "/a b",
        "/\xe9",
    ),
    *(
        "/i/" + "a" * 5000,
        "/interviews/%2e%2e",
        "/?" + "a=b&" * 2000,
        "/static/..%2fapi.py",
        "/analyst/sign-in?next=//x",
    ),
)
CHUNKS = (
    b"5\r\nhello\r\n0\r\n\r\n",
    b"zz\r\nhello\r\n",
    b"ffffffffffffffff\r\nx",
    b"-1\r\nx\r\n0\r\n\r\n",
    b"5;ext=\xff\r\nhello\r\n0\r\nTrailer: x\r\n\r\n",
    b"2\r\n{}\r\n0\r\n\r\n",
    b"5\r\nhelloXX",
)


@dataclass
class FuzzResult:
    """What happened to all requests."""

    statuses: Counter[str] = field(default_factory=Counter)  # a status, "closed" or "waiting"
    failures: list[str] = field(default_factory=list)  # the requests that failed

    def __str__(self) -> str:
        counts = ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        return f"{self.statuses.total()} requests ({counts}); {len(self.failures)} failures"


class RequestMaker:
    """Makes malformed requests at random."""

    def __init__(self, seed: int, key: str) -> None:
        self.random, self.key = random.Random(seed), key  # noqa: S311  # not for secrets
        self.kinds: tuple[Callable[[], bytes], ...] = (
            *(self._make_plain, self._make_plain, self._make_plain, self._make_chunked),
            *(self._make_broken_head, self._make_noise, self._make_pipeline, self._make_mutated),
        )

    def make(self) -> bytes:
        """Return one request."""
        return self.random.choice(self.kinds)()

    def _make_plain(self) -> bytes:
        body = self.random.choice(BODIES)
        return self._head(f"Content-Length: {len(body)}") + body

    def _make_chunked(self) -> bytes:
        return self._head("Transfer-Encoding: chunked") + self.random.choice(CHUNKS)

    def _make_broken_head(self) -> bytes:
        head, length = self._head(), self.random.randrange(1, 60)
        end = self.random.choice([b"\r\n\r\n", b"\n\n", b"\r\r", b"\x00\r\n\r\n"])
        return head[:length] + self.random.randbytes(3) + head[length:-4] + end

    def _make_noise(self) -> bytes:
        return self.random.randbytes(self.random.randrange(1, 400)) + b"\r\n\r\n"

    def _make_pipeline(self) -> bytes:
        return b"".join(self._make_plain() for _ in range(self.random.randrange(2, 6)))

    def _make_mutated(self) -> bytes:
        request = bytearray(self._make_plain())
        for _ in range(self.random.randrange(1, 8)):
            request[self.random.randrange(len(request))] = self.random.randrange(256)
        return bytes(request)

    def _head(self, *lines: str) -> bytes:
        """Return a head that is mostly valid, so that other parts of the request are reached."""
        target = self._choose(PATHS, TARGETS, rare=0.15).replace("{key}", self.key)
        method = self._choose(METHODS, RARE_METHODS, rare=0.1)
        version = self._choose(("HTTP/1.1",), ("HTTP/1.0", "HTTP/2.0", "HTTP/9", "ICY", ""), rare=0.05)
        host = self._choose(("Host: localhost",), ("Host: evil.example", "X: no host"), rare=0.05)
        kind = f"Content-Type: {self._choose(CONTENT_TYPES[:1], CONTENT_TYPES, rare=0.6)}"
        extra = self.random.sample(HEADERS, self.random.choice((0, 0, 1, 2)))
        first = f"{method} {target} {version}"
        return "\r\n".join([first, host, kind, *extra, *lines, "", ""]).encode("latin-1")

    def _choose(self, usual: Sequence[str], unusual: Sequence[str], *, rare: float) -> str:
        return self.random.choice(unusual if self.random.random() < rare else usual)


def send(port: int, request: bytes) -> str:
    """Return the status of the response, "closed", or "waiting" if the server waits for more."""
    with socket.create_connection((HOST, port), timeout=TIMEOUT_S) as connection:
        received = b""
        with suppress(ConnectionError):  # it may be closed before the request is sent completely
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        try:
            received = connection.recv(65_536)
        except TimeoutError:
            return "waiting"
        except ConnectionError:
            return "closed"
    if not received.startswith(b"HTTP/1."):
        return "closed"
    return received[9:12].decode("latin-1")


def run(port: int, key: str, *, count: int, seed: int) -> FuzzResult:
    """Send malformed requests to a server; ``key`` is that of an existing interview."""
    maker, result = RequestMaker(seed, key), FuzzResult()
    for _ in range(count):
        request = maker.make()
        try:
            status = send(port, request)
        except OSError as error:
            status = f"no connection ({type(error).__name__})"
        result.statuses[status] += 1
        is_failure = status.startswith(("5", "no")) and status not in map(str, DELIBERATE)
        if is_failure:
            result.failures.append(f"{status}: {request[:300]!r}")
    return result
