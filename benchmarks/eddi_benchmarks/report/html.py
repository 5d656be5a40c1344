"""The whole report as one page of HTML that needs no other file."""

import base64
import mimetypes
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from eddi_benchmarks.report.content import Grid, Picture, Section, is_numeric
from eddi_benchmarks.report.provenance import duration, short_commit
from eddi_benchmarks.report.suite_report import Chapter

TITLE = "EDDI, the paper table by table"
LEAD = (
    "Every table and figure of Ma et al., <cite>EDDI: Efficient Dynamic Discovery of High-Value "
    "Information with Partial VAE</cite> (ICML 2019), run anew: our numbers beside theirs, the "
    "difference, and a plain word where they differ."
)
DENSITY = 2  # pixels of a picture to one of the page, so that it is sharp on any screen
NARROW, WIDE = 420, 700  # pixels: a picture narrower is not made smaller; one wider a phone scrolls
_CODE = re.compile(r"`([^`]+)`")
_MINUS = re.compile(r"(?<!\w)-(?=\.?\d)")
_PNG = b"\x89PNG\r\n\x1a\n"
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
{chapters}
</main>
</div>
<footer>{footer}</footer>
</body>
</html>
"""


def render(chapters: Sequence[Chapter]) -> str:
    """The report on ``chapters``; those not yet run are only named."""
    style = files("eddi_benchmarks.report").joinpath("style.css").read_text("utf-8")
    told = [chapter for chapter in chapters if chapter.facts is not None]
    return _PAGE.format(
        title=TITLE,
        style=style,
        lead=LEAD,
        overview=_overview(chapters),
        contents="\n".join(_entry(chapter) for chapter in told),
        chapters="\n".join(map(_chapter, told)) or "<p>Nothing has been run yet.</p>",
        footer="Made by <code>eddi bench report</code>.",
    )


def _overview(chapters: Sequence[Chapter]) -> str:
    """What was run, at a glance, above everything else."""
    rows = "\n".join(_overview_row(chapter) for chapter in chapters)
    headings = "".join(f'<th scope="col">{name}</th>' for name in ("Suite", "Runs", "Took", "Finished"))
    table = f'<table class="overview">\n<thead><tr>{headings}<th scope="col">Commit</th></tr></thead>'
    return f'<div class="scroll">{table}\n<tbody>\n{rows}\n</tbody></table></div>'


def _overview_row(chapter: Chapter) -> str:
    suite, facts = chapter.suite, chapter.facts
    title = escape(suite.title)
    if facts is None:
        command = f"<code>eddi bench run {escape(suite.name)}</code>"
        return (
            f'<tr class="absent"><th scope="row">{title}</th>'
            f'<td>0 of {len(suite.runs)}</td><td colspan="3">not yet run: {command}</td></tr>'
        )
    quick = ' <span class="tag">quick look</span>' if suite.quick else ""
    cells = (
        f"{chapter.n_finished} of {len(suite.runs)}",
        duration(facts.wall_seconds),
        f"{facts.ended:%Y-%m-%d}",
        ", ".join(map(short_commit, facts.commits)),
    )
    link = f'<a href="#{_anchor(chapter)}">{title}</a>{quick}'
    return f'<tr><th scope="row">{link}</th>{_each("td", cells)}</tr>'


def _entry(chapter: Chapter) -> str:
    parts = "\n".join(
        f'<li><a href="#{_anchor(chapter, place)}">{escape(section.title)}</a></li>'
        for place, section in enumerate(chapter.sections)
    )
    inner = f"\n<ol>\n{parts}\n</ol>" if parts else ""
    return f'<li><a href="#{_anchor(chapter)}">{escape(chapter.suite.title)}</a>{inner}</li>'


def _chapter(chapter: Chapter) -> str:
    title = escape(chapter.suite.title)
    quick = ' <span class="tag">quick look</span>' if chapter.suite.quick else ""
    parts = "\n".join(
        _section(section, _anchor(chapter, n)) for n, section in enumerate(chapter.sections)
    )
    return (
        f'<article id="{_anchor(chapter)}">\n<h2>{title}{quick}</h2>\n{_facts(chapter)}\n{parts}\n'
        '<p class="up"><a href="#top">Back to the top</a></p>\n</article>'
    )


def _facts(chapter: Chapter) -> str:
    said = {"suite": f"`{chapter.suite.name}`, {chapter.size}"}
    if chapter.facts is not None:
        said |= chapter.facts.words()
        sums = [f"{name} {'/'.join(s[:12] for s in each)}" for name, each in chapter.facts.data.items()]
        said |= {"data (SHA-256)": ", ".join(sums)} if sums else {}
    items = "\n".join(f"<div><dt>{escape(k)}</dt><dd>{_inline(v)}</dd></div>" for k, v in said.items())
    return f"<details><summary>{_summary(chapter)}</summary>\n<dl>\n{items}\n</dl></details>"


def _summary(chapter: Chapter) -> str:
    if chapter.facts is None:
        return escape(chapter.size)
    machine = "; ".join(chapter.facts.machines)
    return escape(f"{chapter.size}, {duration(chapter.facts.wall_seconds)} on {machine}")


def _section(section: Section, anchor: str) -> str:
    words = "\n".join(f"<p>{_inline(paragraph)}</p>" for paragraph in section.words)
    grids = "\n".join(map(_table, section.grids))
    pictures = "\n".join(map(_picture, section.pictures))
    title = f"<h3>{escape(section.title)}</h3>"
    return f'<section id="{anchor}">\n{title}\n{words}\n{grids}\n{pictures}\n</section>'


def _table(grid: Grid) -> str:
    figures = [is_numeric(grid, column) for column in range(len(grid.columns))]
    head = "".join(
        f'<th scope="col"{_class(numeric)}>{escape(name)}</th>'
        for name, numeric in zip(grid.columns, figures, strict=True)
    )
    grouped = any(not texts[0] for texts in grid.rows)  # a row without a name belongs to the one above
    rows = "\n".join(
        ('<tr class="group">' if grouped and texts[0] else "<tr>")
        + "".join(_cell(grid, row, column, figures[column]) for column in range(len(texts)))
        + "</tr>"
        for row, texts in enumerate(grid.rows)
    )
    note = f'\n<p class="note">{_inline(grid.note)}</p>' if grid.note else ""
    style = ' class="grouped"' if grouped else ""
    return (
        f'<figure class="grid"><figcaption>{_inline(grid.title)}</figcaption>\n<div class="scroll">'
        f"<table{style}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>{note}</figure>"
    )


def _cell(grid: Grid, row: int, column: int, numeric: bool) -> str:
    text = escape(grid.rows[row][column])
    if numeric:
        text = _minus(text)
    if (row, column) in grid.best:
        text = f"<strong>{text}</strong>"
    tag, scope = ("th", ' scope="row"') if column == 0 else ("td", "")
    return f"<{tag}{scope}{_class(numeric)}>{text}</{tag}>"


def _class(numeric: bool) -> str:
    return ' class="num"' if numeric else ""


def _picture(picture: Picture) -> str:
    kind = mimetypes.guess_type(picture.path.name)[0] or "image/png"
    content = picture.path.read_bytes()
    source = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    words = escape(picture.words.replace("`", ""), quote=True)
    width = _width(content)
    size = f' width="{width}"' if width else ""
    image = f'<div class="frame"><img src="{source}" alt="{words}"{size} loading="lazy"></div>'
    style = "picture wide" if width and width > WIDE else "picture"
    return f'<figure class="{style}">{image}<figcaption>{_inline(picture.words)}</figcaption></figure>'


def _width(content: bytes) -> int | None:
    """How wide a PNG is shown, from its header; other formats say so themselves."""
    if not content.startswith(_PNG):
        return None
    pixels = int.from_bytes(content[16:20], "big")
    return max(pixels // DENSITY, min(pixels, NARROW))


def _inline(words: str) -> str:
    """``words`` as HTML: `code` as code, and elsewhere a minus as wide as a plus."""
    plain, *rest = _CODE.split(escape(words, quote=False))
    parts = [_minus(plain)]
    for code, after in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"<code>{code}</code>", _minus(after)]
    return "".join(parts)


def _minus(text: str) -> str:
    return _MINUS.sub("\N{MINUS SIGN}", text)


def _each(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _anchor(chapter: Chapter, section: int | None = None) -> str:
    return chapter.suite.name if section is None else f"{chapter.suite.name}-{section + 1}"
