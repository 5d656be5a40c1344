"""A chapter of the report as Markdown, for a repository."""

from pathlib import Path

from eddi_benchmarks.report.content import Grid, Picture, Section, is_numeric
from eddi_benchmarks.report.suite_report import Chapter


def render(chapter: Chapter, folder: Path) -> str:
    """The chapter as Markdown that lies in ``folder``, beside its pictures."""
    suite = chapter.suite
    parts = [f"# {suite.title}", f"Suite `{suite.name}`: {chapter.size}."]
    if chapter.facts is None:
        parts.append(f"Not yet run. `eddi bench run {suite.name}` runs it.")
    else:
        parts.append("\n".join(f"- {name}: {said}" for name, said in chapter.facts.words().items()))
    for section in chapter.sections:
        parts += _section(section, folder)
    return "\n\n".join(parts) + "\n"


def _section(section: Section, folder: Path) -> list[str]:
    parts = [f"## {section.title}", *section.words]
    for grid in section.grids:
        parts += [f"**{grid.title}**", _table(grid), *([f"*{grid.note}*"] if grid.note else [])]
    return parts + [_picture(picture, folder) for picture in section.pictures]


def _table(grid: Grid) -> str:
    rules = ("---:" if is_numeric(grid, column) else "---" for column in range(len(grid.columns)))
    rows = [
        [_cell(text, bold=(row, column) in grid.best) for column, text in enumerate(texts)]
        for row, texts in enumerate(grid.rows)
    ]
    lines = [map(_cell, grid.columns), rules, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(text: str, *, bold: bool = False) -> str:
    safe = " ".join(text.replace("|", "\\|").replace("*", "\\*").split())
    return f"**{safe}**" if bold and safe else safe


def _picture(picture: Picture, folder: Path) -> str:
    place = picture.path.relative_to(folder).as_posix().replace(" ", "%20")
    words = picture.words.replace("[", "(").replace("]", ")")
    return f"![{words}]({place})\n\n*{picture.words}*"
