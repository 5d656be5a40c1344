"""Headers of ASGI messages are pairs of bytes."""

from eddi.service.web.middleware.raw_headers import add_missing_headers, get_header, to_raw

SCOPE = {"headers": [(b"host", b"one"), (b"host", b"two"), (b"accept", b"\xe4")]}


def test_the_first_header_with_a_name_counts():
    assert get_header(SCOPE, b"host") == "one"
    assert get_header(SCOPE, b"accept") == "\xe4"
    assert get_header(SCOPE, b"origin") is None


def test_a_header_that_a_response_sets_itself_is_kept():
    message = {"type": "http.response.start", "headers": [(b"Cache-Control", b"public")]}
    add_missing_headers(message, to_raw({"Cache-Control": "no-store", "X-Frame-Options": "DENY"}))
    assert message["headers"] == [(b"Cache-Control", b"public"), (b"x-frame-options", b"DENY")]


def test_a_response_without_headers_gets_all():
    message = {"type": "http.response.start"}
    add_missing_headers(message, [(b"a", b"1")])
    assert message["headers"] == [(b"a", b"1")]
