"""The HTML page: self-contained and valid, with all numbers and texts."""

import base64
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from eddi_benchmarks.report import html
from eddi_benchmarks.report.content import ReportTable, Section
from eddi_benchmarks.report.suite_report import SuiteReport

VOID_TAGS = {"meta", "img", "br", "link"}
MINUS = "\N{MINUS SIGN}"


class Page(HTMLParser):
    """Parses a page into elements and table cells, and checks that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open_tags, self.elements, self.cells = [], [], []
        self.feed(text)
        self.close()
        assert self.open_tags == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID_TAGS:
            self.open_tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open_tags):
            self.cells[-1] += data

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def text(report):
    return html.render([report])


def test_every_tag_is_closed_and_every_link_has_a_target(text):
    page = Page(text)
    anchors = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = {link["href"] for link in page.all("a")}
    assert links == {"#top", "#paper-example", "#paper-example-1", "#paper-example-2"}
    assert {link.removeprefix("#") for link in links} <= anchors


def test_the_page_needs_no_other_file(text):
    page = Page(text)
    assert not page.all("link") and not page.all("script")  # noqa: PT018
    assert "url(" not in text and "@import" not in text  # noqa: PT018
    assert all(image["src"].startswith("data:image/png;base64,") for image in page.all("img"))


def test_minus_signs_are_typeset_in_text_but_not_in_code_and_ranges(report):
    section = Section("S", ("gains -0.5 in 2015-2016 with `kl = -1`, not -.3",), ())
    text = html.render([replace(report, sections=(section,))])
    assert f"gains {MINUS}0.5 in 2015-2016 with <code>kl = -1</code>, not {MINUS}.3" in text


def test_text_is_escaped_and_code_is_marked_up(text):
    assert "Ranks &amp; &lt;all&gt;" in text
    assert "a &lt; b, with <code>kl_weight = 1</code>." in text


def test_cells_keep_their_text_and_numbers_are_right_aligned(text):
    page = Page(text)
    row = page.cells.index("EDDI | first")
    assert page.cells[row : row + 5] == ["EDDI | first", "5.10 ± 0.02", "5.08", "-", "yes"]
    assert f'<th scope="row">RAND</th><td class="num">{MINUS}7.5</td>' in text
    assert "<td>*no*</td>" in text


def test_only_the_best_cell_is_bold(text):
    assert '<tr class="group">' not in text
    assert text.count("<strong>") == 1
    assert "<strong>5.10 ± 0.02</strong>" in text


def test_a_figure_is_embedded_with_its_caption_at_half_its_pixel_width(text, tmp_path):
    (image,) = Page(text).all("img")
    content = (tmp_path / "paper-example" / "my curve.png").read_bytes()
    assert base64.b64decode(image["src"].partition(",")[2]) == content
    assert image["alt"] == 'Curves of "EDDI" [boston] with pnp.'
    assert image["width"] == "1000"


def test_the_page_states_when_and_where_the_suite_ran_and_how_long(text):
    page = Page(text)
    overview = page.cells[page.cells.index("Ranks & <all>") :][:5]
    assert overview[1:] == ["2 of 3", "60 s", "2026-01-02", "0123456789ab with changes"]
    assert "boston abababababab" in text
    assert "Linux x86_64, 2 cores" in text


def test_the_quick_size_is_tagged(report, suite, text):
    quick = html.render([replace(report, suite=replace(suite, quick=True))])
    assert (text.count("quick size</span>"), quick.count("quick size</span>")) == (0, 2)


def test_suites_not_yet_run_are_listed_with_their_command(suite):
    text = html.render([SuiteReport(suite)])
    assert "not yet run: <code>eddi bench run paper-example</code>" in text
    page = Page(text)
    assert "0 of 3" in page.cells
    assert not page.all("article")


def test_unnamed_rows_are_grouped_with_the_row_above(report):
    rows = (("EDDI", "ours", "1"), ("", "theirs", "2"), ("RAND", "ours", "3"), ("", "theirs", "4"))
    section = Section("Ranks", (), (ReportTable("", ("", "", "rank"), rows),))
    text = html.render([replace(report, sections=(section,))])
    assert text.count('<tr class="group">') == 2
    assert '<tr class="group"><th scope="row">RAND</th>' in text
