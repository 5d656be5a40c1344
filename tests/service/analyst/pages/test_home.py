"""The analyst's pages over HTTP: what they show, what they refuse, and that they refuse it in words."""

import re

import httpx
import pytest

from eddi.service.analyst.jobs import JobKind, State, write_json
from eddi.service.analyst.workshop import Workshop


@pytest.fixture(scope="module")
def site(serving):
    with serving(max_upload=200_000) as client:
        client.follow_redirects = True
        client.app.state.workshop.supervisor.stop()  # what is asked for stays in the queue
        yield client


@pytest.fixture
def shop(site) -> Workshop:
    return site.app.state.workshop


@pytest.fixture
def send(site):
    """Fill in a form of a page and send it: `send("/analyst/tables/1/fit", target="age")`."""

    def filled(shown, action=None, files=None, **fields):
        token = re.search(r'name="csrf" value="(\w+)"', site.get(shown).text)[1]
        return site.post(action or shown, data={"csrf": token, **fields}, files=files)

    return filled


@pytest.fixture
def table(send, people):
    """The key of a table of people that was just uploaded."""
    content = people(120, seed=3).to_csv(index=False).encode()
    page = send("/analyst/tables", files={"file": ("people.csv", content)})
    assert page.status_code == 200
    return str(page.url).rsplit("/", 1)[1]


def words(page: httpx.Response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def place(site, table, column):
    """Which line of the grid a column has."""
    grid = site.get(f"/analyst/tables/{table}/schema").text
    return re.search(rf'id="name-(\d+)">{column}<', grid)[1]


def test_a_table_is_shown_as_it_came(site, table):
    page = site.get(f"/analyst/tables/{table}")
    assert "120 rows, 9 columns" in words(page)
    assert page.text.count('class="hole"') > 3
    assert "person 0" in page.text
    assert "people.csv" in site.get("/analyst").text


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "Choose a file first."),
        ({"file": ("", b"")}, "Choose a file first."),
        ({"file": ("notes.docx", b"text")}, "'notes.docx' is of no format that can be uploaded"),
        ({"file": ("t.csv", b"a\n1\n1\n")}, "Nothing is left to model."),
        ({"file": ("<b>.csv", b"")}, "'<b>.csv' is empty."),
    ],
)
def test_what_is_no_table_is_refused_on_the_same_page(send, shop, files, said):
    before = len(shop.tables.all())
    page = send("/analyst/tables", files=files or {"nothing": ("", b"")})
    assert page.status_code == 422
    assert said in words(page).replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")
    assert "<b>.csv" not in page.text
    assert len(shop.tables.all()) == before


def test_a_table_may_be_large_but_not_too_large(send):
    page = send("/analyst/tables", files={"file": ("t.csv", b"a,b\n" + b"1,2\n3,4.5\n" * 15_000)})
    assert page.status_code == 200
    page = send("/analyst/tables", files={"file": ("t.csv", b"a,b\n" + b"1,2\n3,4.5\n" * 25_000)})
    assert page.status_code == 413


def test_a_form_that_is_not_ours_changes_nothing(site, shop, table):
    for action in (f"tables/{table}/schema", f"tables/{table}/fit", f"tables/{table}/forget"):
        assert site.post(f"/analyst/{action}", data={"csrf": "0" * 64}).status_code == 403
    page = site.post("/analyst/tables", files={"file": ("t.csv", b"a,b\n1,2\n")})
    assert page.status_code == 403
    assert shop.tables.get(table).version == 1
    assert shop.jobs.all() == []


def test_the_grid_is_saved_and_shown_again(site, send, shop, table):
    n = place(site, table, "age")
    page = send(
        f"/analyst/tables/{table}/schema",
        **{f"text-{n}": "How old are you?", f"cost-{n}": "2.5", f"role-{n}": "always", "after": "1"},
    )
    assert "Saved." in page.text
    assert 'value="How old are you?"' in page.text
    asked = shop.tables.get(table).schema.question("age")
    assert (asked.cost, asked.always) == (2.5, True)
    page = send(f"/analyst/tables/{table}/schema", after="1")
    assert page.status_code == 412
    assert "was corrected meanwhile" in words(page)


def test_what_is_wrong_in_the_grid_is_told_at_its_box_and_nothing_is_saved(site, send, shop, table):
    n, m = place(site, table, "age"), place(site, table, "town")
    page = send(
        f"/analyst/tables/{table}/schema", **{f"low-{n}": "<old>", f"kind-{m}": "real", "after": "1"}
    )
    assert page.status_code == 422
    assert "2 things need another look; nothing was saved" in words(page)
    assert f'id="low-{n}" name="low-{n}" value="&lt;old&gt;"' in page.text  # what was typed stays
    assert f'aria-describedby="low-{n}-error"' in page.text
    assert "<title>Error: " in page.text
    assert shop.tables.get(table).version == 1


def test_a_target_brings_warnings_of_leaks(site, send, people):
    frame = people(200, seed=5, holes=0)
    frame["copy"] = frame["weight"] * 2.2046
    key = str(
        send("/analyst/tables", files={"file": ("p.csv", frame.to_csv(index=False).encode())}).url
    ).rsplit("/", 1)[1]
    grid = f"/analyst/tables/{key}/schema"
    assert "by itself" not in site.get(grid).text
    page = send(grid, **{f"role-{place(site, key, 'weight')}": "target"})
    assert "Tells 100% of &#39;weight&#39; by itself." in page.text
    assert "by itself" in site.get(f"/analyst/tables/{key}/fit").text


def test_a_schema_comes_and_goes_as_a_file(site, send, shop, table):
    toml = site.get(f"/analyst/tables/{table}/schema.toml")
    assert toml.headers["content-disposition"] == 'attachment; filename="schema.toml"'
    changed = toml.text.replace("[variables]", '[questions]\nage = { text = "Age?" }\n\n[variables]', 1)
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=changed)
    assert "Saved." in page.text
    assert shop.tables.get(table).schema.question("age").text == "Age?"
    for wrong, said in (("nonsense", "is not valid TOML"), ('x = "1"', "has the unknown key")):
        page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=wrong)
        assert (page.status_code, said in words(page)) == (422, True)
    other = toml.text.replace("age =", "mood =")
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=other)
    assert (page.status_code, "no column" in words(page)) == (422, True)
    other = re.sub(r"town = .*", 'town = { kind = "real" }', toml.text)
    page = send(f"/analyst/tables/{table}/schema", f"/analyst/tables/{table}/toml", toml=other)
    assert (page.status_code, "town" in words(page)) == (422, True)
    assert site.get(f"/analyst/tables/{table}/schema").status_code == 200


def test_wide_tables_have_a_grid_of_several_pages(site, send, shop):
    head = ",".join(f"c{n}" for n in range(130))
    rows = "\n".join(",".join(f"{n * r % 7 + n / 10}" for n in range(130)) for r in range(1, 30))
    page = send("/analyst/tables", files={"file": ("wide.csv", f"{head}\n{rows}\n".encode())})
    key = str(page.url).rsplit("/", 1)[1]
    grid = f"/analyst/tables/{key}/schema"
    assert "c99<" in site.get(grid).text
    assert "c100<" not in site.get(grid).text
    assert "c129<" in site.get(f"{grid}?page=2").text
    page = send(f"{grid}?page=2", grid, **{"page": "2", "unit-130": "kg"})
    assert "page=2" in str(page.url)
    assert shop.tables.get(key).schema["c129"].unit == "kg"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"target": ""}, "There is no target."),
        ({"target": "mood"}, "The target 'mood' is not a variable"),
        ({"steps": "many"}, "Steps must be a whole number from 1 to 100,000, got 'many'."),
        ({"steps": "0"}, "Steps must be a whole number from 1"),
        ({"seed": "-1"}, "Seed must be a whole number from 0"),
        ({"recipe": "cake"}, "Recipe must be one of default, paper, got 'cake'."),
    ],
)
def test_a_training_that_cannot_be_is_refused_in_words(send, shop, table, fields, said):
    page = send(f"/analyst/tables/{table}/fit", **{"target": "stage", **fields})
    assert page.status_code == 422
    assert said in words(page).replace("&#39;", "'")
    assert shop.jobs.all() == []


def test_a_job_is_shown_cancelled_and_resumed(site, send, shop, table):
    page = send(f"/analyst/tables/{table}/fit", target="stage", steps="300", held_out="0.1")
    key = str(page.url).rsplit("/", 1)[1]
    assert "Waiting for its turn" in words(page)
    assert shop.jobs.get(key).order["held_out"] == 0.1
    job = shop.jobs.start(shop.jobs.get(key), {"step": 0})
    shop.jobs.place(key).mkdir(parents=True)
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
    write_json(shop.jobs.place(key) / "progress.json", {"history": history, "max_steps": 300})
    now = site.get(f"/analyst/jobs/{key}/now")
    assert "67% done. About 1 s left at most" in words(now)
    assert "<polyline" in now.text
    assert "<html" not in now.text
    page = send(f"/analyst/jobs/{key}", f"/analyst/jobs/{key}/cancel")
    assert "Cancelled" in words(page)
    page = send(f"/analyst/jobs/{key}", f"/analyst/jobs/{key}/resume")
    assert shop.jobs.get(key).state is State.WAITING
    job = shop.jobs.fail(shop.jobs.start(shop.jobs.get(key), {"step": 0}), "it rained <in>")
    assert "it rained &lt;in&gt;" in site.get(f"/analyst/jobs/{key}").text
    assert "failed" in words(site.get("/analyst"))
    for gone in shop.jobs.all():
        shop.jobs.store.forget(f"job/{gone.key}")
    assert job.kind is JobKind.FIT


def test_a_model_is_published_and_rolled_back(site, send, shop, questionnaire):
    form = f"/analyst/models/{questionnaire.model_sha256}/publish"
    page = send(form, name="people", after="2", probability_above="0,9")
    assert "stops after 2 answers or when a level is 90% likely" in words(page)
    assert site.post("/interviews").json()["id"]
    assert site.get("/questionnaires").json()[0]["version"] == 2
    page = send("/analyst/questionnaires/people", "/analyst/questionnaires/people/rollback", version="1")
    assert "by version 1; asks everything it may" in words(page)
    assert site.get("/questionnaires").json()[0]["version"] == 1
    page = send(form, name="about stage")
    assert page.status_code == 200
    start = site.get("/q/about%20stage")
    assert 'name="questionnaire" value="about stage"' in start.text
    page = send("/q/about%20stage", "/start", questionnaire="about stage")
    assert "Question 1" in words(page)
    key = str(page.url).rsplit("/", 1)[1]
    assert shop.jobs.store.read(f"interview/{key}")[0].facts["questionnaire"] == "about stage"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "A questionnaire cannot be called ''."),
        ({"name": "a/b"}, "A questionnaire cannot be called 'a/b'."),
        ({"after": "some"}, "must be a number, got 'some'"),
        ({"after": "0"}, "must be above 0"),
        ({"probability_above": "2"}, "2"),
    ],
)
def test_what_cannot_be_published_is_refused_in_words(send, shop, questionnaire, fields, said):
    before = shop.publishing.get("people").versions
    form = f"/analyst/models/{questionnaire.model_sha256}/publish"
    page = send(form, **{"name": "people", **fields})
    assert page.status_code == 422
    assert said in words(page).replace("&#39;", "'")
    assert shop.publishing.get("people").versions == before


@pytest.mark.parametrize(
    "where",
    [
        "tables/000000000000",
        "tables/x/schema",
        "jobs/000000000000",
        f"models/{'0' * 64}/publish",
        "questionnaires/mood",
    ],
)
def test_what_is_not_there_is_said_on_a_page(site, where):
    page = site.get(f"/analyst/{where}")
    assert page.status_code == 404
    assert "There is nothing here" in words(page)


def test_a_table_is_forgotten_after_asking_once_more(site, send, table):
    page = site.get(f"/analyst/tables/{table}/forget")
    assert "erased for good" in words(page)
    send(f"/analyst/tables/{table}/forget")
    assert site.get(f"/analyst/tables/{table}").status_code == 404


def test_a_server_without_a_model_has_a_workshop_and_nothing_to_answer(serving):
    with serving(model="") as client:
        page = client.get("/")
        assert page.status_code == 404
        assert "There is nothing to answer here yet" in words(page)
        assert 'href="/analyst"' in page.text
        assert client.get("/analyst").status_code == 200
        refused = client.post("/interviews")
        assert refused.status_code == 409
        assert "nothing is published here yet" in refused.json()["detail"]
        assert client.get("/readyz").status_code == 200
