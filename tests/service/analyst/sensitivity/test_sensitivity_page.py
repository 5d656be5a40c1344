"""The page of the sensitivity analysis is linked from the page of a model."""

import httpx
import pytest


@pytest.fixture
def open_page(gallery, gallery_site):
    """The text of the page of a model."""

    def read(name: str, query: str = "", *, language: str = "en") -> str:
        address = f"{gallery_site}/analyst/models/{gallery.digests[name]}/sensitivity{query}"
        response = httpx.get(address, headers={"accept-language": language})
        assert response.status_code == 200
        return response.text

    return read


def test_the_page_of_a_model_links_to_the_analysis(gallery, gallery_site):
    digest = gallery.digests["age"]
    page = httpx.get(f"{gallery_site}/analyst/models/{digest}").text
    assert f'<a href="/analyst/models/{digest}/sensitivity">Missing values</a>' in page


def test_assumptions_are_compared(open_page):
    page = open_page("age")
    assert "matters: on average, the estimate of age would be between" in page
    assert "much higher (by one standard deviation)" in page
    assert "as those of similar people" in page


def test_a_variable_is_chosen(open_page):
    page = open_page("age", "?variable=weight")
    assert '<option value="weight" selected>weight</option>' in page
    assert "have no value of “weight”" in page


def test_an_unknown_variable_is_replaced_by_the_first(open_page):
    assert " selected>" in open_page("age", "?variable=nothing")


def test_the_page_is_translated(open_page):
    assert "Was wäre, wenn jene, die nicht geantwortet haben, anders sind?" in open_page(
        "age", language="de"
    )
