"""`eddi bench`: prove our claims on this machine, and show what came of it."""

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
from eddi.cli.errors import EXIT_ERROR, command_of
from eddi.engine import EngineName

if TYPE_CHECKING:
    from eddi_benchmarks.harness.runner import Ended, OnProgress
    from eddi_benchmarks.report.content import Grid
    from eddi_benchmarks.report.suite_report import Chapter

app = typer.Typer(
    name="bench",
    help="Prove the claims: run the paper's experiments and put our numbers beside theirs.",
    no_args_is_help=True,
)
_command = command_of(app)

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="One of `eddi bench list`.")]
Quick = Annotated[bool, typer.Option("--quick", help="A small size that runs in minutes.")]
Results = Annotated[Path, typer.Option(metavar="DIR", help="Where the runs are kept.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
RESULTS = Path("results")
FILE_WIDTH = 400  # columns of a table that goes to a file or a pipe, where nothing need be folded


@_command
def list(results: Results = RESULTS, json: Json = False) -> None:
    """List the suites, and how many of their runs are done."""
    from eddi_benchmarks.harness.suite import Suite, names

    suites = [(Suite.load(name), Suite.load(name, quick=True)) for name in names()]
    counts = [[(len(each.outcomes(results)), len(each.runs)) for each in sizes] for sizes in suites]
    if json:
        keys = ("done", "runs", "quick_done", "quick_runs")
        facts = [
            {"suite": full.name, "title": full.title, **dict(zip(keys, (*a, *b), strict=True))}
            for (full, _), (a, b) in zip(suites, counts, strict=True)
        ]
        return terminal.put(terminal.as_json(facts))
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("suite", "done", "quick", "what it shows"):
        table.add_column(heading, justify="right" if heading in ("done", "quick") else "left")
    for (full, _), sizes in zip(suites, counts, strict=True):
        done = (f"{n_done}/{n_runs}" for n_done, n_runs in sizes)
        table.add_row(Text(full.name, "green"), *done, Text(full.title))
    return terminal.console(stderr=False).print(table)


@_command
def run(
    suite: SuiteName,
    quick: Quick = False,
    results: Results = RESULTS,
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="At a time; one a core if left out.")
    ] = None,
    engine: Annotated[EngineName, typer.Option(help="Where runs are played.")] = EngineName.PROCESSES,
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the datasets are, as EDDI_DATA.")
    ] = None,
) -> None:
    """Run a suite. What is finished stays; after an interruption the same command goes on.

    For example: eddi bench run paper-uci --quick
    """
    if data is not None:
        os.environ["EDDI_DATA"] = str(data)
    from eddi_benchmarks.harness import runner
    from eddi_benchmarks.harness.experiment import experiment
    from eddi_benchmarks.harness.suite import Suite

    chosen = Suite.load(suite, quick=quick)
    n_processes = processes or os.cpu_count() or 1
    began = time.monotonic()
    with _progress(chosen.name) as on_progress:
        ended = runner.run(
            chosen,
            experiment(chosen.experiment),
            results,
            processes=n_processes,
            engine=engine,
            on_progress=on_progress,
        )
    _say_how_it_ended(ended, chosen.folder(results), time.monotonic() - began)
    if ended.failures:
        raise typer.Exit(EXIT_ERROR)


@_command
def table(
    suite: SuiteName, quick: Quick = False, results: Results = RESULTS, json: Json = False
) -> None:
    """Print the tables of a suite from the runs that are finished."""
    from eddi_benchmarks.harness.suite import SuiteError

    chapter = _chapter(suite, quick, results)
    if chapter is None:
        raise SuiteError(
            f"no run of {suite!r} is finished in {str(results)!r}. "
            f"`eddi bench run {suite}{' --quick' if quick else ''}` runs it."
        )
    if json:
        return terminal.put(terminal.as_json(chapter.to_document()))
    out = terminal.console(stderr=False)
    if not out.is_terminal:
        out.width = FILE_WIDTH
    terminal.say(f"{chapter.suite.title} ({chapter.size})")
    for grid in chapter.grids:
        out.print()
        out.print(Text(grid.title, "bold"))
        out.print(_rich_table(grid))
        if grid.note:
            out.print(Text(grid.note, "dim"), soft_wrap=not out.is_terminal)
    return None


@_command
def report(
    results: Results = RESULTS,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Where to; `report` in the results if left out."
        ),
    ] = None,
) -> None:
    """Write all that was run as one page of HTML, and as Markdown, pictures and JSON a suite."""
    from eddi_benchmarks.report.writer import write

    files, not_run = write(results, output or results / "report")
    for file in files:
        terminal.say(f"wrote {file}")
    if not_run:
        terminal.say(f"not yet run: {', '.join(not_run)}")


def _chapter(name: str, quick: bool, results: Path) -> "Chapter | None":
    from tempfile import TemporaryDirectory

    from eddi_benchmarks.harness.experiment import experiment
    from eddi_benchmarks.harness.suite import Suite
    from eddi_benchmarks.report.suite_report import Chapter

    suite = Suite.load(name, quick=quick)
    outcomes = suite.outcomes(results)
    if not outcomes:
        return None
    with TemporaryDirectory() as unwanted:  # pictures
        return Chapter.of(suite, outcomes, experiment(suite.experiment), Path(unwanted) / name)


def _rich_table(grid: "Grid") -> Table:
    from eddi_benchmarks.report.content import is_numeric

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column, name in enumerate(grid.columns):
        table.add_column(Text(name), justify="right" if is_numeric(grid, column) else "left")
    for row, texts in enumerate(grid.rows):
        cells = (
            Text(text, "bold green" if (row, column) in grid.best else "")
            for column, text in enumerate(texts)
        )
        table.add_row(*cells)
    return table


@contextmanager
def _progress(name: str) -> Iterator["OnProgress"]:
    """Show how a suite goes: a bar on a terminal, else a line now and then."""
    out = terminal.console(stderr=True)
    columns = (
        TextColumn(name),
        BarColumn(bar_width=32),
        TextColumn("{task.completed}/{task.total}"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        yield _Shown(progress, progress.add_task("starting", total=None))


class _Shown:
    """What is said when a run ends: how many there are, and how long the rest may take."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self.progress, self.task = progress, task
        self.began = self.said = time.monotonic()

    def __call__(self, done: int, total: int, run: str, seconds: float) -> None:
        now = time.monotonic()
        left = (now - self.began) / done * (total - done)
        words = f"{run} {terminal.duration(seconds)}, about {terminal.duration(left)} left"
        self.progress.update(self.task, completed=done, total=total, description=words)
        if self.progress.disable and now - self.said >= terminal.SECONDS_BETWEEN_LINES:
            self.said = now
            terminal.say(f"{done}/{total} runs: {words}")


def _say_how_it_ended(ended: "Ended", folder: Path, seconds: float) -> None:
    for name, error in ended.failures.items():
        terminal.say(f" {name}: {error}", style="red", label="failed:")
    runs = f"{ended.now} run{'' if ended.now == 1 else 's'}"
    before = f" {ended.before} had been finished before." if ended.before else ""
    failed = f", {len(ended.failures)} failed" if ended.failures else ""
    terminal.say(
        f"{runs} in {terminal.duration(seconds)}{failed}; they are in {folder}.{before}",
        style="" if ended.failures else "green",
    )
