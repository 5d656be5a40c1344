"""Every request has an ID: its own if it is valid, otherwise a new one."""

import pytest


def test_a_valid_id_is_kept(client):
    response = client.get("/healthz", headers={"X-Request-Id": "abc-1"})
    assert response.headers["x-request-id"] == "abc-1"


@pytest.mark.parametrize("invalid", ["x" * 65, "a b", '"'])
def test_an_invalid_id_is_replaced(client, invalid):
    request_id = client.get("/healthz", headers={"X-Request-Id": invalid}).headers["x-request-id"]
    assert request_id != invalid
    assert len(request_id) == 32
