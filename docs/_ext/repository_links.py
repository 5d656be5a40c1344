"""Links to files of the repository outside of `docs` lead to the repository's website."""

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
WEBSITE = "https://github.com/eddi-ml/eddi/blob/main/"
LINK = re.compile(r"\]\((?P<path>[^)#:\s]+)(?P<anchor>#[^)\s]*)?\)")
PROJECT_PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
"""Files of the repository that are pages of the site; `generated_pages` copies them."""


def rewrite_links(text: str, *, source: Path, page: Path) -> str:
    """Adapt the relative links of a Markdown file to the place of its page.

    Args:
        text: the Markdown.
        source: the file in which the links were written.
        page: the file of the page that shows it, in `docs`.
    """

    def replace(match: re.Match[str]) -> str:
        anchor = match["anchor"] or ""
        linked = (source.parent / match["path"]).resolve()
        if not linked.is_relative_to(REPOSITORY):
            return match[0]
        name = linked.relative_to(REPOSITORY).as_posix()
        if name in PROJECT_PAGES:
            linked = DOCS / PROJECT_PAGES[name]
        if not linked.is_relative_to(DOCS):
            return f"]({WEBSITE}{name}{anchor})"
        return f"]({Path(os.path.relpath(linked, page.parent)).as_posix()}{anchor})"

    return LINK.sub(replace, text)


def _rewrite_page(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname)).resolve()
    if page.suffix == ".md":
        source[0] = rewrite_links(source[0], source=page, page=page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Rewrite the links of each page before it is parsed."""
    app.connect("source-read", _rewrite_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
