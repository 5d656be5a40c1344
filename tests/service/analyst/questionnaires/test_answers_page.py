"""Answers are counted, exported without secret links, and deleted for one person."""

import csv
import io
import re

import pyarrow.parquet as pq
import pytest

from eddi.service.interviews.history import name_person


@pytest.fixture
def interviews(managed_site, publish):
    """The keys of two interviews, of which one is finished, and the address of their questionnaire."""
    address = publish("collected")
    keys = []
    for n_answers in (1, 8):
        started = managed_site.post("/interviews", json={"questionnaire": "collected"}).json()
        question = started["question"]
        for number in range(n_answers):
            if question is None:
                break
            values = {"without": "declined"} if number == 1 else _value(question)
            body = {"question": question["name"], "values": values}
            step = managed_site.post(f"/interviews/{started['id']}/answers", json=body).json()
            question = step["question"]
        keys.append(started["id"])
    yield address, keys
    for key in keys:
        managed_site.delete(f"/interviews/{key}")


def _value(question):
    return question["reveals"][0].get("levels", [50])[-1]


def read_csv(page):
    return list(csv.DictReader(io.StringIO(page.content.decode("utf-8-sig"))))


def test_a_file_has_one_row_per_person_and_no_secret_link(managed_site, interviews):
    address, keys = interviews
    file = managed_site.get(f"{address}/answers.csv")
    rows = read_csv(file)
    assert [row["person"] for row in rows] == [name_person(key) for key in keys]
    assert [int(row["answers"]) for row in rows] == [1, 6]
    assert rows[1]["declined"]
    parquet = managed_site.get(f"{address}/answers.parquet").content
    assert pq.read_table(io.BytesIO(parquet)).num_rows == 2
    for key in keys:
        assert key.encode() not in file.content + parquet
        assert key not in managed_site.get(f"{address}/answers").text


def test_filters_leave_people_out(managed_site, interviews):
    address, _ = interviews
    for query, n_rows in (
        ("finished=yes", 1),
        ("version=9", 0),
        ("until=2020-01-01", 0),
        ("since=x", 2),
    ):
        assert len(read_csv(managed_site.get(f"{address}/answers.csv?{query}"))) == n_rows


def test_the_codebook_explains_levels(managed_site, interviews):
    rows = read_csv(managed_site.get(f"{interviews[0]}/codebook.csv"))
    smoker = [(row["level"], row["label"]) for row in rows if row["variable"] == "smoker"]
    assert smoker == [("no", "No"), ("yes", "Yes")]


def test_the_page_counts_interviews_and_refusals(managed_site, interviews):
    page = re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", managed_site.get(f"{interviews[0]}/answers").text)
    )
    assert "Started 2" in page
    assert "Finished 1" in page
    assert "6.0 on average" in page
    assert "1 after 1 answers" in page


def test_the_answers_of_one_person_can_be_deleted(managed_site, fill_in, interviews):
    address, (first, second) = interviews
    fill_in(f"{address}/answers", f"{address}/answers/delete", person=name_person(first))
    assert managed_site.get(f"/interviews/{first}").status_code == 404
    assert managed_site.get(f"/interviews/{second}").status_code == 200
    again = fill_in(f"{address}/answers", f"{address}/answers/delete", person=name_person(first))
    assert again.status_code == 404
