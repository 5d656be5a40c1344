"""The pages that judge a model, from a real server."""

import hashlib
import re

import httpx
import pytest


@pytest.fixture(scope="module")
def client(gallery_site):
    with httpx.Client(base_url=f"{gallery_site}/analyst", timeout=60) as one:
        yield one


def page(client, address, status=200):
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    assert "text/html" in answer.headers["content-type"]
    return answer.text


def test_the_card_tells_and_leads_on(client, gallery):
    seal = gallery.seals["stage"]
    text = page(client, f"/models/{seal}")
    for words in ("Model card", "What do you weigh?", "guessed rightly", "How training went", seal):
        assert words in text
    assert f"/analyst/models/{seal}/publish" in text
    assert f"/analyst/models/{seal}/evaluation" in text


def test_the_file_is_the_model(client, gallery):
    seal = gallery.seals["age"]
    answer = client.get(f"/models/{seal}/file")
    assert hashlib.sha256(answer.content).hexdigest() == seal
    assert f'filename="people-{seal[:8]}.eddi"' in answer.headers["content-disposition"]


def test_an_evaluation_is_shown_by_the_metric_one_wants(client, gallery):
    seal = gallery.seals["stage"]
    text = page(client, f"/models/{seal}/evaluation")
    for words in ("EDDI", "one fixed order", "random order", "EDDI, per cost", "What it costs"):
        assert words in text
    assert "Negative log-likelihood, nats" in text
    assert "Accuracy</p>" in page(client, f"/models/{seal}/evaluation?metric=accuracy")
    plain = page(client, f"/models/{gallery.seals['age']}/evaluation")
    assert "All questions cost the same" in plain


def test_an_evaluation_is_asked_for_by_a_form_of_ours(client, gallery):
    seal = gallery.seals["new"]
    text = page(client, f"/models/{seal}/evaluation")
    assert "Not evaluated yet" in text
    token = re.search(r'name="csrf" value="(\w+)"', text)[1]
    foreign = client.post(f"/models/{seal}/evaluation", data={"csrf": "0" * 64})
    assert foreign.status_code == 403
    before = len(gallery.jobs.all())
    answer = client.post(f"/models/{seal}/evaluation", data={"csrf": token})
    assert answer.status_code == 303
    key = answer.headers["location"].rpartition("/")[2]
    assert gallery.jobs.get(key).order["model"] == seal
    assert len(gallery.jobs.all()) == before + 1


def test_a_row_is_found_by_its_number_or_the_next_one_held_out(client, gallery):
    base = f"/models/{gallery.seals['age']}/decisions"
    for typed, row in (("", 6), ("?row=1", 6), ("?row=12", 12), ("?row=999", 6), ("?row=x", 6)):
        assert client.get(base + typed).headers["location"] == f"/analyst{base}/{row}"


def test_a_decision_is_shown_with_what_each_question_was_worth(client, gallery):
    base = f"/models/{gallery.seals['age']}/decisions/7"
    text = page(client, f"{base}?step=1")
    assert "Decision 2 of" in text
    assert text.count('<li class="worth') >= 2
    assert text.count("worth chosen") == 1
    assert "How the belief moved" in text
    last = page(client, f"{base}?step=999")
    assert "Nothing is left to ask" in last
    assert page(client, f"{base}?step=-1").count("Decision 1 of") == 1


def first_told(text):
    """The control of the what-if form."""
    return re.search(r'name="(v0)"', text)


def test_what_if_changes_one_answer_and_says_what_follows(client, gallery):
    base = f"/models/{gallery.seals['stage']}/decisions/7"
    asked = page(client, f"{base}?step=2&change=1")
    assert first_told(asked)
    assert "Had it said" not in asked
    silent = page(client, f"{base}?step=2&change=1&act=unknown")
    assert "Had it said Not known instead of" in silent
    assert "The next question would" in silent


def test_a_wrong_what_if_is_explained(client, gallery):
    text = ""
    for row in range(6, 25):
        for place in range(1, 8):
            text = page(client, f"/models/{gallery.seals['age']}/decisions/{row}?step=9&change={place}")
            if 'inputmode="' in text.partition('class="change-form"')[2]:
                wrong = f"/models/{gallery.seals['age']}/decisions/{row}?step=9&change={place}&v0=abc"
                assert "You typed “abc”" in page(client, wrong)
                return
    raise AssertionError("no row tells a quantity")


@pytest.mark.parametrize("query", ["change=99", "change=x", "step=1&change=0"])
def test_an_answer_that_is_not_there_cannot_be_changed(client, gallery, query):
    text = page(client, f"/models/{gallery.seals['age']}/decisions/7?{query}")
    assert "change-form" not in text


def test_two_models_stand_side_by_side(client, gallery):
    a, b = gallery.seals["age"], gallery.seals["twin"]
    assert a in page(client, "/compare")
    text = page(client, f"/compare?a={a}&b={b}")
    assert "Neither is clearly better" in text
    assert "pain costs 1 in A and 2 in B." in text
    unjudged = page(client, f"/compare?a={a}&b={gallery.seals['new']}")
    assert "Both must be evaluated" in unjudged


@pytest.mark.parametrize(
    "address",
    ["/models/abc", "/models/abc/evaluation", "/models/abc/file", "/models/abc/decisions/1"],
)
def test_what_is_not_there_is_said_on_a_page(client, address):
    assert "There is no model" in page(client, address, status=404)


def test_a_row_that_was_learned_from_is_not_shown(client, gallery):
    text = page(client, f"/models/{gallery.seals['age']}/decisions/1", status=404)
    assert "Row 1 was not held out from this model" in text
    page(client, f"/models/{gallery.seals['age']}/decisions/x", status=404)


def test_nothing_is_styled_or_scripted_inline(client, gallery):
    for address in (f"/models/{gallery.seals['age']}/decisions/7", f"/models/{gallery.seals['age']}"):
        text = page(client, address)
        assert not re.search(r'\sstyle="|\son\w+="|<script>', text)
