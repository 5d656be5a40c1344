"""A server refuses requests to other host names, and names that cannot be part of a URL."""

import pytest


def test_a_local_server_refuses_a_foreign_host_name(client):
    refused = client.get("/healthz", headers={"Host": "evil.example"})
    assert refused.status_code == 421
    assert "does not have this name" in refused.json()["detail"]
    assert "evil" not in refused.text
    assert refused.json()["type"] == "urn:eddi:host"


def test_the_port_of_the_host_header_is_ignored(client):
    assert client.get("/healthz", headers={"Host": "localhost:99"}).status_code == 200
    assert client.get("/healthz", headers={"Host": "[::1]:99"}).status_code == 200


@pytest.mark.parametrize("host", ["[", "[::1", "a b", "a:b", "a:99999", "a/b", "[x]", "a@b"])
def test_a_malformed_host_name_is_refused_even_if_any_host_is_allowed(client_of_any_host, host):
    for path in ("/", "/analyst", "/healthz"):
        refused = client_of_any_host.get(path, headers={"Host": host})
        assert refused.status_code == 400
        assert "the Host header is not a valid name" in refused.json()["detail"]


@pytest.fixture(scope="module")
def client_of_any_host(serving):
    with serving(hosts="*") as client:
        yield client
