"""A table of item parameters is shown as an item bank, and published."""

import re

import pytest

ITEMS = b"""item,text,section,a,b1,b2,options
sad,I felt sad,feelings,2.5,-0.5,0.8,Never|Sometimes|Often
hope,I felt hopeless,feelings,3.1,0.1,1.2,Never|Sometimes|Often
tired,I was tired,body,1.4,-1.0,0.6,Never|Sometimes|Often
"""


@pytest.fixture(scope="module")
def site(serving):
    with serving() as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()
        yield client


@pytest.fixture(scope="module")
def key(site):
    return site.post("/tables", files={"file": ("items.csv", ITEMS)}).json()["id"]


def send(site, address, **fields):
    token = re.search(r'name="csrf" value="([^"]+)"', site.get(address).text)[1]
    return site.post(address, data={"csrf": token, **fields})


def test_the_page_of_the_table_leads_to_the_item_bank(site, key):
    assert f"/analyst/tables/{key}/item-bank" in site.get(f"/analyst/tables/{key}").text


def test_information_and_reliability_are_shown(site, key):
    page = site.get(f"/analyst/tables/{key}/item-bank").text
    assert "3 items." in page
    assert page.count('<polyline class="curve of-training"') == 3
    assert '<th scope="row">I felt hopeless</th>' in page
    assert "Reliability" in page


def test_another_scale_is_shown(site, key):
    page = send(site, f"/analyst/tables/{key}/item-bank", trait="mood", mean="0", sd="1", then="show")
    assert page.status_code == 200
    assert "from a score of -3 to 3" in page.text


def test_an_item_bank_is_published_and_answered(site, key):
    address = f"/analyst/tables/{key}/item-bank"
    shown = send(site, address, trait="depression", name="mood", after="2", then="publish")
    assert shown.url.path == "/analyst/questionnaires/mood"
    step = site.post("/interviews", json={"questionnaire": "mood"}).json()
    assert step["question"]["text"] == "I felt hopeless"
    assert step["prediction"]["depression"]["mean"] == pytest.approx(50)


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("name", "/", "not a valid name"),
        ("after", "1.5", "The number of items is a whole number."),
        ("sd_below", "small", "“small” is not a number."),
        ("sd", "0", "standard deviation that is not above 0"),
        ("mean", "high", "“high” is not a number."),
    ],
)
def test_a_field_that_is_not_valid_is_explained(site, key, field, text, message):
    fields = {"name": "mood 2", "then": "publish", field: text}
    refused = send(site, f"/analyst/tables/{key}/item-bank", **fields)
    assert refused.status_code == 422
    assert message in refused.text


def test_a_table_without_item_parameters_is_explained(site, people):
    content = people(60, seed=3).to_csv(index=False).encode()
    key = site.post("/tables", files={"file": ("people.csv", content)}).json()["id"]
    page = site.get(f"/analyst/tables/{key}/item-bank")
    assert page.status_code == 422
    assert "<code>b1</code>" in page.text
