"""Answers are exported and codebooks are used over HTTP."""

import pytest

from eddi.interview.exports.fhir_reading import read_bundle


@pytest.fixture
def answers(managed_site, publish):
    """The address of the answers to a questionnaire that one person has begun."""
    publish("exchanged")
    begun = managed_site.post("/interviews", json={"questionnaire": "exchanged"}).json()
    answer = {"question": "age", "values": 44}
    managed_site.post(f"/interviews/{begun['id']}/answers", json=answer)
    return "/questionnaires/exchanged/answers"


@pytest.mark.parametrize(
    ("name", "media_type", "start"),
    [
        ("csv", "text/csv; charset=utf-8", b"person,"),
        ("parquet", "application/vnd.apache.parquet", b"PAR1"),
        ("redcap.csv", "text/csv; charset=utf-8", b"record_id,age"),
        ("xlsform.csv", "text/csv; charset=utf-8", b"start,end,age"),
        ("fhir.json", "application/fhir+json", b"{"),
    ],
)
def test_answers_are_exported_in_every_format(managed_site, answers, name, media_type, start):
    response = managed_site.get(answers, params={"format": name})
    assert (response.status_code, response.headers["content-type"]) == (200, media_type)
    assert response.content.startswith(start)
    assert response.headers["content-disposition"] == f'attachment; filename="answers.{name}"'


def test_exported_responses_are_read_back(managed_site, managed, answers):
    bundle = managed_site.get(answers, params={"format": "fhir.json"}).json()
    schema = managed.catalogue.current("exchanged").model.schema
    people = read_bundle(bundle, schema)
    assert people[0].record.answers[0].values == {"age": 44}


def test_filters_leave_interviews_out(managed_site, answers):
    finished = managed_site.get(answers, params={"finished": "true"})
    assert len(finished.text.splitlines()) == 1  # the header
    assert managed_site.get(answers, params={"since": "tomorrow"}).status_code == 422


def test_an_unknown_format_or_questionnaire_is_an_error(managed_site, answers):
    assert managed_site.get(answers, params={"format": "sav"}).status_code == 422
    assert managed_site.get("/questionnaires/nothing/answers").status_code == 404


def test_a_codebook_is_used(managed_site, people):
    table = people(60, seed=3).to_csv(index=False).encode()
    key = managed_site.post("/tables", files={"file": ("people.csv", table)}).json()["id"]
    codebook = b"variable,label,codes\nsmoker,Do you smoke?,no = No; yes = Yes\n"
    response = managed_site.post(f"/tables/{key}/codebook", files={"file": ("codes.csv", codebook)})
    assert response.status_code == 200, response.text
    assert response.json()["version"] == 2
    schema = managed_site.get(f"/tables/{key}").json()["schema"]
    assert "Do you smoke?" in str(schema["questions"]["smoker"])


def test_a_file_that_is_no_codebook_is_refused(managed_site, people):
    table = people(60, seed=3).to_csv(index=False).encode()
    key = managed_site.post("/tables", files={"file": ("people.csv", table)}).json()["id"]
    address = f"/tables/{key}/codebook"
    assert managed_site.post(address, files={"file": ("x.csv", b"\x00\x01")}).status_code == 422
    assert managed_site.post(address, json={}).status_code == 415
