"""`eddi store`: look after what was answered."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import EXIT_ERROR, check_output, command_of
from eddi.errors import EddiError
from eddi.store.factory import need_sql

if TYPE_CHECKING:
    from eddi.store.base import Fault
    from eddi.store.sql import SqlStore

app = typer.Typer(
    name="store",
    help="Look after what was answered: upgrade, export, forget, back up, verify.",
    no_args_is_help=True,
)
_command = command_of(app)

Url = Annotated[
    str,
    typer.Argument(
        metavar="URL",
        help="sqlite:///answers.db or postgresql://user@host/database; "
        "leave the password to PGPASSWORD or ~/.pgpass.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@_command
def upgrade(url: Url, json: Json = False) -> None:
    """Make the tables of a store, or bring them up to this version. What is kept stays.

    For example: eddi store upgrade postgresql://eddi@db.example.org/answers
    """
    need_sql()
    from eddi.store.upgrade import upgrade
    from eddi.store.url import parsed, shown

    before, now = upgrade(url)
    was = "had no tables" if before is None else f"was at {before}"
    words = "was up to date" if before == now else was
    terminal.say(f"{shown(parsed(url))} {words}; it is at revision {now}.", style="green")
    if json:
        terminal.put(terminal.as_json({"before": before, "now": now}))


@_command
def export(
    url: Url,
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="Only streams that begin so, as interview/.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file; else standard output.")
    ] = None,
) -> None:
    """Write every event as a line of JSON, stream by stream.

    For example: eddi store export sqlite:///answers.db -o answers.jsonl

    An event has its stream, number, kind, facts, at (UTC), and the hashes that chain it to the one
    before. Keep an export elsewhere: `eddi store verify --against` finds what was rewritten since.
    """
    with _opened(url) as store:
        lines = _lines(store, prefix)
        if output is not None:
            return _write(lines, output)
        for line in lines:
            terminal.put(line)
    return None


@_command
def forget(
    url: Url,
    streams: Annotated[list[str], typer.Argument(metavar="STREAM", help="As interview/4f2a...")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether this is meant.")] = False,
    json: Json = False,
) -> None:
    """Erase the facts of streams for good. That they were, and when, stays.

    For example: eddi store forget sqlite:///answers.db interview/4f2a

    The store is rewritten, so that its files hold nothing of them either. Earlier backups and exports
    do, and so may a PostgreSQL server's own log for a while: see to them yourself.
    """
    with _opened(url) as store:
        _check_known(store, streams)
        if not yes:
            _confirm(len(streams))
        for stream in streams:
            store.erase(stream)
        store.sweep()
    terminal.say(f"forgotten: {', '.join(streams)}. Older backups and exports still hold it.")
    if json:
        terminal.put(terminal.as_json({"forgotten": streams}))


@_command
def backup(
    url: Url,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    json: Json = False,
) -> None:
    """Copy a store while it is in use.

    For example: eddi store backup sqlite:///answers.db answers-monday.db

    A store in SQLite is copied to a SQLite file that opens as it is. One in PostgreSQL is exported as
    lines of JSON, to read and to verify against; to restore a server, use pg_dump and pg_restore.
    """
    check_output(output)
    with _opened(url) as store:
        if store.kind == "sqlite":
            store.backup(output)
        else:
            _write(_lines(store), output)
            terminal.say("this is an export. To restore a PostgreSQL server, keep a pg_dump as well.")
    n_bytes = output.stat().st_size
    terminal.say(f"wrote {output} ({terminal.size(n_bytes)})", style="green")
    if json:
        terminal.put(terminal.as_json({"file": str(output), "bytes": n_bytes}))


@_command
def verify(
    url: Url,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An earlier export: is all of it still as it was?"),
    ] = None,
    json: Json = False,
) -> None:
    """Check that every event is as it was written; 1 is the exit code where one is not.

    For example: eddi store verify sqlite:///answers.db --against answers.jsonl
    """
    with _opened(url) as store:
        n_streams, n_events = store.count()
        faults = store.verify()
        if against is not None:
            faults += _faults_against(store, against)
    _say_faults(faults, f"{n_events:,} events in {n_streams:,} streams")
    if json:
        found = [vars(fault) for fault in faults]
        terminal.put(terminal.as_json({"streams": n_streams, "events": n_events, "faults": found}))
    if faults:
        raise typer.Exit(EXIT_ERROR)


@contextmanager
def _opened(url: str) -> Iterator["SqlStore"]:
    need_sql()
    from eddi.store.sql import SqlStore

    store = SqlStore(url, create=False)
    try:
        yield store
    finally:
        store.close()


def _lines(store: "SqlStore", prefix: str = "") -> Iterator[str]:
    from eddi.store.backup import lines_of

    return lines_of(store, prefix)


def _faults_against(store: "SqlStore", path: Path) -> list["Fault"]:
    from eddi.store.backup import events_of
    from eddi.store.chain import faults_against

    with path.open(encoding="utf-8") as lines:
        return list(faults_against(events_of(lines), store.read))


def _write(lines: Iterable[str], output: Path) -> None:
    from eddi.store.backup import new_file

    check_output(output)
    with new_file(output) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _check_known(store: "SqlStore", streams: list[str]) -> None:
    """All or none: a slip in the third name must not be told after two are gone."""
    unknown = [stream for stream in streams if not store.read(stream)]
    if unknown:
        raise EddiError(
            f"{store.address} has no {', '.join(map(repr, unknown))}; nothing was forgotten. "
            f"`eddi store export {store.address}` shows what there is."
        )


def _confirm(n_streams: int) -> None:
    what = "1 stream" if n_streams == 1 else f"{n_streams} streams"
    if not sys.stdin.isatty():
        raise EddiError(f"{what} would be erased for good. Say --yes if that is meant.")
    if not typer.confirm(f"Erase the facts of {what} for good?", err=True):
        raise EddiError("nothing was forgotten.")


def _say_faults(faults: list["Fault"], what: str) -> None:
    for fault in faults:
        terminal.say(f" {fault}", style="red", label="fault:")
    if not faults:
        terminal.say(f"{what}: all as they were written.", style="green")
