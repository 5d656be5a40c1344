"""The process that reads an uploaded file writes rows and facts, or an error."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from eddi.service.analyst.data.upload_worker import ORDER, RESULT, ROWS, read_upload

LIMITS = {"max_columns": 10, "max_cells": 100, "max_bytes": 1_000_000}


def write_order(folder, content, **limits):
    (folder / "table.csv").write_bytes(content)
    order = {"file": str(folder / "table.csv"), "limits": {**LIMITS, **limits}}
    return order | {"max_memory": 4_000_000_000, "max_seconds": 60, "max_output": 1_000_000}


def test_rows_and_facts_are_written(tmp_path):
    order = write_order(tmp_path, b"a,b\n1,x\n2,y\n3,x\n")
    facts = read_upload(tmp_path, order)["facts"]
    assert (facts["rows"], facts["columns"], facts["notes"]) == (3, ["a", "b"], [])
    assert 'kind = "binary"' in facts["schema"]
    assert pq.read_table(tmp_path / ROWS).to_pydict() == {"a": [1, 2, 3], "b": ["x", "y", "x"]}


def test_an_error_is_a_message(tmp_path):
    order = write_order(tmp_path, b"a,b\n1,x\n", max_columns=1)
    assert read_upload(tmp_path, order)["error"].startswith("the table has 2 columns; at most 1")


def test_an_unexpected_error_has_no_message(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyError("an answer")

    monkeypatch.setattr("eddi.table.formats.read", fail)
    result = read_upload(tmp_path, write_order(tmp_path, b"a\n1\n"))
    assert result["unexpected"]["type"] == "KeyError"
    assert "an answer" not in json.dumps(result)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_the_process_has_limits(tmp_path):
    order = write_order(tmp_path, b"a,b\n1,x\n2,y\n3,x\n")
    (tmp_path / ORDER).write_text(json.dumps(order))
    script = (
        "import resource, sys, runpy\n"
        "runpy.run_module('eddi.service.analyst.data.upload_worker', run_name='__main__')\n"
        "print([resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_CPU)])"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(output) == [4_000_000_000, 60]
    assert Path(tmp_path / RESULT).exists()
