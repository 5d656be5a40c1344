"""The built documentation site: links and anchors exist, and no page violates WCAG. `make docs` runs this."""

import os
import shutil
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(os.environ.get("EDDI_SITE", Path(__file__).parents[2] / "docs" / "_build" / "html"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MAIN_PAGES = (
    "index",
    "getting-started",
    "tutorials/engineer",
    "concepts/reward",
    "reference/http",
    "faq",
)

pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="`make docs` builds the site")


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, _, attrs):
        values = dict(attrs)
        self.links += [values[name] for name in ("href", "src") if values.get(name)]
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}


@cache
def read_page(path: Path) -> Page:
    return Page(path)


def find_pages() -> list[Path]:
    return sorted(SITE.rglob("*.html"))


def test_every_internal_link_leads_to_a_file_and_an_anchor():
    broken = []
    for path in find_pages():
        for link in read_page(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            has_anchor = target.suffix != ".html" or not target.exists()
            if not target.exists() or not (
                has_anchor or unquote(parts.fragment) in read_page(target).anchors
            ):
                broken.append(f"{path.relative_to(SITE)}: {link}")
    assert not broken


def test_no_page_loads_anything_from_elsewhere():
    """The site works offline, and tells nobody who reads it."""
    foreign = [
        f"{path.relative_to(SITE)}: {text}"
        for path in find_pages()
        for text in ('src="http', 'rel="stylesheet" href="http', "@import url(http")
        if text in path.read_text(encoding="utf-8").replace("'", '"')
    ]
    assert not foreign


@pytest.fixture(scope="module")
def browser():
    """A browser, if there is one."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address():
    """The address of a server of the site."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_violation_that_axe_finds(browser, address, scheme):
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
    # Pages of one kind are alike. In the dark the colours differ, and nothing else.
    names = [SITE / f"{name}.html" for name in MAIN_PAGES]
    pages = names if scheme == "dark" else [path for path in find_pages() if path.parent.name != "api"]
    violations = []
    for path in pages:
        page.goto(f"{address}/{path.relative_to(SITE).as_posix()}")
        page.evaluate(axe)
        found = page.evaluate("rules => axe.run({runOnly: {type: 'tag', values: rules}})", RULES)
        violations += [
            f"{path.name}: {v['id']} {v['nodes'][0]['html'][:120]}" for v in found["violations"]
        ]
    assert not violations


@pytest.mark.slow
@pytest.mark.parametrize("name", MAIN_PAGES)
def test_main_pages_fit_a_phone(browser, address, name):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{address}/{name}.html")
    width = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert width <= 390
