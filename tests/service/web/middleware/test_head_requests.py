"""HEAD requests get the headers of a GET request."""

import pytest


@pytest.mark.parametrize("path", ["/", "/healthz", "/openapi.json"])
def test_a_head_request_gets_only_the_headers(client, path):
    get, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
