"""A server refuses requests to other host names."""


def test_a_local_server_refuses_a_foreign_host_name(client):
    refused = client.get("/healthz", headers={"Host": "evil.example"})
    assert refused.status_code == 421
    assert "does not have this name" in refused.json()["detail"]
    assert "evil" not in refused.text
    assert refused.json()["type"] == "urn:eddi:host"


def test_the_port_of_the_host_header_is_ignored(client):
    assert client.get("/healthz", headers={"Host": "localhost:99"}).status_code == 200
    assert client.get("/healthz", headers={"Host": "[::1]:99"}).status_code == 200
