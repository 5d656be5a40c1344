"""The whole report as one self-contained HTML page."""

import base64
import mimetypes
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.provenance import format_duration, short_commit
from eddi_benchmarks.report.suite_report import SuiteReport

TITLE = "EDDI: the paper's results reproduced"
LEAD = (
    "Every table and figure of Ma et al., <cite>EDDI: Efficient Dynamic Discovery of High-Value "
    "Information with Partial VAE</cite> (ICML 2019), reproduced: our numbers next to the paper's, "
    "the difference, and an explanation where they disagree."
)
DENSITY = 2  # image pixels per page pixel, so that figures are sharp on high-density screens
MIN_WIDTH = 420  # page pixels: narrower images are not scaled down
WIDE = 700  # page pixels: wider figures scroll on a phone
_CODE = re.compile(r"`([^`]+)`")
_MINUS = re.compile(r"(?<!\w)-(?=\.?\d)")
_PNG = b"\x89PNG\r\n\x1a\n"
_QUICK_TAG = ' <span class="tag">quick size</span>'
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header id="top">
<h1>{title}</h1>
<p class="lead">{lead}</p>
{overview}
</header>
<div class="page">
<nav aria-label="Contents">
<h2>Contents</h2>
<ol>
{contents}
</ol>
</nav>
<main>
{articles}
</main>
</div>
<footer>{footer}</footer>
</body>
</html>
"""


def render(reports: Sequence[SuiteReport]) -> str:
    """Render the page; suites without a finished run appear in the overview only."""
    style = files("eddi_benchmarks.report").joinpath("style.css").read_text("utf-8")
    finished = [report for report in reports if report.provenance is not None]
    return _PAGE.format(
        title=TITLE,
        style=style,
        lead=LEAD,
        overview=_render_overview(reports),
        contents="\n".join(_render_contents(report) for report in finished),
        articles="\n".join(map(_render_report, finished)) or "<p>Nothing has been run yet.</p>",
        footer="Written by <code>eddi bench report</code>.",
    )


def _render_overview(reports: Sequence[SuiteReport]) -> str:
    rows = "\n".join(_render_overview_row(report) for report in reports)
    names = ("Suite", "Runs", "Duration", "Finished", "Commit")
    headings = "".join(f'<th scope="col">{name}</th>' for name in names)
    table = f'<table class="overview">\n<thead><tr>{headings}</tr></thead>'
    return f'<div class="scroll">{table}\n<tbody>\n{rows}\n</tbody></table></div>'


def _render_overview_row(report: SuiteReport) -> str:
    suite, provenance = report.suite, report.provenance
    title = escape(suite.title)
    if provenance is None:
        command = f"<code>eddi bench run {escape(suite.name)}</code>"
        return (
            f'<tr class="absent"><th scope="row">{title}</th>'
            f'<td>0 of {len(suite.runs)}</td><td colspan="3">not yet run: {command}</td></tr>'
        )
    cells = (
        f"{report.n_finished} of {len(suite.runs)}",
        format_duration(provenance.wall_seconds),
        f"{provenance.finished:%Y-%m-%d}",
        ", ".join(map(short_commit, provenance.commits)),
    )
    link = f'<a href="#{_anchor(report)}">{title}</a>{_quick_tag(report)}'
    return f'<tr><th scope="row">{link}</th>{_render_cells(cells)}</tr>'


def _render_contents(report: SuiteReport) -> str:
    entries = "\n".join(
        f'<li><a href="#{_anchor(report, index)}">{escape(section.title)}</a></li>'
        for index, section in enumerate(report.sections)
    )
    sublist = f"\n<ol>\n{entries}\n</ol>" if entries else ""
    return f'<li><a href="#{_anchor(report)}">{escape(report.suite.title)}</a>{sublist}</li>'


def _render_report(report: SuiteReport) -> str:
    heading = f"<h2>{escape(report.suite.title)}{_quick_tag(report)}</h2>"
    sections = "\n".join(
        _render_section(section, _anchor(report, index)) for index, section in enumerate(report.sections)
    )
    return (
        f'<article id="{_anchor(report)}">\n{heading}\n{_render_provenance(report)}\n{sections}\n'
        '<p class="up"><a href="#top">Back to top</a></p>\n</article>'
    )


def _quick_tag(report: SuiteReport) -> str:
    return _QUICK_TAG if report.suite.quick else ""


def _render_provenance(report: SuiteReport) -> str:
    texts = {"suite": f"`{report.suite.name}`, {report.progress}"}
    if report.provenance is not None:
        texts |= report.provenance.describe()
        checksums = [
            f"{dataset} {'/'.join(sha256[:12] for sha256 in checksums)}"
            for dataset, checksums in report.provenance.data.items()
        ]
        texts |= {"data (SHA-256)": ", ".join(checksums)} if checksums else {}
    items = "\n".join(
        f"<div><dt>{escape(label)}</dt><dd>{_render_text(text)}</dd></div>"
        for label, text in texts.items()
    )
    return f"<details><summary>{_summary(report)}</summary>\n<dl>\n{items}\n</dl></details>"


def _summary(report: SuiteReport) -> str:
    if report.provenance is None:
        return escape(report.progress)
    machine = "; ".join(report.provenance.machines)
    duration = format_duration(report.provenance.wall_seconds)
    return escape(f"{report.progress}, {duration} on {machine}")


def _render_section(section: Section, anchor: str) -> str:
    paragraphs = "\n".join(f"<p>{_render_text(text)}</p>" for text in section.paragraphs)
    tables = "\n".join(map(_render_table, section.tables))
    figures = "\n".join(map(_render_figure, section.figures))
    title = f"<h3>{escape(section.title)}</h3>"
    return f'<section id="{anchor}">\n{title}\n{paragraphs}\n{tables}\n{figures}\n</section>'


def _render_table(table: ReportTable) -> str:
    numeric = [table.is_numeric(column) for column in range(len(table.columns))]
    headings = "".join(
        f'<th scope="col"{_number_class(is_number)}>{escape(name)}</th>'
        for name, is_number in zip(table.columns, numeric, strict=True)
    )
    grouped = any(not cells[0] for cells in table.rows)  # unnamed rows belong to the row above
    rows = "\n".join(
        ('<tr class="group">' if grouped and cells[0] else "<tr>")
        + "".join(_render_cell(table, row, column, numeric[column]) for column in range(len(cells)))
        + "</tr>"
        for row, cells in enumerate(table.rows)
    )
    note = f'\n<p class="note">{_render_text(table.note)}</p>' if table.note else ""
    style = ' class="grouped"' if grouped else ""
    return (
        f'<figure class="table"><figcaption>{_render_text(table.title)}</figcaption>\n'
        f'<div class="scroll"><table{style}>\n<thead><tr>{headings}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>{note}</figure>"
    )


def _render_cell(table: ReportTable, row: int, column: int, is_number: bool) -> str:
    text = escape(table.rows[row][column])
    if is_number:
        text = _typeset_minus(text)
    if (row, column) in table.best:
        text = f"<strong>{text}</strong>"
    tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
    return f"<{tag}{scope}{_number_class(is_number)}>{text}</{tag}>"


def _number_class(is_number: bool) -> str:
    return ' class="num"' if is_number else ""


def _render_figure(figure: Figure) -> str:
    media_type = mimetypes.guess_type(figure.path.name)[0] or "image/png"
    content = figure.path.read_bytes()
    source = f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    alt = escape(figure.caption.replace("`", ""), quote=True)
    width = _page_width(content)
    size = f' width="{width}"' if width else ""
    image = f'<div class="frame"><img src="{source}" alt="{alt}"{size} loading="lazy"></div>'
    style = "plot wide" if width and width > WIDE else "plot"
    caption = f"<figcaption>{_render_text(figure.caption)}</figcaption>"
    return f'<figure class="{style}">{image}{caption}</figure>'


def _page_width(content: bytes) -> int | None:
    """The display width of a PNG in page pixels; None for formats that define their own size."""
    if not content.startswith(_PNG):
        return None
    pixels = int.from_bytes(content[16:20], "big")
    return max(pixels // DENSITY, min(pixels, MIN_WIDTH))


def _render_text(text: str) -> str:
    """Text as HTML, with `code` as code and typographic minus signs elsewhere."""
    plain, *rest = _CODE.split(escape(text, quote=False))
    parts = [_typeset_minus(plain)]
    for code, after in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"<code>{code}</code>", _typeset_minus(after)]
    return "".join(parts)


def _typeset_minus(text: str) -> str:
    return _MINUS.sub("\N{MINUS SIGN}", text)


def _render_cells(texts: Iterable[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _anchor(report: SuiteReport, section: int | None = None) -> str:
    return report.suite.name if section is None else f"{report.suite.name}-{section + 1}"
