"""Write a report: one HTML page, and for each suite a Markdown file, its figures and a JSON file."""

from pathlib import Path

from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.files import write_json, write_text
from eddi_benchmarks.harness.suite import SELF_TEST, Suite, suite_names
from eddi_benchmarks.report import html, markdown
from eddi_benchmarks.report.suite_report import SuiteReport

HTML_FILE = "report.html"
N_COLOURS = 128  # of a saved PNG


def write_report(results_folder: Path, output: Path) -> tuple[list[Path], list[str]]:
    """Report on the results in ``results_folder``.

    Returns:
        The files written to ``output``, and the names of suites without a finished run.
    """
    reports = [_suite_report(name, results_folder, output) for name in suite_names()]
    # The self-test reproduces no claim, so a report does not list it as missing.
    listed = [r for r in reports if r.provenance is not None or r.suite.name != SELF_TEST]
    output.mkdir(parents=True, exist_ok=True)
    files = [output / HTML_FILE]
    write_text(output / HTML_FILE, html.render(listed))
    for report in (report for report in listed if report.provenance is not None):
        page, document = (output / f"{report.suite.name}.{suffix}" for suffix in ("md", "json"))
        write_text(page, markdown.render(report, output))
        write_json(document, report.to_document())
        files += [page, document]
    return files, [report.suite.name for report in listed if report.provenance is None]


def _suite_report(name: str, results_folder: Path, output: Path) -> SuiteReport:
    """Report on the full size of a suite if any of its runs is finished, else on its quick size."""
    for quick in (False, True):
        suite = Suite.load(name, quick=quick)
        if results := suite.results(results_folder):
            experiment = find_experiment(suite.experiment)
            report = SuiteReport.from_results(suite, results, experiment, output / name)
            for image in (output / name).glob("*.png"):
                _reduce_colours(image)
            return report
    return SuiteReport(Suite.load(name))


def _reduce_colours(path: Path) -> None:
    """Save an image with few colours, as a plot has: a third of the size without visible change."""
    from PIL import Image

    with Image.open(path) as image:
        reduced = image.convert("RGB").quantize(N_COLOURS, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)
