"""Uploaded files, which may be damaged or hostile: each is read in a process with limits.

The server itself only receives the rows as a Parquet file that EDDI wrote, and facts as JSON. A file that
makes a reader allocate too much, run too long or crash ends that process, not the server.
"""

import json
import logging
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eddi.errors import TableError
from eddi.service import logs
from eddi.service.analyst.data.upload_worker import ORDER, RESULT, ROWS
from eddi.table.files.limits import ReadLimits
from eddi.table.schema import Schema

_log = logging.getLogger(__name__)

EXTENSIONS = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".xls")
MAX_NAME_CHARS = 120
MAX_FACTS_BYTES = 20_000_000  # facts are stored as one event
UPLOADED_TABLE = ReadLimits(max_columns=2_000, max_cells=50_000_000, max_bytes=1_000_000_000)
WORKER = "eddi.service.analyst.data.upload_worker"


@dataclass(frozen=True)
class UploadLimits:
    """What reading one uploaded file may take.

    Args:
        table: the largest table. 50 million cells are 400 MB as numbers; no questionnaire needs more.
        max_memory: address space of the process in bytes.
        max_seconds: time until the process is ended.
        max_output: size of the rows as Parquet in bytes.
    """

    table: ReadLimits = UPLOADED_TABLE
    max_memory: int = 4_000_000_000
    max_seconds: int = 120
    max_output: int = 1_000_000_000


@dataclass(frozen=True)
class Upload:
    """A table that was read from an uploaded file.

    Args:
        name: the name of the file, without folders and unprintable characters.
        rows: a temporary Parquet file.
        facts: number of rows, columns, inferred schema, profiles, and repairs that reading took.
    """

    name: str
    rows: Path
    facts: dict[str, Any]


class UploadReader:
    """Reads uploaded files, at most two at a time."""

    def __init__(self, limits: UploadLimits | None = None, *, max_running: int = 2) -> None:
        self.limits = limits or UploadLimits()
        self._running = threading.BoundedSemaphore(max_running)

    @contextmanager
    def read(self, name: str, content: Path) -> Iterator[Upload]:
        """Read a file. The rows exist until the block ends.

        Args:
            name: the original file name; its extension determines the format.
            content: a temporary file with the uploaded bytes.

        Raises:
            TableError: the file is not a table, is too large, or has no usable column.
        """
        name = display_name(name)
        extension = Path(name).suffix.lower()
        if extension not in EXTENSIONS:
            raise TableError(
                f"{name!r} is not in a supported format. Upload one of: {', '.join(EXTENSIONS)}."
            )
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            file = folder / f"table{extension}"
            file.symlink_to(content.resolve())  # the reader chooses the format by extension
            with self._running:
                result = self._run(folder, file, name)
            yield Upload(name, folder / ROWS, _find_facts(result, file.name, name))

    def read_codebook(
        self, name: str, content: Path, rows: Path, schema: Schema
    ) -> tuple[Schema, list[str]]:
        """Return the schema of a table with what a codebook says, and what it lists as lost or uncertain.

        Args:
            name: the original name of the codebook's file.
            content: a temporary file with its bytes.
            rows: the table, as Parquet.
            schema: the present schema, whose targets and codes stay.

        Raises:
            TableError: the file is not a codebook.
        """
        name = display_name(name)
        codes = {key: list(getattr(schema, key)) for key in ("targets", "missing", "declined")}
        with TemporaryDirectory() as temporary:
            folder = Path(temporary)
            file, table = folder / "codebook", folder / "table.parquet"
            file.symlink_to(content.resolve())
            table.symlink_to(rows.resolve())
            with self._running:
                result = self._run(folder, table, name, codebook=str(file), **codes)
            facts = _find_facts(result, file.name, name)
        return replace(Schema.from_toml(facts["schema"]), stop=schema.stop), facts["notes"]

    def _run(self, folder: Path, file: Path, name: str, **options: Any) -> dict[str, Any]:
        limits = asdict(self.limits)
        order = {"file": str(file), "limits": limits.pop("table"), **limits, **options}
        (folder / ORDER).write_text(json.dumps(order), encoding="utf-8")
        try:
            process = subprocess.run(  # noqa: S603  # our own interpreter and module
                [sys.executable, "-P", "-m", WORKER, str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_make_environment(),
                timeout=self.limits.max_seconds + 5,
                check=False,
            )
            status = process.returncode
        except subprocess.TimeoutExpired:
            status = None
        result = _read_result(folder / RESULT)
        if result is None:
            _log.warning("upload not read", extra={logs.FIELDS: {"status": status}})
            raise TableError(
                f"{name!r} cannot be read within {self.limits.max_seconds} seconds and "
                f"{self.limits.max_memory // 10**9} GB of memory. It may be damaged. Save it again, with "
                "fewer rows or columns, or as CSV."
            )
        return result


def display_name(name: str) -> str:
    """Return a file name without folders and unprintable characters."""
    base = re.split(r"[\\/]", name)[-1]
    return "".join(char for char in base if char.isprintable())[-MAX_NAME_CHARS:] or "table"


def _make_environment() -> dict[str, str]:
    """Return the environment of the process: no secrets, and little reserved memory."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("EDDI_")}
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
    return {**environment, **single, "ARROW_DEFAULT_MEMORY_POOL": "system"}


def _read_result(path: Path) -> dict[str, Any] | None:
    """Return what the process wrote; None if it ended before."""
    if not path.exists():
        return None
    if path.stat().st_size > MAX_FACTS_BYTES:
        raise TableError(
            "the names and levels of the table are too long. Remove columns with texts, and try again."
        )
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def _find_facts(result: dict[str, Any], file_name: str, name: str) -> dict[str, Any]:
    """Return the facts, or raise the error. Messages name the file as it was uploaded."""
    if "unexpected" in result:
        _log.error("upload not read", extra={logs.FIELDS: {"error": result["unexpected"]}})
        raise TableError(f"{name!r} cannot be read as a table. Save it again, for example as CSV.")
    if "error" in result:
        raise TableError(str(result["error"]).replace(repr(file_name), repr(name)))
    facts: dict[str, Any] = result["facts"]
    notes = [note.replace(repr(file_name), repr(name)) for note in facts["notes"]]
    return {**facts, "notes": notes}
