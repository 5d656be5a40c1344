"""Small corrections of the written pages, so that they have no violations of WCAG 2.2 that axe finds."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

CORRECTIONS = (
    # Two landmarks of the same kind need names.
    (r'<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Site">'),
    (r'<aside class="toc-drawer( no-toc)?">', r'<aside class="toc-drawer\1" aria-label="On this page">'),
    # What can be scrolled must be reachable with the keyboard.
    (r"<pre(?![^>]*tabindex)([^>]*)>", r'<pre tabindex="0"\1>'),
    (r'<div class="(table-wrapper[^"]*|output text_html[^"]*)">', r'<div class="\1" tabindex="0">'),
    # A caption of a table of contents is a heading of the second level.
    (r'<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    # An empty cell is not a header.
    (r"<th(?=[\s>])([^>]*)>\s*(?:<p></p>)?\s*</th>", r"<td\1></td>"),
    # The search page of the theme has no heading.
    (r'(?<!</h1>)<div id="search-results">', '<h1>Search</h1><div id="search-results">'),
)


def correct(page: str) -> str:
    """The HTML of a page with all corrections; correcting it again changes nothing."""
    for pattern, replacement in CORRECTIONS:
        page = re.sub(pattern, replacement, page)
    return page


def _correct_all(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for path in Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            if (corrected := correct(text)) != text:
                path.write_text(corrected, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Correct the pages after they were written."""
    app.connect("build-finished", _correct_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
