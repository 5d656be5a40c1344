"""Outcomes on pages, through the API and in files."""

import csv
import io

import pytest

from eddi.service.interviews.history import name_person


@pytest.fixture
def person(managed_site, publish):
    """The address of a questionnaire, and the name of somebody who began to answer it."""
    address = publish("outcomes")
    key = managed_site.post("/interviews", json={"questionnaire": "outcomes"}).json()["id"]
    managed_site.post(f"/interviews/{key}/answers", json={"question": "age", "values": 61})
    managed_site.post(
        f"/interviews/{key}/answers", json={"question": "smoker", "values": {"without": "declined"}}
    )
    yield address, name_person(key)
    managed_site.delete(f"/interviews/{key}")


def read_outcomes(site, address):
    text = site.get(f"{address}/answers.csv").content.decode("utf-8-sig")
    return {row["person"]: row["outcome"] for row in csv.DictReader(io.StringIO(text))}


def test_the_page_of_a_person_shows_answers_and_takes_the_outcome(managed_site, fill_in, person):
    address, name = person
    page = f"{address}/answers/{name}"
    text = managed_site.get(page).text
    assert "61 years" in text
    assert "declined" in text
    assert "Prediction after the last answer" in text
    saved = fill_in(page, f"{page}/outcome", **{"value stage": "late"})
    assert saved.status_code == 200
    assert '<option value="late" selected>' in saved.text
    assert read_outcomes(managed_site, address) == {name: "late"}
    assert "outcome: late" in managed_site.get(f"{address}/answers").text


def test_an_empty_field_withdraws_the_outcome(managed_site, fill_in, person):
    address, name = person
    page = f"{address}/answers/{name}"
    fill_in(page, f"{page}/outcome", **{"value stage": "late"})
    fill_in(page, f"{page}/outcome", **{"value stage": ""})
    assert read_outcomes(managed_site, address) == {name: ""}


def test_a_value_that_is_not_valid_is_explained_on_the_page(fill_in, person):
    address, name = person
    page = f"{address}/answers/{name}"
    refused = fill_in(page, f"{page}/outcome", **{"value stage": "<b>"})
    assert refused.status_code == 422
    assert "must be one of early, late, last" in refused.text
    assert "<b>" not in refused.text


def test_the_page_of_nobody_is_not_found(managed_site, person):
    address, _ = person
    for name in ("0" * 16, "x", "delete"):
        assert managed_site.get(f"{address}/answers/{name}").status_code == 404


def test_a_file_is_imported_and_bad_lines_are_listed(managed_site, fill_in, person):
    address, name = person
    file = f"interview,value\n{name},last\n{name},<i>\n".encode()
    page = fill_in(f"{address}/outcomes", files={"file": ("lab.csv", file)})
    assert "<strong>1 stored</strong>" in page.text
    assert "Line 3:" in page.text
    assert "<i>" not in page.text
    assert read_outcomes(managed_site, address) == {name: "last"}
    again = fill_in(f"{address}/outcomes", files={"file": ("lab.csv", file)})
    assert "<strong>0 stored</strong>, 1 known already" in again.text


def test_the_exported_answers_can_be_completed_and_imported(managed_site, fill_in, person):
    address, name = person
    exported = managed_site.get(f"{address}/answers.csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(exported)))
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys())
    writer.writeheader()
    writer.writerows({**row, "outcome": "early"} for row in rows)
    fill_in(f"{address}/outcomes", files={"file": ("answers.csv", out.getvalue().encode())})
    assert read_outcomes(managed_site, address) == {name: "early"}


@pytest.mark.parametrize("files", [None, {"file": ("x.csv", b"nothing")}])
def test_a_file_that_cannot_be_read_is_refused_on_the_page(fill_in, person, files):
    refused = fill_in(f"{person[0]}/outcomes", files=files)
    assert refused.status_code == 422
    assert 'id="file-error"' in refused.text


def test_outcomes_are_recorded_through_the_api(managed_site, person):
    _, name = person
    path = f"/questionnaires/outcomes/outcomes/{name}"
    recorded = managed_site.put(path, json={"value": "late"}).json()
    assert (recorded["person"], recorded["values"]) == (name, {"stage": "late"})
    assert managed_site.put(path, json={"value": "late"}).json() == recorded
    assert managed_site.put(path, json={"value": {"stage": "last"}}).status_code == 200
    assert managed_site.put(path, json={"value": "IX"}).status_code == 422
    assert managed_site.put(f"{path}0", json={"value": "late"}).status_code == 404
    assert managed_site.delete(path).status_code == 204


def test_a_file_is_imported_through_the_api(managed_site, person):
    _, name = person
    file = f"interview;value\n{name};late\nx;late\n{name};\n".encode()
    response = managed_site.post("/questionnaires/outcomes/outcomes", files={"file": ("a.csv", file)})
    report = response.json()
    assert (report["stored"], report["unchanged"], report["empty"], report["failed"]) == (1, 0, 1, 1)
    assert report["errors"][0]["line"] == 3
    assert managed_site.post("/questionnaires/outcomes/outcomes", json={}).status_code == 415


def test_recording_outcomes_is_in_the_activity_log_without_their_values(managed_site, person):
    _, name = person
    managed_site.put(f"/questionnaires/outcomes/outcomes/{name}", json={"value": "late"})
    entries = managed_site.get("/activity", params={"questionnaire": "outcomes"}).json()["entries"]
    assert entries[0]["action"] == "recorded outcomes of"
    assert "late" not in str(entries)
