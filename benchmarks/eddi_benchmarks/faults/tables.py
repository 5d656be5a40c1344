"""Hostile tables: each is rejected with a short message, or read as a table with a schema.

Every file is read in two ways: by the reader itself, as the command line does, and as an upload to the
workshop, which has a process with limits of its own.
"""

import warnings
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from eddi.service.analyst.data.upload import UploadReader
from eddi.table import formats
from eddi.table.schema import Schema
from eddi_benchmarks.faults.hostile_tables import BUILDERS, Table, damage_file, make_valid_files
from eddi_benchmarks.faults.limited_process import MEGABYTE, Limits, run_limited
from eddi_benchmarks.faults.outcomes import Outcomes, attempt

READER_LIMITS = Limits(memory=6_000 * MEGABYTE, seconds=60)  # a table may decode to 2 GB
UPLOAD_LIMITS = Limits(
    memory=500 * MEGABYTE, seconds=150
)  # of the server, not of the process that reads


def run(count: int, seed: int, *, with_uploads: bool = True) -> Outcomes:
    """Read ``count`` hostile tables."""
    outcomes = Outcomes()
    files = make_valid_files()
    reader = UploadReader()
    with TemporaryDirectory() as folder:
        for index in range(count):
            kind, (name, content, detail) = _make_table(files, seed, index)
            path = Path(folder) / name
            path.write_bytes(content)
            ending = run_limited(partial(attempt, partial(_read, path)), READER_LIMITS)
            outcomes.add(f"reader: {kind}", index, detail, ending)
            if with_uploads:
                ending = run_limited(partial(attempt, partial(_upload, reader, path)), UPLOAD_LIMITS)
                outcomes.add(f"upload: {kind}", index, detail, ending)
            path.unlink()
    return outcomes


def _make_table(files: dict[str, bytes], seed: int, index: int) -> tuple[str, Table]:
    """Every second file is a damaged one; the others are built."""
    random = Random(f"tables {seed} {index}")  # noqa: S311  # reproducible, not secret
    if index % 2:
        return "damaged bytes", damage_file(files, random)
    kind = list(BUILDERS)[index // 2 % len(BUILDERS)]
    return kind, BUILDERS[kind](random)


def _read(path: Path) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = formats.read(path)
        Schema.infer(table)
    return True


def _upload(reader: UploadReader, path: Path) -> bool:
    with reader.read(path.name, path) as upload:
        return bool(upload.facts["rows"] > 0)
