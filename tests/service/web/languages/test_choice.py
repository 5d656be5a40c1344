"""The language of a page: chosen by the respondent, then by the browser, then by the publisher."""

import pytest
from fastapi import Request

from eddi.service.web.languages.choice import choose_language, parse_accept_language, switch_links


def make_request(query="", method="GET", **headers):
    """A request of a page; ``headers`` have underscores instead of hyphens."""
    encoded = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
    return Request(
        {
            "type": "http",
            "method": method,
            "scheme": "http",
            "server": ("localhost", 80),
            "path": "/q/heart",
            "query_string": query.encode(),
            "headers": encoded,
        }
    )


@pytest.mark.parametrize(
    ("query", "headers", "code"),
    [
        ("", {}, "en"),
        ("", {"accept_language": "de-CH,de;q=0.9,en;q=0.8"}, "de"),
        ("", {"accept_language": "fr, de;q=0.3, en;q=0.7"}, "en"),
        ("", {"accept_language": "de", "cookie": "eddi_language=en"}, "en"),
        ("lang=de", {"cookie": "eddi_language=en"}, "de"),
        ("lang=xx", {"cookie": "eddi_language=../de"}, "en"),
    ],
)
def test_the_address_comes_before_the_cookie_and_the_cookie_before_the_browser(query, headers, code):
    assert choose_language(make_request(query, **headers)) == code


def test_only_languages_of_the_questionnaire_are_chosen():
    assert choose_language(make_request("lang=en", accept_language="en"), ["de"]) == "de"


@pytest.mark.parametrize(
    ("header", "codes"),
    [
        ("", []),
        ("de;q=0, en", ["en"]),
        ("en;q=0.1, de;q=abc, fr", ["fr", "en"]),
        ("*", ["*"]),
        ("de-AT, de;q=0.5, en;q=0.8", ["de", "en"]),
    ],
)
def test_the_languages_of_a_browser_are_sorted_by_weight(header, codes):
    assert [code for code in parse_accept_language(header) if code] == codes


def test_a_long_header_is_cut():
    assert len(parse_accept_language(",".join(f"a{number}" for number in range(5000)))) == 20


def test_a_page_in_one_language_has_no_switch():
    assert switch_links(make_request(), ["de"], current="de", page="/") == []


def test_the_switch_keeps_the_rest_of_the_address():
    links = switch_links(make_request("invitation=a%26b"), ["de", "en"], current="de", page="/")
    assert [link.address for link in links] == [
        "/q/heart?invitation=a%26b&lang=en",
        "/q/heart?invitation=a%26b&lang=de",
    ]
    assert [link.is_current for link in links] == [False, True]


def test_the_switch_of_a_response_to_a_form_leads_to_a_page():
    links = switch_links(make_request(method="POST"), ["de", "en"], current="de", page="/i/abc")
    assert links[0].address == "/i/abc?lang=en"
