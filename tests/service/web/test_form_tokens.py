"""Tokens recognise the forms of this server in the browser they were sent to."""

import pytest
from starlette.requests import Request

from eddi.service.settings import Settings
from eddi.service.web.form_tokens import ForeignFormError, FormTokens

SHARED = "the same on both servers"


def request(**cookies):
    text = "; ".join(f"{name}={value}" for name, value in cookies.items())
    return Request({"type": "http", "headers": [(b"cookie", text.encode())]})


@pytest.fixture
def tokens():
    return FormTokens(Settings(secret=SHARED))


def test_a_form_with_its_token_is_accepted(tokens):
    session_id = tokens.session_id(request())
    tokens.check(request(eddi_form=session_id), {"csrf": tokens.token(session_id)})


def test_a_browser_keeps_its_session_id_and_an_invalid_one_is_replaced(tokens):
    session_id = tokens.session_id(request())
    assert tokens.session_id(request(eddi_form=session_id)) == session_id
    assert tokens.session_id(request(eddi_form="short")) != "short"
    assert tokens.session_id(request()) != session_id


@pytest.mark.parametrize("token", ["", "0" * 64, "é", "%", None])
def test_a_form_with_another_token_is_refused(tokens, token):
    session_id = tokens.session_id(request())
    form = {} if token is None else {"csrf": token}
    with pytest.raises(ForeignFormError, match="Load the page again"):
        tokens.check(request(eddi_form=session_id), form)


def test_the_token_of_another_browser_is_refused(tokens):
    own, other = (tokens.session_id(request()) for _ in range(2))
    with pytest.raises(ForeignFormError):
        tokens.check(request(eddi_form=own), {"csrf": tokens.token(other)})


def test_a_token_without_a_cookie_is_refused(tokens):
    with pytest.raises(ForeignFormError):
        tokens.check(request(), {"csrf": tokens.token("")})


def test_servers_with_the_same_secret_accept_each_others_forms(tokens):
    session_id = tokens.session_id(request())
    assert FormTokens(Settings(secret=SHARED)).token(session_id) == tokens.token(session_id)
    assert FormTokens(Settings()).token(session_id) != FormTokens(Settings()).token(session_id)
