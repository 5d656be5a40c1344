"""What a person sees: talk, progress, tables and belief bars. Loads neither torch nor NumPy."""

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
    from eddi.model.training.checkpoint import Progress as Training
    from eddi.table.schema import Schema
    from eddi.table.variable import Variable

SECONDS_BETWEEN_LINES = 10.0  # of progress where there is no terminal to draw a bar on
PLAIN_WIDTH = 100  # columns of a table that goes to a file or a pipe
N_LEVELS_SHOWN = 6


def console(*, stderr: bool) -> Console:
    """Where people read: standard error for talk, standard output for a table asked for."""
    stream = sys.stderr if stderr else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a bar becomes ??? where a terminal cannot draw it
    plain = {} if stream.isatty() else {"width": PLAIN_WIDTH}
    return Console(stderr=stderr, highlight=False, **plain)  # type: ignore[arg-type]


def say(message: str, *, style: str = "", label: str = "") -> None:
    """One paragraph of talk on standard error; whole lines where no terminal wraps them."""
    out = console(stderr=True)
    text = Text.assemble((label, f"bold {style}".strip()), message if label else (message, style))
    out.print(text, soft_wrap=not out.is_terminal)


@contextmanager
def training() -> Iterator[Callable[["Training"], None]]:
    """Show how training goes while the block runs: a bar on a terminal, else a line now and then."""
    out = console(stderr=True)
    if not out.is_terminal:
        yield _Lines(out)
        return
    words = ("training", "[progress.description]{task.description}")
    columns = (TextColumn(words[0]), BarColumn(bar_width=32), TextColumn(words[1]))
    with Progress(*columns, console=out, transient=True) as progress:
        yield _Bar(progress)


@contextmanager
def counting(words: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many steps of how many are done, on a terminal, while the block runs."""
    out = console(stderr=True)
    columns = (TextColumn(words), BarColumn(bar_width=32), TextColumn("{task.completed}/{task.total}"))
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        task = progress.add_task(words, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


class _Pace:
    """How training stands in words, and how long it may still take."""

    def __init__(self) -> None:
        self.first: tuple[int, float] | None = None

    def words(self, now: "Training") -> str:
        step, seconds = self.first or (0, 0.0)
        if self.first is None:  # a resumed run starts far along, so speed counts from here
            self.first = (now.step, now.seconds)
        speed = (now.seconds - seconds) / max(1, now.step - step)
        left = (now.max_steps - now.step) * speed
        score = "" if now.validation is None else f"score {now.validation:.3f}  "
        return f"{now.step:,}/{now.max_steps:,} steps  {score}{duration(left)} left"


class _Bar:
    def __init__(self, progress: Progress) -> None:
        self.progress, self.pace = progress, _Pace()
        self.task = progress.add_task("starting", total=None)

    def __call__(self, now: "Training") -> None:
        words = self.pace.words(now)
        self.progress.update(self.task, total=now.max_steps, completed=now.step, description=words)


class _Lines:
    def __init__(self, out: Console) -> None:
        self.out, self.pace, self.said = out, _Pace(), time.monotonic()

    def __call__(self, now: "Training") -> None:
        words = self.pace.words(now)
        if time.monotonic() - self.said >= SECONDS_BETWEEN_LINES:
            self.said = time.monotonic()
            self.out.print(f"training: {words}", soft_wrap=True)


def duration(seconds: float) -> str:
    """A length of time as people say it: 8 s, 3 min, 2.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def size(n_bytes: int) -> str:
    """A file's size as people say it: 900 bytes, 340 kB, 2.1 MB."""
    if n_bytes < 1000:
        return f"{n_bytes} bytes"
    return f"{n_bytes / 1000:.0f} kB" if n_bytes < 1_000_000 else f"{n_bytes / 1_000_000:.1f} MB"


def kinds(schema: "Schema") -> dict[str, int]:
    """How many variables there are of each kind, most first."""
    return dict(Counter(str(variable.kind) for variable in schema.variables).most_common())


def schema_table(schema: "Schema") -> Table:
    """What a schema holds, at a glance: variables by kind, and what was set aside and why."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for kind, n in kinds(schema).items():
        names = [variable.name for variable in schema.variables if str(variable.kind) == kind]
        table.add_row(Text(str(n), "bold"), Text(kind, "green"), Text(_listing(names)))
    for aside in schema.set_aside:
        table.add_row("", Text("set aside", "yellow"), Text(f"{aside.name}: {aside.reason}"))
    return table


def columns_table(rows: Sequence[dict[str, Any]]) -> Table:
    """A described table, one line a column; ``rows`` as `eddi describe --json` prints them."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("column", "kind", "missing", "values"):
        table.add_column(heading, justify="right" if heading == "missing" else "left")
    for row in rows:
        style = "yellow" if row["kind"] == "set aside" else "green"
        missing = f"{row['missing']:.0%}" if row["missing"] else "-"
        table.add_row(Text(row["name"]), Text(row["kind"], style), missing, Text(row["values"]))
    return table


def values(variable: "Variable") -> str:
    """What a variable can be, in a few words: its levels, or its range."""
    if variable.kind.has_levels:
        return _listing([str(level) for level in variable.levels])
    low, high = variable.low, variable.high
    if low is None:
        words = "any number" if high is None else f"up to {high:g}"
    else:
        words = f"{low:g} and up" if high is None else f"{low:g} to {high:g}"
    return f"{words} {variable.unit}".strip()


def belief_bar(ends: tuple[float, float], mean: float, low: float, high: float, width: int) -> Text:
    """An interval and its mean drawn on a scale from ``low`` to ``high``."""
    first, last = (_place(end, low, high, width) for end in ends)
    cells = ["·"] * width
    cells[first : last + 1] = ["━"] * (last - first + 1)
    bar = Text("".join(cells), "dim")
    bar.stylize("not dim cyan", first, last + 1)
    place = _place(mean, low, high, width)
    return Text.assemble(bar[:place], ("●", "bold cyan"), bar[place + 1 :])


def share_bar(share: float, width: int) -> Text:
    """A share between 0 and 1 as a bar."""
    filled = min(width, max(0, round(share * width)))
    return Text.assemble(("━" * filled, "cyan"), ("·" * (width - filled), "dim"))


def mark(value: float, low: float, high: float, width: int) -> Text:
    """A single value on the same scale."""
    place = _place(value, low, high, width)
    return Text.assemble(" " * place, ("▲", "bold green"), " " * (width - place - 1))


def _place(value: float, low: float, high: float, width: int) -> int:
    share = (value - low) / (high - low)
    return min(width - 1, max(0, round(share * (width - 1))))


def _listing(words: Sequence[str]) -> str:
    more = f" and {len(words) - N_LEVELS_SHOWN} more" if len(words) > N_LEVELS_SHOWN else ""
    return ", ".join(words[:N_LEVELS_SHOWN]) + more


def put(text: str) -> None:
    """Data on standard output, always as UTF-8: a schema or a table is a file, whatever the locale."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() if text.endswith("\n") else f"{text}\n".encode())


def as_json(facts: Any) -> str:
    """Plain facts as JSON that any program can read."""
    return json.dumps(_finite(facts), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(facts: Any) -> Any:
    """``facts`` with null for infinities, which JSON cannot say."""
    if isinstance(facts, dict):
        return {key: _finite(value) for key, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_finite(value) for value in facts]
    return None if isinstance(facts, float) and not abs(facts) < float("inf") else facts
