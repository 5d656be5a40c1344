"""Write the report: one page of HTML; and for a repository Markdown, pictures and JSON of each suite."""

from pathlib import Path

from eddi_benchmarks.harness import results
from eddi_benchmarks.harness.experiment import experiment
from eddi_benchmarks.harness.suite import SELF_TEST, Suite, names
from eddi_benchmarks.report import html, markdown
from eddi_benchmarks.report.suite_report import Chapter

PAGE = "report.html"
COLOURS = 128


def write(results_folder: Path, output: Path) -> tuple[list[Path], list[str]]:
    """Write what ``results_folder`` holds to ``output``; returns the files, and suites not yet run."""
    chapters = [_chapter(name, results_folder, output) for name in names()]
    # That the rehearsal was not run says nothing of the paper.
    shown = [each for each in chapters if each.facts is not None or each.suite.name != SELF_TEST]
    told = [chapter for chapter in shown if chapter.facts is not None]
    output.mkdir(parents=True, exist_ok=True)
    files = [_whole(output / PAGE, html.render(shown))]
    for chapter in told:
        name = chapter.suite.name
        files.append(_whole(output / f"{name}.md", markdown.render(chapter, output)))
        results.write(output / f"{name}.json", chapter.to_document())
        files.append(output / f"{name}.json")
    return files, [chapter.suite.name for chapter in shown if chapter.facts is None]


def _chapter(name: str, results_folder: Path, output: Path) -> Chapter:
    """The suite in full where any of it was run, else its quick look."""
    for quick in (False, True):
        suite = Suite.load(name, quick=quick)
        if outcomes := suite.outcomes(results_folder):
            chapter = Chapter.of(suite, outcomes, experiment(suite.experiment), output / name)
            for picture in (output / name).glob("*.png"):
                _shrink(picture)
            return chapter
    return Chapter(Suite.load(name), 0, None, ())


def _shrink(picture: Path) -> None:
    """Keep the colours a plot has and no more: a third of the bytes, and no eye tells the difference."""
    from PIL import Image

    with Image.open(picture) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


def _whole(path: Path, text: str) -> Path:
    """Write ``text`` in one piece or not at all."""
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)
    return path
