"""The analyst's pages over HTTP: what they show, what they refuse, and the error messages."""

import html
import re

import httpx
import pytest

from eddi.service.analyst.jobs.job_queue import JobKind, JobState, write_json
from eddi.service.analyst.workshop import Workshop


@pytest.fixture(scope="module")
def site(serving):
    with serving(max_upload=200_000) as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()  # submitted jobs stay in the queue
        yield client


@pytest.fixture
def shop(site) -> Workshop:
    return site.app.state.workshop


@pytest.fixture
def send(site):
    """Fill in a form of a page and send it: `send("/analyst/tables/1/fit", target="age")`."""

    def fill_in(address, action=None, files=None, **fields):
        token = re.search(r'name="csrf" value="([^"]+)"', site.get(address).text)[1]
        return site.post(action or address, data={"csrf": token, **fields}, files=files)

    return fill_in


@pytest.fixture
def table(send, people):
    """The key of a table of people that was just uploaded."""
    content = people(120, seed=3).to_csv(index=False).encode()
    page = send("/analyst/tables", files={"file": ("people.csv", content)})
    assert page.status_code == 200
    return str(page.url).rsplit("/", 1)[1]


def text_of(page: httpx.Response) -> str:
    """The text of a page without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def number_of(site, table, column):
    """The row of the schema form that a column has."""
    form = site.get(f"/analyst/tables/{table}/schema").text
    return re.search(rf'id="name-(\d+)">{column}<', form)[1]


def test_the_first_rows_of_a_table_are_shown(site, table):
    page = site.get(f"/analyst/tables/{table}")
    assert "120 rows, 9 columns" in text_of(page)
    assert page.text.count('class="missing"') > 3
    assert "person 0" in page.text
    assert "people.csv" in site.get("/analyst").text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "Choose a file first."),
        ({"file": ("", b"")}, "Choose a file first."),
        ({"file": ("notes.docx", b"text")}, "'notes.docx' is not in a supported format"),
        ({"file": ("t.csv", b"a\n1\n1\n")}, "Nothing is left to model."),
        ({"file": ("<b>.csv", b"")}, "'<b>.csv' is empty."),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_on_the_same_page(send, shop, files, message):
    before = len(shop.tables.all())
    page = send("/analyst/tables", files=files or {"nothing": ("", b"")})
    assert page.status_code == 422
    assert message in text_of(page).replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
    assert "<b>.csv" not in page.text
    assert len(shop.tables.all()) == before


def test_the_size_of_an_upload_is_limited(send):
    page = send("/analyst/tables", files={"file": ("t.csv", b"a,b\n" + b"1,2\n3,4.5\n" * 15_000)})
    assert page.status_code == 200
    page = send("/analyst/tables", files={"file": ("t.csv", b"a,b\n" + b"1,2\n3,4.5\n" * 25_000)})
    assert page.status_code == 413


def test_a_form_without_a_valid_token_changes_nothing(site, shop, table):
    for action in (f"tables/{table}/schema", f"tables/{table}/fit", f"tables/{table}/forget"):
        assert site.post(f"/analyst/{action}", data={"csrf": "0" * 64}).status_code == 403
    page = site.post("/analyst/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert page.status_code == 403
    assert shop.tables.get(table).version == 1
    assert shop.jobs.all() == []


def test_the_schema_form_is_saved_and_shown_again(site, send, shop, table):
    n = number_of(site, table, "age")
    page = send(
        f"/analyst/tables/{table}/schema",
        **{f"text-{n}": "How old are you?", f"cost-{n}": "2.5", f"role-{n}": "always", "after": "1"},
    )
    assert "Saved." in page.text
    assert 'value="How old are you?"' in page.text
    question = shop.tables.get(table).schema.question("age")
    assert (question.cost, question.always) == (2.5, True)
    page = send(f"/analyst/tables/{table}/schema", after="1")
    assert page.status_code == 412
    assert "was changed in the meantime" in text_of(page)


def test_errors_are_shown_at_their_fields_and_nothing_is_saved(site, send, shop, table):
    n, m = number_of(site, table, "age"), number_of(site, table, "town")
    page = send(
        f"/analyst/tables/{table}/schema", **{f"low-{n}": "<old>", f"kind-{m}": "real", "after": "1"}
    )
    assert page.status_code == 422
    assert "There are 2 errors; nothing was saved" in text_of(page)
    assert f'id="low-{n}" name="low-{n}" value="&lt;old&gt;"' in page.text  # the entered text is kept
    assert f'aria-describedby="low-{n}-error"' in page.text
    assert "<title>Error: " in page.text
    assert shop.tables.get(table).version == 1


def test_a_target_leads_to_warnings_about_leaks(site, send, people):
    frame = people(200, seed=5, missing=0)
    frame["copy"] = frame["weight"] * 2.2046
    key = str(
        send("/analyst/tables", files={"file": ("p.csv", frame.to_csv(index=False).encode())}).url
    ).rsplit("/", 1)[1]
    form = f"/analyst/tables/{key}/schema"
    assert "on its own" not in site.get(form).text
    page = send(form, **{f"role-{number_of(site, key, 'weight')}": "target"})
    assert "Explains 100% of &#39;weight&#39; on its own." in page.text
    assert "on its own" in site.get(f"/analyst/tables/{key}/fit").text


def test_a_schema_is_downloaded_and_saved_as_toml(site, send, shop, table):
    toml = site.get(f"/analyst/tables/{table}/schema.toml")
    assert toml.headers["content-disposition"] == 'attachment; filename="schema.toml"'
    changed = toml.text.replace("[variables]", '[questions]\nage = { text = "Age?" }\n\n[variables]', 1)
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=changed)
    assert "Saved." in page.text
    assert shop.tables.get(table).schema.question("age").text == "Age?"
    for wrong, message in (("nonsense", "is not valid TOML"), ('x = "1"', "has the unknown key")):
        page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=wrong)
        assert (page.status_code, message in text_of(page)) == (422, True)
    other = toml.text.replace("age =", "mood =")
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=other)
    assert (page.status_code, "no column" in text_of(page)) == (422, True)
    other = re.sub(r"town = .*", 'town = { kind = "real" }', toml.text)
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=other)
    assert (page.status_code, "town" in text_of(page)) == (422, True)
    assert site.get(f"/analyst/tables/{table}/schema").status_code == 200


def test_a_codebook_gives_the_texts_and_lists_what_is_lost(send, shop, table):
    form, address = f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/codebook"
    codebook = b"variable,label,codes,editor\nage,How old are you?,18-99 years,me\n"
    page = send(form, address, files={"file": ("codebook.csv", codebook)})
    assert "Saved." in page.text
    assert "'editor' has no equivalent in a schema" in html.unescape(text_of(page))
    schema = shop.tables.get(table).schema
    assert schema.question("age").text == "How old are you?"
    assert (schema["age"].low, schema["age"].high, schema["age"].unit) == (18, 99, "years")


def test_a_file_that_is_not_a_codebook_changes_nothing(send, shop, table):
    form, address = f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/codebook"
    before = shop.tables.get(table)
    page = send(form, address, files={"file": ("x.csv", b"a,b\n1,2\n")})
    assert (page.status_code, "&#39;x.csv&#39; is not a codebook" in page.text) == (422, True)
    assert "Choose a file first." in text_of(send(form, address))
    assert shop.tables.get(table) == before


def test_a_wide_table_has_several_schema_pages(site, send, shop):
    head = ",".join(f"c{n}" for n in range(130))
    rows = "\n".join(",".join(f"{n * r % 7 + n / 10}" for n in range(130)) for r in range(1, 30))
    page = send("/analyst/tables", files={"file": ("wide.csv", f"{head}\n{rows}\n".encode())})
    key = str(page.url).rsplit("/", 1)[1]
    form = f"/analyst/tables/{key}/schema"
    assert "c99<" in site.get(form).text
    assert "c100<" not in site.get(form).text
    assert "c129<" in site.get(f"{form}?page=2").text
    page = send(f"{form}?page=2", form, **{"page": "2", "unit-130": "kg"})
    assert "page=2" in str(page.url)
    assert shop.tables.get(key).schema["c129"].unit == "kg"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"target": ""}, "There is no target."),
        ({"target": "mood"}, "The target 'mood' is not a variable"),
        (
            {"steps": "many"},
            "“Maximum number of steps” must be a whole number from 1 to 100,000, and not “many”.",
        ),
        ({"steps": "0"}, "“Maximum number of steps” must be a whole number from 1"),
        ({"within": "much"}, "The largest error must be a number, and not “much”."),
        ({"seed": "-1"}, "“Seed” must be a whole number from 0"),
        ({"recipe": "cake"}, "Recipe must be one of default, paper, got 'cake'."),
    ],
)
def test_an_invalid_training_job_is_refused_with_a_message(send, shop, table, fields, message):
    page = send(f"/analyst/tables/{table}/fit", **{"target": "stage", **fields})
    assert page.status_code == 422
    assert message in text_of(page).replace("&#39;", "'")
    assert shop.jobs.all() == []


def test_a_job_is_shown_cancelled_and_resumed(site, send, shop, table):
    page = send(f"/analyst/tables/{table}/fit", target="stage", steps="300", held_out="0.1")
    key = str(page.url).rsplit("/", 1)[1]
    assert "Waiting to start" in text_of(page)
    assert shop.jobs.get(key).spec["held_out"] == 0.1
    job = shop.jobs.start(shop.jobs.get(key), {"step": 0})
    shop.jobs.job_folder(key).mkdir(parents=True)
    history = [
        {
            "step": step,
            "max_steps": 300,
            "loss": 3 / step,
            "validation": -1.0,
            "best": -1.0,
            "seconds": 2.0,
        }
        for step in (100, 200)
    ]
    write_json(shop.jobs.job_folder(key) / "progress.json", {"history": history, "max_steps": 300})
    status = site.get(f"/analyst/jobs/{key}/now")
    assert "67% done. At most about 1 s left." in text_of(status)
    assert "<polyline" in status.text
    assert "<html" not in status.text
    page = send(f"/analyst/jobs/{key}", f"/analyst/jobs/{key}/cancel")
    assert "Cancelled" in text_of(page)
    page = send(f"/analyst/jobs/{key}", f"/analyst/jobs/{key}/resume")
    assert shop.jobs.get(key).state is JobState.WAITING
    job = shop.jobs.fail(shop.jobs.start(shop.jobs.get(key), {"step": 0}), "it rained <in>")
    assert "it rained &lt;in&gt;" in site.get(f"/analyst/jobs/{key}").text
    assert "failed" in text_of(site.get("/analyst"))
    for other in shop.jobs.all():
        shop.jobs.store.forget(f"job/{other.key}")
    assert job.kind is JobKind.FIT


def test_a_model_is_published_and_rolled_back(site, send, shop, questionnaire):
    form = f"/analyst/models/{questionnaire.model_sha256}/publish"
    page = send(form, name="people", after="2", probability_above="0,9")
    assert "stops after 2 answers or when a level is 90% likely" in text_of(page)
    assert site.post("/interviews").json()["id"]
    assert site.get("/questionnaires").json()[0]["version"] == 2
    page = send("/analyst/questionnaires/people", "/analyst/questionnaires/people/rollback", version="1")
    assert "use version 1. Target: stage ; asks all questions" in text_of(page)
    assert site.get("/questionnaires").json()[0]["version"] == 1
    page = send(form, name="about stage")
    assert page.status_code == 200
    start = site.get("/q/about%20stage")
    assert 'name="questionnaire" value="about stage"' in start.text
    page = send("/q/about%20stage", "/start", questionnaire="about stage")
    assert "Question 1" in text_of(page)
    key = page.url.path.split("/")[2]
    assert shop.jobs.store.read(f"interview/{key}")[0].facts["questionnaire"] == "about stage"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "'' is not a valid name of a questionnaire."),
        ({"name": "a/b"}, "'a/b' is not a valid name of a questionnaire."),
        ({"after": "some"}, "must be a number, and not “some”"),
        ({"after": "0"}, "must be above 0"),
        ({"probability_above": "2"}, "2"),
    ],
)
def test_an_invalid_questionnaire_is_refused_with_a_message(send, shop, questionnaire, fields, message):
    before = shop.publisher.get("people").versions
    form = f"/analyst/models/{questionnaire.model_sha256}/publish"
    page = send(form, **{"name": "people", **fields})
    assert page.status_code == 422
    assert message in text_of(page).replace("&#39;", "'")
    assert shop.publisher.get("people").versions == before


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("tables/000000000000", "There is no such table"),
        ("tables/x/schema", "There is no such table"),
        ("jobs/000000000000", "There is no such job"),
        (f"models/{'0' * 64}/publish", "There is no such model"),
        ("questionnaires/mood", "There is no questionnaire of this name"),
    ],
)
def test_an_unknown_address_is_a_page_not_found(site, address, title):
    page = site.get(f"/analyst/{address}")
    assert page.status_code == 404
    assert f"<h1>{title}</h1>" in page.text


def test_a_table_is_deleted_after_a_confirmation(site, send, table):
    page = site.get(f"/analyst/tables/{table}/forget")
    assert "permanently deleted" in text_of(page)
    send(f"/analyst/tables/{table}/forget")
    assert site.get(f"/analyst/tables/{table}").status_code == 404


def test_a_server_without_a_model_has_a_workshop_but_no_questionnaire(serving):
    with serving(model="") as client:
        page = client.get("/")
        assert page.status_code == 404
        assert "There is nothing to answer here yet" in text_of(page)
        assert 'href="/analyst"' in page.text
        assert client.get("/analyst").status_code == 200
        refused = client.post("/interviews")
        assert refused.status_code == 409
        assert "nothing is published here yet" in refused.json()["detail"]
        assert client.get("/readyz").status_code == 200
