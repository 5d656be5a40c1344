"""The sections of a table are edited on a page."""

import re

import pytest


@pytest.fixture(scope="module")
def site(serving):
    with serving() as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()
        yield client


@pytest.fixture
def key(site, people):
    content = people(60, seed=3).to_csv(index=False).encode()
    return site.post("/tables", files={"file": ("people.csv", content)}).json()["id"]


def save(site, address, **fields):
    token = re.search(r'name="csrf" value="([^"]+)"', site.get(address).text)[1]
    return site.post(
        address, data={"csrf": token, **{k.replace("_", "-"): v for k, v in fields.items()}}
    )


def test_sections_are_saved_and_then_have_limits(site, key):
    address = f"/analyst/tables/{key}/sections"
    first = save(site, address, section_0="person", section_1="person")
    assert "Saved." in first.text
    assert 'name="share-0"' in first.text
    save(site, address, section_0="person", section_1="person", share_0="40", maximum_0="1")
    schema = site.get(f"/tables/{key}").json()["schema"]
    assert schema["sections"] == {"person": {"share": 0.4, "maximum": 1}}


def test_a_value_that_is_not_valid_is_shown_again_with_the_reason(site, key):
    refused = save(site, f"/analyst/tables/{key}/sections", exclusive="age; nothing")
    assert refused.status_code == 422
    assert "which is not a question" in refused.text
    assert "age; nothing</textarea>" in refused.text
