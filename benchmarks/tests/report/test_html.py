"""The page: whole by itself, and nothing of the numbers or words lost on the way."""

import base64
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from eddi_benchmarks.report import html
from eddi_benchmarks.report.content import Grid, Section
from eddi_benchmarks.report.suite_report import Chapter

VOID = {"meta", "img", "br", "link"}


class Page(HTMLParser):
    """Reads a page as a browser would: its elements, its text, and that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.cells = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def text(chapter):
    return html.render([chapter])


def test_every_tag_is_closed_and_every_link_leads_somewhere(text):
    page = Page(text)
    places = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = {link["href"] for link in page.all("a")}
    assert links == {"#top", "#paper-made-up", "#paper-made-up-1", "#paper-made-up-2"}
    assert {link.removeprefix("#") for link in links} <= places


def test_the_page_asks_for_no_other_file(text):
    page = Page(text)
    assert not page.all("link") and not page.all("script")  # noqa: PT018
    assert "url(" not in text and "@import" not in text  # noqa: PT018
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.all("img"))


def test_a_minus_is_set_as_one_in_words_but_not_in_code_and_ranges(chapter):
    section = Section("S", ("gains -0.5 in 2015-2016 with `kl = -1`, not -.3",), ())
    text = html.render([replace(chapter, sections=(section,))])
    minus = "\N{MINUS SIGN}"
    assert f"gains {minus}0.5 in 2015-2016 with <code>kl = -1</code>, not {minus}.3" in text


def test_words_are_escaped_and_code_is_set_as_code(text):
    assert "Ranks &amp; &lt;all&gt;" in text
    assert "a &lt; b, with <code>kl_weight = 1</code>." in text


def test_cells_come_out_as_they_went_in_with_figures_flush_right(text):
    page = Page(text)
    row = page.cells.index("EDDI | first")
    assert page.cells[row : row + 5] == ["EDDI | first", "5.10 ± 0.02", "5.08", "-", "yes"]
    assert '<th scope="row">RAND</th><td class="num">\N{MINUS SIGN}7.5</td>' in text
    assert "<td>*no*</td>" in text


def test_the_best_is_bold_and_nothing_else(text):
    assert '<tr class="group">' not in text
    assert text.count("<strong>") == 1
    assert "<strong>5.10 ± 0.02</strong>" in text


def test_a_picture_is_in_the_page_with_its_words_and_half_as_wide_as_its_pixels(text, tmp_path):
    (image,) = Page(text).all("img")
    content = (tmp_path / "paper-made-up" / "my curve.png").read_bytes()
    assert base64.b64decode(image["src"].partition(",")[2]) == content
    assert image["alt"] == 'Curves of "EDDI" [boston] with pnp.'
    assert image["width"] == "1000"


def test_the_page_says_when_where_and_how_long(text):
    page = Page(text)
    overview = page.cells[page.cells.index("Ranks & <all>") :][:5]
    assert overview[1:] == ["2 of 3", "60 s", "2026-01-02", "0123456789ab with changes"]
    assert "boston abababababab" in text
    assert "Linux x86_64, 2 cores" in text


def test_a_quick_look_is_marked_as_one(chapter, suite, text):
    quick = html.render([replace(chapter, suite=replace(suite, quick=True))])
    assert (text.count("quick look</span>"), quick.count("quick look</span>")) == (0, 2)


def test_suites_not_yet_run_are_named_with_the_command_that_runs_them(suite):
    text = html.render([Chapter(suite, 0, None, ())])
    assert "not yet run: <code>eddi bench run paper-made-up</code>" in text
    page = Page(text)
    assert "0 of 3" in page.cells
    assert not page.all("article")


def test_rows_without_a_name_are_grouped_under_the_one_above(chapter):
    rows = (("EDDI", "ours", "1"), ("", "theirs", "2"), ("RAND", "ours", "3"), ("", "theirs", "4"))
    section = Section("Ranks", (), (Grid("", ("", "", "rank"), rows),))
    text = html.render([replace(chapter, sections=(section,))])
    assert text.count('<tr class="group">') == 2
    assert '<tr class="group"><th scope="row">RAND</th>' in text
