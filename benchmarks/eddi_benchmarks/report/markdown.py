"""The report on one suite as Markdown, for a repository."""

from pathlib import Path

from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.suite_report import SuiteReport


def render(report: SuiteReport, folder: Path) -> str:
    """Render a report as a Markdown file in ``folder``, next to its figures."""
    suite = report.suite
    blocks = [f"# {suite.title}", f"Suite `{suite.name}`: {report.progress}."]
    if report.provenance is None:
        blocks.append(f"Not yet run. Run it with `eddi bench run {suite.name}`.")
    else:
        lines = (f"- {label}: {text}" for label, text in report.provenance.describe().items())
        blocks.append("\n".join(lines))
    for section in report.sections:
        blocks += _render_section(section, folder)
    return "\n\n".join(blocks) + "\n"


def _render_section(section: Section, folder: Path) -> list[str]:
    blocks = [f"## {section.title}", *section.paragraphs]
    for table in section.tables:
        note = [f"*{table.note}*"] if table.note else []
        blocks += [f"**{table.title}**", _render_table(table), *note]
    return blocks + [_render_figure(figure, folder) for figure in section.figures]


def _render_table(table: ReportTable) -> str:
    alignment = ("---:" if table.is_numeric(column) else "---" for column in range(len(table.columns)))
    rows = [
        [_render_cell(text, bold=(row, column) in table.best) for column, text in enumerate(texts)]
        for row, texts in enumerate(table.rows)
    ]
    lines = [map(_render_cell, table.columns), alignment, *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _render_cell(text: str, *, bold: bool = False) -> str:
    escaped = " ".join(text.replace("|", "\\|").replace("*", "\\*").split())
    return f"**{escaped}**" if bold and escaped else escaped


def _render_figure(figure: Figure, folder: Path) -> str:
    link = figure.path.relative_to(folder).as_posix().replace(" ", "%20")
    alt = figure.caption.replace("[", "(").replace("]", ")")
    return f"![{alt}]({link})\n\n*{figure.caption}*"
