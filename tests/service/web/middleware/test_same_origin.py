"""Pages of other sites cannot change anything."""

import pytest


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "http://[::1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({}, 201),
    ],
)
def test_changes_from_other_sites_are_refused(client, headers, status):
    response = client.post("/interviews", headers=headers)
    assert response.status_code == status
    if status == 403:
        assert response.json()["type"] == "urn:eddi:foreign-page"


def test_pages_of_this_site_may_change_things_and_other_sites_may_read(client):
    own_origin = str(client.base_url).rstrip("/")
    assert client.post("/interviews", headers={"Origin": own_origin}).status_code == 201
    assert client.get("/healthz", headers={"Origin": "https://evil.example"}).status_code == 200
