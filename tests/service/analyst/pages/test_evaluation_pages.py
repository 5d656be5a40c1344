"""The pages about models, from a real server."""

import hashlib
import re

import httpx
import pytest


@pytest.fixture(scope="module")
def client(gallery_site):
    with httpx.Client(base_url=f"{gallery_site}/analyst", timeout=60) as client:
        yield client


def page(client, address, status=200):
    response = client.get(address)
    assert response.status_code == status, response.text
    assert "text/html" in response.headers["content-type"]
    return response.text


def test_the_card_describes_the_model_and_links_to_its_pages(client, gallery):
    digest = gallery.digests["stage"]
    text = page(client, f"/models/{digest}")
    for expected in (
        "Model card",
        "What do you weigh?",
        "of predictions are correct",
        "always guessing the most frequent class",
        "Training</h2>",
        digest,
    ):
        assert expected in text
    assert f"/analyst/models/{digest}/publish" in text
    assert f"/analyst/models/{digest}/evaluation" in text


def test_the_file_is_the_stored_model(client, gallery):
    digest = gallery.digests["age"]
    response = client.get(f"/models/{digest}/file")
    assert hashlib.sha256(response.content).hexdigest() == digest
    assert f'filename="people-{digest[:8]}.eddi"' in response.headers["content-disposition"]


def test_an_evaluation_is_shown_for_the_chosen_metric(client, gallery):
    digest = gallery.digests["stage"]
    text = page(client, f"/models/{digest}/evaluation")
    names = ("EDDI, per unit of cost", "EDDI, ignoring costs", "fixed order", "random order")
    for expected in (*names, "Brier score", "most frequent class", "Costs</h2>"):
        assert expected in text
    assert "AUROC</p>" in page(client, f"/models/{digest}/evaluation?metric=auroc")
    assert "Negative log-likelihood, bits" in page(client, f"/models/{digest}/evaluation?metric=nll")
    assert "Accuracy</p>" in page(client, f"/models/{digest}/evaluation?metric=accuracy")
    plain = page(client, f"/models/{gallery.digests['age']}/evaluation")
    assert "All questions cost the same" in plain


def test_an_evaluation_is_submitted_only_with_a_valid_form_token(client, gallery):
    digest = gallery.digests["new"]
    text = page(client, f"/models/{digest}/evaluation")
    assert "Not evaluated yet" in text
    token = re.search(r'name="csrf" value="([^"]+)"', text)[1]
    foreign = client.post(f"/models/{digest}/evaluation", data={"csrf": "0" * 64})
    assert foreign.status_code == 403
    before = len(gallery.jobs.all())
    response = client.post(f"/models/{digest}/evaluation", data={"csrf": token})
    assert response.status_code == 303
    key = response.headers["location"].rpartition("/")[2]
    assert gallery.jobs.get(key).spec["model"] == digest
    assert len(gallery.jobs.all()) == before + 1


def test_a_row_number_leads_to_that_row_or_the_next_held_out_one(client, gallery):
    base = f"/models/{gallery.digests['age']}/decisions"
    for query, row in (("", 6), ("?row=1", 6), ("?row=12", 12), ("?row=999", 6), ("?row=x", 6)):
        assert client.get(base + query).headers["location"] == f"/analyst{base}/{row}"


def test_a_decision_is_shown_with_the_reward_of_each_question(client, gallery):
    base = f"/models/{gallery.digests['age']}/decisions/7"
    text = page(client, f"{base}?step=1")
    assert "Decision 2 of" in text
    assert text.count('<li class="reward') >= 2
    assert text.count("reward chosen") == 1
    assert "Change of the prediction" in text
    last = page(client, f"{base}?step=999")
    assert "No questions are left" in last
    assert page(client, f"{base}?step=-1").count("Decision 1 of") == 1


def test_a_what_if_analysis_shows_the_effect_of_another_answer(client, gallery):
    base = f"/models/{gallery.digests['stage']}/decisions/7"
    form = page(client, f"{base}?step=2&change=1")
    assert 'name="v0"' in form
    assert "If the answer had been" not in form
    result = page(client, f"{base}?step=2&change=1&act=unknown")
    assert "If the answer had been Not known instead of" in result
    assert "The next question would" in result


def test_an_invalid_what_if_answer_is_explained(client, gallery):
    text = ""
    for row in range(6, 25):
        for number in range(1, 8):
            text = page(
                client, f"/models/{gallery.digests['age']}/decisions/{row}?step=9&change={number}"
            )
            if 'inputmode="' in text.partition('class="change-form"')[2]:
                wrong = f"/models/{gallery.digests['age']}/decisions/{row}?step=9&change={number}&v0=abc"
                assert "You typed “abc”" in page(client, wrong)
                return
    raise AssertionError("no row has an answer that is a quantity")


@pytest.mark.parametrize("query", ["change=99", "change=x", "step=1&change=0"])
def test_an_answer_that_does_not_exist_cannot_be_changed(client, gallery, query):
    text = page(client, f"/models/{gallery.digests['age']}/decisions/7?{query}")
    assert "change-form" not in text


def test_two_models_are_compared(client, gallery):
    a, b = gallery.digests["age"], gallery.digests["twin"]
    assert a in page(client, "/compare")
    text = page(client, f"/compare?a={a}&b={b}")
    assert "No clear difference" in text
    assert "pain costs 1 in A and 2 in B." in text
    not_evaluated = page(client, f"/compare?a={a}&b={gallery.digests['new']}")
    assert "Both models must be evaluated" in not_evaluated


@pytest.mark.parametrize(
    "address",
    ["/models/abc", "/models/abc/evaluation", "/models/abc/file", "/models/abc/decisions/1"],
)
def test_an_unknown_model_is_a_page_not_found(client, address):
    assert "There is no model" in page(client, address, status=404)


def test_a_training_row_is_not_shown(client, gallery):
    text = page(client, f"/models/{gallery.digests['age']}/decisions/1", status=404)
    assert "Row 1 was not held out from this model" in text
    page(client, f"/models/{gallery.digests['age']}/decisions/x", status=404)


def test_there_are_no_inline_styles_or_scripts(client, gallery):
    for address in (
        f"/models/{gallery.digests['age']}/decisions/7",
        f"/models/{gallery.digests['age']}",
    ):
        text = page(client, address)
        assert not re.search(r'\sstyle="|\son\w+="|<script>', text)
