"""`eddi store`: maintain the database of answers."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import EXIT_ERROR, check_writable, register_command
from eddi.cli.open_store import StoreUrl, WorkshopOption, find_workshop, open_store
from eddi.cli.options import Json
from eddi.cli.outcomes import outcomes
from eddi.errors import EddiError
from eddi.store.factory import require_sql_packages

if TYPE_CHECKING:
    from eddi.store.backup_folder import Manifest
    from eddi.store.base import Fault
    from eddi.store.sql import SqlStore

app = typer.Typer(
    name="store",
    help="Upgrade, export, back up, restore and verify the database of answers, import outcomes, or erase "
    "answers.",
    no_args_is_help=True,
)
_command = register_command(app)
_command(outcomes)

SECONDS_BETWEEN_TRIES = 0.5
TRACES_LEFT = "a program is reading the store, whose files may therefore still contain erased facts."


@_command
def upgrade(url: StoreUrl, json: Json = False) -> None:
    """Create the tables of a store or upgrade them to this version. Stored data is kept.

    For example: eddi store upgrade postgresql://eddi@db.example.org/answers
    """
    require_sql_packages()
    from eddi.store.upgrade import upgrade
    from eddi.store.url import parse_url, redact_url

    previous, current = upgrade(url)
    name = redact_url(parse_url(url))
    if previous == current:
        message = f"{name} is already at revision {current}."
    elif previous is None:
        message = f"created the tables of {name} at revision {current}."
    else:
        message = f"upgraded {name} from revision {previous} to {current}."
    terminal.print_message(message, style="green")
    if json:
        terminal.print_data(terminal.to_json({"before": previous, "now": current}))


@_command
def export(
    url: StoreUrl,
    prefix: Annotated[
        str,
        typer.Option(metavar="TEXT", help="Only streams that start with this, for example interview/."),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file. Default: standard output.")
    ] = None,
) -> None:
    """Write every event as one line of JSON, stream by stream.

    For example: eddi store export sqlite:///answers.db -o answers.jsonl

    An event has a stream, a number, a kind, facts, a time (at, in UTC), and the
    hashes that link it to the previous event. Keep exports in another place:
    `eddi store verify --against` compares a store with an export and finds
    events that were rewritten since.
    """
    with open_store(url) as store:
        lines = _export_lines(store, prefix)
        if output is not None:
            return _write_lines(lines, output)
        for line in lines:
            terminal.print_data(line)
    return None


@_command
def forget(
    url: StoreUrl,
    streams: Annotated[
        list[str], typer.Argument(metavar="STREAM", help="For example interview/4f2a...")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    json: Json = False,
) -> None:
    """Erase the facts of streams permanently. A final event records when they were erased.

    For example: eddi store forget sqlite:///answers.db interview/4f2a

    The facts are erased at once. While another program reads the store, old
    versions of the rows stay in its files; the server removes them later, and so
    does `eddi store scrub`. Older backups and exports still contain the facts,
    and the log of a PostgreSQL server may for a while. Delete these yourself.
    """
    with open_store(url) as store:
        _check_streams_exist(store, streams)
        if not yes:
            _confirm(len(streams))
        for stream in streams:
            store.erase(stream, by="command line")
        is_done = store.scrub()
    terminal.print_message(
        f"erased {', '.join(streams)}. Older backups and exports still contain the facts."
    )
    if not is_done:
        terminal.print_message(f"{TRACES_LEFT} Run later: eddi store scrub", style="yellow")
    if json:
        terminal.print_data(terminal.to_json({"forgotten": streams, "scrubbed": is_done}))


@_command
def scrub(
    url: StoreUrl,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for readers.")
    ] = 30,
    json: Json = False,
) -> None:
    """Rewrite the files of a store, so that they contain nothing that was erased.

    For example: eddi store scrub sqlite:///answers.db

    A running server does this by itself, except for stores in PostgreSQL above
    32 MB. Writers wait while the files are rewritten. The exit code is 1 if a
    program that reads the store is in the way.
    """
    deadline = time.monotonic() + wait
    with open_store(url) as store:
        while not (is_done := store.rewrite()) and time.monotonic() < deadline:
            time.sleep(SECONDS_BETWEEN_TRIES)
    if json:
        terminal.print_data(terminal.to_json({"scrubbed": is_done}))
    if not is_done:
        raise EddiError(f"{TRACES_LEFT} End that program, then try again.")
    terminal.print_message("the files contain nothing that was erased.", style="green")


@_command
def backup(
    url: StoreUrl,
    output: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    workshop: WorkshopOption = None,
    json: Json = False,
) -> None:
    """Back up a store and its workshop while they are in use.

    For example: eddi store backup sqlite:///answers.db monday

    The folder contains answers.db, a SQLite store that can be opened directly, or
    events.jsonl for a store in PostgreSQL; the tables and models of the workshop;
    and a manifest with checksums. `eddi store restore` restores it.
    """
    with open_store(url) as store:
        from eddi.store.backup_folder import write_backup

        check_writable(output / "manifest.json" if output.is_dir() else output)
        manifest = write_backup(store, output, workshop=workshop or find_workshop(url))
    size = f"{len(manifest.files):,} files, {terminal.format_size(manifest.n_bytes)}"
    terminal.print_message(f"wrote {output} ({size})", style="green")
    if not manifest.has_workshop:
        terminal.print_message("there is no workshop. If there should be one, name it: --workshop")
    _print_manifest(output, manifest, json=json)


@_command
def restore(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Written by `eddi store backup`.")],
    url: StoreUrl,
    workshop: WorkshopOption = None,
    json: Json = False,
) -> None:
    """Restore a backup to a new store. Nothing is overwritten.

    For example: eddi store restore monday sqlite:///answers.db

    All checksums and the chain of hashes are checked first. The store is a new
    SQLite file, or a PostgreSQL database without events; a backup of one kind can
    be restored to the other. The workshop must be a new or empty folder.
    """
    require_sql_packages()
    from eddi.store.restore import restore_backup

    manifest = restore_backup(folder, url, workshop=workshop or find_workshop(url))
    terminal.print_message(
        f"restored {len(manifest.files):,} files of {manifest.created}.", style="green"
    )
    _print_manifest(folder, manifest, json=json)


@_command
def anchor(
    url: StoreUrl,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")],
    key: Annotated[
        Path,
        typer.Option(metavar="FILE", help="The key that signs; it is created if it does not exist."),
    ],
) -> None:
    """Sign the present end of every stream, so that rewriting history is detected.

    For example: eddi store anchor sqlite:///answers.db monday.anchor --key anchor.key

    Keep the key and the anchors where those who can write to the database cannot
    change them. `eddi store verify --anchor` compares the store with an anchor.
    """
    from eddi.store.anchor import create_anchor, read_key

    check_writable(output)
    is_new = not key.exists()
    with open_store(url) as store:
        if store.verify():
            raise EddiError(f"the store was changed. Run first: eddi store verify {store.redacted_url}")
        created = create_anchor(store.hashes())
    header = created.header(read_key(key, create=True))
    _write_lines([header, *created.lines()], output)
    terminal.print_message(f"wrote {output}: {len(created.heads):,} streams", style="green")
    if is_new:
        terminal.print_message(f"created the key {key}. Keep it away from the database.")


@_command
def verify(
    url: StoreUrl,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An earlier export to compare the store with."),
    ] = None,
    anchor: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An earlier anchor to compare the store with."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The key that signed the anchor.")
    ] = None,
    json: Json = False,
) -> None:
    """Check that no event was changed since it was written. The exit code is 1 if one was.

    For example: eddi store verify sqlite:///answers.db --anchor monday.anchor --key anchor.key

    The hashes in the store reveal edits. A history that was rewritten as a whole
    is found by comparing it with an earlier anchor or export.
    """
    if (anchor is None) != (key is None):
        raise EddiError("give both --anchor and --key, or neither.")
    with open_store(url) as store:
        n_streams, n_events = store.count()
        faults = store.verify()
        if against is not None:
            faults += _compare_with_export(store, against)
        if anchor is not None and key is not None:
            faults += _compare_with_anchor(store, anchor, key)
    for fault in faults:
        terminal.print_message(f" {fault}", style="red", label="fault:")
    if not faults:
        terminal.print_message(
            f"verified {n_events:,} events in {n_streams:,} streams: none was changed.", style="green"
        )
    if json:
        listed = [
            {"stream": fault.stream, "number": fault.number, "words": fault.message} for fault in faults
        ]
        report = {"streams": n_streams, "events": n_events, "faults": listed}
        terminal.print_data(terminal.to_json(report))
    if faults:
        raise typer.Exit(EXIT_ERROR)


def _print_manifest(folder: Path, manifest: "Manifest", *, json: bool) -> None:
    if json:
        document = {"folder": str(folder), "bytes": manifest.n_bytes, "files": len(manifest.files)}
        terminal.print_data(terminal.to_json({**document, "workshop": manifest.has_workshop}))


def _export_lines(store: "SqlStore", prefix: str = "") -> Iterator[str]:
    from eddi.store.backup import export_lines

    return export_lines(store, prefix)


def _compare_with_export(store: "SqlStore", path: Path) -> list["Fault"]:
    from eddi.store.backup import parse_lines
    from eddi.store.chain import compare_with_export

    with path.open(encoding="utf-8") as lines:
        return list(compare_with_export(parse_lines(lines), store.read))


def _compare_with_anchor(store: "SqlStore", path: Path, key: Path) -> list["Fault"]:
    from eddi.store.anchor import compare_with_anchor, parse_anchor, read_key

    anchor = parse_anchor(path.read_text(encoding="utf-8", errors="replace"), read_key(key))
    return list(compare_with_anchor(anchor, store.hashes()))


def _write_lines(lines: Iterable[str], output: Path) -> None:
    from eddi.store.backup import create_atomically

    check_writable(output)
    with create_atomically(output) as partial, partial.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _check_streams_exist(store: "SqlStore", streams: list[str]) -> None:
    """Check all names before anything is erased, so that a typo does not leave the job half done."""
    unknown = [stream for stream in streams if not store.read(stream)]
    if unknown:
        raise EddiError(
            f"{store.redacted_url} has no stream {', '.join(map(repr, unknown))}; nothing was erased. "
            f"To list the streams, run: eddi store export {store.redacted_url}"
        )


def _confirm(n_streams: int) -> None:
    streams = "1 stream" if n_streams == 1 else f"{n_streams} streams"
    if not sys.stdin.isatty():
        raise EddiError(f"this would erase the facts of {streams} permanently. Confirm with --yes.")
    if not typer.confirm(f"Erase the facts of {streams} permanently?", err=True):
        raise EddiError("nothing was erased.")
