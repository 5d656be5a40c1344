"""Questions that were put off are kept in a cookie by position."""

import pytest
from starlette.requests import Request

from eddi.service.web.cookies import format_deferred, read_deferred

QUESTIONS = ("age", "town", "pain")


def request(cookie):
    return Request({"type": "http", "headers": [(b"cookie", f"eddi_later={cookie}".encode())]})


def test_deferred_questions_round_trip():
    cookie = format_deferred({"pain", "age"}, QUESTIONS)
    assert cookie == "0.2"
    assert read_deferred(request(cookie), QUESTIONS) == {"age", "pain"}


@pytest.mark.parametrize("cookie", ["", "x", "1.", "7", "-1", "1..2"])
def test_an_invalid_cookie_defers_nothing(cookie):
    assert read_deferred(request(cookie), QUESTIONS) == set()
