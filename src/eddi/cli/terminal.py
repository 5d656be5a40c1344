"""Terminal output: data, messages, progress, tables and bars. Imports neither torch nor NumPy."""

import io
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from eddi.model.training.checkpoint import Progress as TrainingProgress
    from eddi.table.schema import Schema
    from eddi.table.variable import Variable

SECONDS_BETWEEN_LINES = 10.0  # of progress output that does not go to a terminal
PLAIN_WIDTH = 100  # characters per line of output that does not go to a terminal
PROGRESS_WIDTH = 32
MAX_NAMES_SHOWN = 6


def print_data(text: str) -> None:
    """Print data to standard output, always as UTF-8, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() if text.endswith("\n") else f"{text}\n".encode())


def to_json(document: Any) -> str:
    """Return a document as standard JSON, with null for infinities and NaN."""
    return json.dumps(_replace_nonfinite(document), indent=2, ensure_ascii=False, allow_nan=False)


def _replace_nonfinite(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _replace_nonfinite(value) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [_replace_nonfinite(value) for value in document]
    is_nonfinite = isinstance(document, float) and not abs(document) < float("inf")
    return None if is_nonfinite else document


def open_console(*, stderr: bool) -> Console:
    """Return a console on standard error for messages, or on standard output for results."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # print "?" for characters the encoding does not have
    options = {} if stream.isatty() else {"width": PLAIN_WIDTH}
    return Console(stderr=stderr, highlight=False, **options)  # type: ignore[arg-type]


def print_message(message: str, *, style: str = "", label: str = "") -> None:
    """Print a paragraph to standard error, without line breaks unless it goes to a terminal."""
    out = open_console(stderr=True)
    text = Text.assemble((label, f"bold {style}".strip()), message if label else (message, style))
    out.print(text, soft_wrap=not out.is_terminal)


@contextmanager
def show_training_progress() -> Iterator[Callable[["TrainingProgress"], None]]:
    """Show the progress of training: a bar on a terminal, otherwise a line every few seconds."""
    out = open_console(stderr=True)
    if not out.is_terminal:
        yield _TrainingLines(out)
        return
    description = TextColumn("[progress.description]{task.description}")
    columns = (TextColumn("training"), BarColumn(bar_width=PROGRESS_WIDTH), description)
    with Progress(*columns, console=out, transient=True) as progress:
        yield _TrainingBar(progress)


@contextmanager
def show_progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with the number of completed steps, on a terminal only."""
    out = open_console(stderr=True)
    count = TextColumn("{task.completed}/{task.total}")
    columns = (TextColumn(label), BarColumn(bar_width=PROGRESS_WIDTH), count)
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(label, total=None)
        yield lambda n_done, n_total: progress.update(task, completed=n_done, total=n_total)


class _TrainingStatus:
    """Describes the progress of training and estimates the remaining time."""

    def __init__(self) -> None:
        self.start: tuple[int, float] | None = None  # step and seconds of the first report

    def describe(self, progress: "TrainingProgress") -> str:
        start_step, start_seconds = self.start or (0, 0.0)
        if self.start is None:  # a resumed run starts at a later step; measure its speed from there
            self.start = (progress.step, progress.seconds)
        n_steps = max(1, progress.step - start_step)
        seconds_per_step = (progress.seconds - start_seconds) / n_steps
        remaining = (progress.max_steps - progress.step) * seconds_per_step
        score = "" if progress.validation is None else f"score {progress.validation:.3f}  "
        steps = f"{progress.step:,}/{progress.max_steps:,} steps"
        return f"{steps}  {score}{format_duration(remaining)} left"


class _TrainingBar:
    """Draws the progress of training as a bar."""

    def __init__(self, bar: Progress) -> None:
        self.bar, self.status = bar, _TrainingStatus()
        self.task = bar.add_task("starting", total=None)

    def __call__(self, progress: "TrainingProgress") -> None:
        description = self.status.describe(progress)
        self.bar.update(
            self.task, total=progress.max_steps, completed=progress.step, description=description
        )


class _TrainingLines:
    """Prints the progress of training as occasional lines."""

    def __init__(self, out: Console) -> None:
        self.out, self.status, self.printed_at = out, _TrainingStatus(), time.monotonic()

    def __call__(self, progress: "TrainingProgress") -> None:
        description = self.status.describe(progress)
        if time.monotonic() - self.printed_at >= SECONDS_BETWEEN_LINES:
            self.printed_at = time.monotonic()
            self.out.print(f"training: {description}", soft_wrap=True)


def format_duration(seconds: float) -> str:
    """Return a duration in a readable unit: 8 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def format_size(n_bytes: int) -> str:
    """Return a file size in a readable unit: 900 bytes, 340 kB, 2.1 MB."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1000:.0f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1_000_000:.1f} MB"


def count_kinds(schema: "Schema") -> dict[str, int]:
    """Return the number of variables of each kind, most frequent kind first."""
    return dict(Counter(str(variable.kind) for variable in schema.variables).most_common())


def build_schema_table(schema: "Schema") -> Table:
    """Return an overview of a schema: variables by kind, and excluded columns with the reason."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for kind, n_variables in count_kinds(schema).items():
        names = [variable.name for variable in schema.variables if str(variable.kind) == kind]
        table.add_row(Text(str(n_variables), "bold"), Text(kind, "green"), Text(join_names(names)))
    for column in schema.set_aside:
        table.add_row("", Text("set aside", "yellow"), Text(f"{column.name}: {column.reason}"))
    return table


def build_columns_table(columns: Sequence[dict[str, Any]]) -> Table:
    """Return a table with one line per column; ``columns`` as printed by `eddi describe --json`."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("column", "kind", "missing", "values"):
        table.add_column(heading, justify="right" if heading == "missing" else "left")
    for column in columns:
        style = "yellow" if column["kind"] == "set aside" else "green"
        missing = f"{column['missing']:.0%}" if column["missing"] else "-"
        name, kind = Text(column["name"]), Text(column["kind"], style)
        table.add_row(name, kind, missing, Text(column["values"]))
    return table


def describe_values(variable: "Variable") -> str:
    """Return the possible values of a variable: its levels, or its range and unit."""
    if variable.kind.has_levels:
        return join_names([str(level) for level in variable.levels])
    return variable.describe_values()


def join_names(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    n_hidden = len(names) - MAX_NAMES_SHOWN
    more = f" and {n_hidden} more" if n_hidden > 0 else ""
    return ", ".join(names[:MAX_NAMES_SHOWN]) + more


def draw_interval(
    interval: tuple[float, float], mean: float, *, scale: tuple[float, float], width: int
) -> Text:
    """Draw an interval and its mean on a scale."""
    first, last = (_cell_index(end, scale, width) for end in interval)
    cells = ["·"] * width
    cells[first : last + 1] = ["━"] * (last - first + 1)
    bar = Text("".join(cells), "dim")
    bar.stylize("not dim cyan", first, last + 1)
    index = _cell_index(mean, scale, width)
    return Text.assemble(bar[:index], ("●", "bold cyan"), bar[index + 1 :])


def draw_share(share: float, width: int) -> Text:
    """Draw a share between 0 and 1 as a bar."""
    n_filled = min(width, max(0, round(share * width)))
    return Text.assemble(("━" * n_filled, "cyan"), ("·" * (width - n_filled), "dim"))


def draw_marker(value: float, *, scale: tuple[float, float], width: int) -> Text:
    """Draw a single value on a scale."""
    index = _cell_index(value, scale, width)
    return Text.assemble(" " * index, ("▲", "bold green"), " " * (width - index - 1))


def _cell_index(value: float, scale: tuple[float, float], width: int) -> int:
    low, high = scale
    share = (value - low) / (high - low)
    return min(width - 1, max(0, round(share * (width - 1))))
