"""Reads one uploaded file in a process of its own, with limits on memory, time and output.

    python -m eddi.service.analyst.data.upload_worker FOLDER

FOLDER/order.json has the path of the file and the limits. The process writes the rows to
FOLDER/rows.parquet and everything else to FOLDER/result.json: facts about the table, or an error. An order
with a codebook is about a table that was read before: the result is its schema.
"""

import json
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

ORDER, ROWS, RESULT = "order.json", "rows.parquet", "result.json"


def main() -> None:
    """Read the file that the order in the folder names."""
    folder = Path(sys.argv[1])
    order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
    limit_process(order["max_memory"], seconds=order["max_seconds"], file_bytes=order["max_output"])
    result = read_upload(folder, order)
    (folder / RESULT).write_text(json.dumps(result), encoding="utf-8")


def limit_process(memory: int, *, seconds: int, file_bytes: int) -> None:
    """Limit the memory, time and files of this process. Windows has no such limits."""
    if sys.platform == "win32":
        return
    import resource

    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for kind, value in limits.items():
        _, hard = resource.getrlimit(kind)
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    signal.alarm(seconds)  # ends the process even if the server that started it has ended


def read_upload(folder: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Write the rows of the file, and return facts about its table or an error."""
    # Imported under the limits.
    from eddi.errors import EddiError, TableError
    from eddi.service.logs import describe_error

    try:
        if "codebook" in order:
            return {"facts": _read_codebook(Path(order["file"]), Path(order["codebook"]), order)}
        return {"facts": _read(Path(order["file"]), folder / ROWS, order["limits"])}
    except EddiError as error:
        return {"error": str(error)}
    except MemoryError:
        return {
            "error": str(TableError("the table needs too much memory. Upload fewer rows or columns."))
        }
    except Exception as error:
        return {"unexpected": describe_error(error)}


def _read(path: Path, output: Path, limits: dict[str, int]) -> dict[str, Any]:
    from eddi.errors import EddiWarning
    from eddi.service.analyst.data.column_profile import profile_table_column
    from eddi.table import formats
    from eddi.table.files.limits import ReadLimits
    from eddi.table.schema import Schema

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EddiWarning)
        rows = formats.read(path, limits=ReadLimits(**limits))
    schema = Schema.infer(rows)
    facts = {
        "rows": rows.num_rows,
        "columns": rows.column_names,
        # As TOML text, because a store sorts the keys of a document and columns have an order.
        "schema": schema.to_toml(),
        "profiles": [profile_table_column(rows, name, schema) for name in rows.column_names],
        "notes": [str(item.message) for item in caught if issubclass(item.category, EddiWarning)],
    }
    formats.write(rows, output)
    return facts


def _read_codebook(rows: Path, codebook: Path, order: dict[str, Any]) -> dict[str, Any]:
    """Infer the schema of a table with a codebook; its notes list what the schema lacks."""
    from eddi.table.schema import Schema

    options = {name: order[name] for name in ("targets", "missing", "declined")}
    schema = Schema.infer(rows, codebook=codebook, **options)
    notes = [f"{note.column}: {note.message}" if note.column else note.message for note in schema.notes]
    return {"schema": schema.to_toml(), "notes": notes}


if __name__ == "__main__":
    main()
