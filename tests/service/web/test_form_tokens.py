"""Forms that are ours, and the cookie of what was put off."""

import pytest
from starlette.requests import Request

from eddi.service.settings import Settings
from eddi.service.web import form_tokens
from eddi.service.web.form_tokens import ForeignFormError, Forms

SHARED = "the same on both servers"
QUESTIONS = ("age", "town", "pain")


def request(**cookies):
    text = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request({"type": "http", "headers": [(b"cookie", text.encode())]})


@pytest.fixture
def ours():
    return Forms(Settings(secret=SHARED))


def test_a_form_with_our_token_is_let_through(ours):
    seed = ours.seed(request())
    ours.check(request(eddi_form=seed), {"csrf": ours.token(seed)})


def test_a_browser_keeps_its_seed_and_a_bad_one_is_replaced(ours):
    seed = ours.seed(request())
    assert ours.seed(request(eddi_form=seed)) == seed
    assert ours.seed(request(eddi_form="short")) != "short"
    assert ours.seed(request()) != seed


@pytest.mark.parametrize("token", ["", "0" * 64, "é", None])
def test_a_form_with_another_token_is_not(ours, token):
    seed = ours.seed(request())
    form = {} if token is None else {"csrf": token}
    with pytest.raises(ForeignFormError, match="Load the page again"):
        ours.check(request(eddi_form=seed), form)


def test_a_token_for_no_cookie_at_all_is_worth_nothing(ours):
    with pytest.raises(ForeignFormError):
        ours.check(request(), {"csrf": ours.token("")})


def test_servers_with_one_secret_know_each_others_forms_and_others_do_not(ours):
    seed = ours.seed(request())
    assert Forms(Settings(secret=SHARED)).token(seed) == ours.token(seed)
    assert Forms(Settings()).token(seed) != Forms(Settings()).token(seed)


def test_what_was_put_off_is_remembered_by_place():
    text = form_tokens.aside_text({"pain", "age"}, QUESTIONS)
    assert text == "0.2"
    assert form_tokens.put_aside(request(eddi_later=text), QUESTIONS) == {"age", "pain"}


@pytest.mark.parametrize("text", ["", "x", "1.", "7", "-1", "1..2"])
def test_a_cookie_that_makes_no_sense_puts_nothing_off(text):
    assert form_tokens.put_aside(request(eddi_later=text), QUESTIONS) == set()
