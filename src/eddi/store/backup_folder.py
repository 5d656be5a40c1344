"""Backups as folders: a copy of the store, the workshop, and a manifest with checksums.

``answers.db`` is a copy of a SQLite store that can be opened directly; a store in PostgreSQL is written to
``events.jsonl``. The folder appears complete or not at all, and only its owner can read it.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from eddi.durable_file import create_private_folder, finish_file, open_private_file
from eddi.store.backup import export_lines
from eddi.store.base import StoreError
from eddi.store.sql import SqlStore
from eddi.store.url import SQLITE

MANIFEST = "manifest.json"
SQLITE_COPY, EXPORT = "answers.db", "events.jsonl"
FORMAT = "eddi-backup-1"
CHUNK_BYTES = 1 << 20
MAX_MANIFEST_BYTES = 100 << 20
UNFINISHED = ".unfinished"
# Everything that a backup may contain; a manifest with other names is refused.
FILE_NAME = re.compile(
    r"answers\.db|events\.jsonl|workshop/shelf/[0-9a-f]{64}|workshop/jobs/identity"
    r"|workshop/jobs/[0-9a-f]{12}/[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
)


class BackupError(StoreError):
    """A backup cannot be written, or it is damaged."""


@dataclass(frozen=True)
class Manifest:
    """The content of a backup.

    Args:
        created: ISO 8601.
        files: size and SHA-256 of each file, by its path in the folder.
    """

    created: str
    files: dict[str, tuple[int, str]]

    @property
    def has_workshop(self) -> bool:
        """Whether the backup contains files of the workshop."""
        return any(name.startswith("workshop/") for name in self.files)

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(n_bytes for n_bytes, _ in self.files.values())


def write_backup(store: SqlStore, folder: Path, *, workshop: Path | None = None) -> Manifest:
    """Back up a store and its workshop to a new folder. Both may be in use.

    Files of the workshop are copied after the store: they exist before an event names them, and are
    deleted after the event that erases their name.

    Raises:
        BackupError: the folder exists already, or a file of the workshop is damaged.
    """
    with _create_folder(folder) as partial:
        if store.dialect == SQLITE:
            store.backup(partial / SQLITE_COPY)
        else:
            with open_private_file(partial / EXPORT) as file:
                file.writelines(f"{line}\n".encode() for line in export_lines(store))
        if workshop is not None and workshop.is_dir():
            _copy_workshop(workshop, partial / "workshop")
        names = sorted(path.relative_to(partial) for path in partial.rglob("*") if path.is_file())
        files = {name.as_posix(): _measure(partial / name) for name in names}
        created = datetime.now(UTC).isoformat(timespec="seconds")
        manifest = Manifest(created, files)
        _write_manifest(partial / MANIFEST, manifest)
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a backup, and check that all its files are there and unchanged.

    Raises:
        BackupError: this is not a backup, or it is damaged.
    """
    manifest = _parse_manifest(folder)
    for name, expected in manifest.files.items():
        path = folder / name
        if FILE_NAME.fullmatch(name) is None or path.is_symlink():
            raise BackupError(f"the backup names a file {name[:100]!r}, which no backup contains.")
        if not path.is_file():
            raise BackupError(f"the backup is not complete: {name!r} is missing. Use another backup.")
        if _measure(path) != expected:
            raise BackupError(f"the backup is damaged: {name!r} has changed. Use another backup.")
    return manifest


def _parse_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    try:
        if path.stat().st_size > MAX_MANIFEST_BYTES:
            raise ValueError
        document = json.loads(path.read_text(encoding="utf-8"))
        if document.pop("format") != FORMAT:
            raise ValueError
        files = {str(name): (int(size), str(sha)) for name, (size, sha) in document["files"].items()}
        return Manifest(**{**document, "files": files})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise BackupError(
            f"{str(folder)!r} is not a backup. Name a folder written by `eddi store backup`."
        ) from None


def _write_manifest(path: Path, manifest: Manifest) -> None:
    with open_private_file(path) as file:
        file.write(json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode())


def _copy_workshop(workshop: Path, target: Path) -> None:
    """Copy the finished files of a workshop. Those that are deleted in the meantime are left out."""
    for path in sorted(workshop.rglob("*")):
        name = path.relative_to(workshop)
        is_ours = FILE_NAME.fullmatch(f"workshop/{name.as_posix()}") and path.name != "lock"
        if is_ours and path.suffix != UNFINISHED and path.is_file() and not path.is_symlink():
            copy_file(path, target / name)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, readable only by its owner, and bring it to disk. A missing file is left out.

    Raises:
        BackupError: the file is a blob whose content does not match its name.
    """
    create_private_folder(target.parent)
    partial = target.with_name(target.name + ".partial")
    with suppress(FileNotFoundError):
        with source.open("rb") as original, open_private_file(partial) as copy:
            shutil.copyfileobj(original, copy, CHUNK_BYTES)
        if target.parent.name == "shelf" and _measure(partial)[1] != target.name:
            raise BackupError(
                f"the file {target.name[:16]}... of the workshop is damaged: its content has another "
                "SHA-256. Restore it from an earlier backup, or delete it."
            )
        finish_file(partial, target)


def _measure(path: Path) -> tuple[int, str]:
    """The size and the SHA-256 of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return path.stat().st_size, digest


@contextmanager
def _create_folder(folder: Path) -> Iterator[Path]:
    """Yield a private temporary folder that is renamed to ``folder`` once it is complete."""
    if folder.exists():
        raise BackupError(f"{str(folder)!r} exists already and is not overwritten. Choose another name.")
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    create_private_folder(partial)
    try:
        yield partial
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
