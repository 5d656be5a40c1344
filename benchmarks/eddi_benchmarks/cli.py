"""The commands of `eddi bench`: list and run suites, print their tables, write a report."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.errors import EXIT_ERROR, register_command
from eddi.engine import EngineName

if TYPE_CHECKING:
    from eddi_benchmarks.harness.runner import OnProgress, Summary
    from eddi_benchmarks.report.content import ReportTable
    from eddi_benchmarks.report.suite_report import SuiteReport

app = typer.Typer(
    name="bench",
    help="Run the benchmark suites and compare our results with the paper's.",
    no_args_is_help=True,
)

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="One of `eddi bench list`.")]
Quick = Annotated[bool, typer.Option("--quick", help="Use the quick size, which takes minutes.")]
Results = Annotated[Path, typer.Option(metavar="DIR", help="Folder of stored results.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
RESULTS = Path("results")
FILE_WIDTH = 400  # columns of a table written to a file or a pipe, so that no line wraps


@register_command(app, name="list")
def list_suites(results: Results = RESULTS, json: Json = False) -> None:
    """List the suites and how many of their runs are finished."""
    from eddi_benchmarks.harness.suite import Suite, suite_names

    suites = [(Suite.load(name), Suite.load(name, quick=True)) for name in suite_names()]
    counts = [[(len(suite.results(results)), len(suite.runs)) for suite in sizes] for sizes in suites]
    if json:
        keys = ("done", "runs", "quick_done", "quick_runs")
        document = [
            {"suite": full.name, "title": full.title, **dict(zip(keys, (*a, *b), strict=True))}
            for (full, _), (a, b) in zip(suites, counts, strict=True)
        ]
        return terminal.print_data(terminal.to_json(document))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("suite", "done", "quick", "title"):
        table.add_column(heading, justify="right" if heading in ("done", "quick") else "left")
    for (full, _), sizes in zip(suites, counts, strict=True):
        progress = (f"{n_finished}/{n_runs}" for n_finished, n_runs in sizes)
        table.add_row(Text(full.name, "green"), *progress, Text(full.title))
    return terminal.open_console(stderr=False).print(table)


@register_command(app, name="run")
def run(
    suite: SuiteName,
    quick: Quick = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE", help="Run only these, such as dataset=boston,yacht. Repeatable."
        ),
    ] = None,
    results: Results = RESULTS,
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Runs at a time; default: one per core.")
    ] = None,
    engine: Annotated[EngineName, typer.Option(help="Where to execute runs.")] = EngineName.PROCESSES,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of datasets; overrides EDDI_DATA.")
    ] = None,
) -> None:
    """Run a suite. Finished runs are kept: after an interruption, repeat the command to continue.

    For example: eddi bench run paper-uci --quick, or eddi bench run decisions --only model=ours --only seed=0
    """
    if data is not None:
        os.environ["EDDI_DATA"] = str(data)
    from eddi_benchmarks.harness import runner
    from eddi_benchmarks.harness.experiment import find_experiment
    from eddi_benchmarks.harness.suite import Suite

    loaded = Suite.load(suite, quick=quick).select(only or [])
    start = time.monotonic()
    with _progress_display(loaded.name) as on_progress:
        summary = runner.run_suite(
            loaded,
            find_experiment(loaded.experiment),
            results,
            processes=processes or os.cpu_count() or 1,
            engine=engine,
            on_progress=on_progress,
        )
    _print_summary(summary, loaded.folder(results), time.monotonic() - start)
    if summary.failures:
        raise typer.Exit(EXIT_ERROR)


@register_command(app, name="table")
def print_tables(
    suite: SuiteName, quick: Quick = False, results: Results = RESULTS, json: Json = False
) -> None:
    """Print the tables of a suite, from the runs that are finished."""
    from eddi_benchmarks.harness.suite import SuiteError

    report = _suite_report(suite, quick, results)
    if report is None:
        raise SuiteError(
            f"no run of {suite!r} is finished in {str(results)!r}. "
            f"Run `eddi bench run {suite}{' --quick' if quick else ''}` first."
        )
    if json:
        return terminal.print_data(terminal.to_json(report.to_document()))
    out = terminal.open_console(stderr=False)
    if not out.is_terminal:
        out.width = FILE_WIDTH
    terminal.print_message(f"{report.suite.title} ({report.progress})")
    for table in report.tables:
        out.print()
        out.print(Text(table.title, "bold"))
        out.print(_rich_table(table))
        if table.note:
            out.print(Text(table.note, "dim"), soft_wrap=not out.is_terminal)
    return None


@register_command(app, name="report")
def write_report(
    results: Results = RESULTS,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Output folder; default: `report` in the results."
        ),
    ] = None,
) -> None:
    """Write a report on all finished runs: one HTML page, and Markdown, figures and JSON per suite."""
    from eddi_benchmarks.report import writer

    files, not_run = writer.write_report(results, output or results / "report")
    for file in files:
        terminal.print_message(f"wrote {file}")
    if not_run:
        terminal.print_message(f"not yet run: {', '.join(not_run)}")


def _suite_report(name: str, quick: bool, results_folder: Path) -> "SuiteReport | None":
    from tempfile import TemporaryDirectory

    from eddi_benchmarks.harness.experiment import find_experiment
    from eddi_benchmarks.harness.suite import Suite
    from eddi_benchmarks.report.suite_report import SuiteReport

    suite = Suite.load(name, quick=quick)
    results = suite.results(results_folder)
    if not results:
        return None
    with TemporaryDirectory() as unused:  # figures are not printed
        experiment = find_experiment(suite.experiment)
        return SuiteReport.from_results(suite, results, experiment, Path(unused) / name)


def _rich_table(table: "ReportTable") -> Table:
    rich_table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column, name in enumerate(table.columns):
        rich_table.add_column(Text(name), justify="right" if table.is_numeric(column) else "left")
    for row, texts in enumerate(table.rows):
        cells = (
            Text(text, "bold green" if (row, column) in table.best else "")
            for column, text in enumerate(texts)
        )
        rich_table.add_row(*cells)
    return rich_table


@contextmanager
def _progress_display(suite: str) -> Iterator["OnProgress"]:
    """Show the progress of a suite: a bar on a terminal, otherwise occasional lines."""
    out = terminal.open_console(stderr=True)
    columns = (
        TextColumn(suite),
        BarColumn(bar_width=32),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        yield _ProgressDisplay(progress, progress.add_task("starting", total=None))


class _ProgressDisplay:
    """Shows how many runs are finished and an estimate of the remaining time."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress, self.task = progress, task
        self.start = self.last_line = time.monotonic()

    def __call__(self, n_finished: int, n_runs: int, run: str, seconds: float) -> None:
        current = time.monotonic()
        remaining = (current - self.start) / n_finished * (n_runs - n_finished)
        duration, rest = (terminal.format_duration(s) for s in (seconds, remaining))
        status = f"{run} {duration}, about {rest} remaining"
        self.progress.update(self.task, completed=n_finished, total=n_runs, description=status)
        if self.progress.disable and current - self.last_line >= terminal.SECONDS_BETWEEN_LINES:
            self.last_line = current
            terminal.print_message(f"{n_finished}/{n_runs} runs: {status}")


def _print_summary(summary: "Summary", folder: Path, seconds: float) -> None:
    for run, error in summary.failures.items():
        terminal.print_message(f" {run}: {error}", style="red", label="failed:")
    finished = f"{summary.n_finished} run{'' if summary.n_finished == 1 else 's'} finished"
    failed = f", {len(summary.failures)} failed" if summary.failures else ""
    skipped = f" Skipped {summary.n_skipped} finished before." if summary.n_skipped else ""
    terminal.print_message(
        f"{finished} in {terminal.format_duration(seconds)}{failed}; results are in {folder}.{skipped}",
        style="" if summary.failures else "green",
    )
