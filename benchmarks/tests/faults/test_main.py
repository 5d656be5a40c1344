"""The command prints the counts, writes them, and fails if a fault was not handled."""

import json

from eddi_benchmarks.faults import __main__ as module
from eddi_benchmarks.faults.limited_process import Ending
from eddi_benchmarks.faults.outcomes import Outcomes


def make_outcomes(result):
    outcomes = Outcomes()
    outcomes.add("bytes", 0, "flip", Ending(result, 0, 5.0))
    return outcomes


def test_counts_are_printed_and_written(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(module.RUNS, "tables", (lambda _n, _seed: make_outcomes({"outcome": "used"}), 1))
    assert module.main(["tables", "--results", str(tmp_path / "r.json")]) == 0
    assert "| bytes | 1 | 0 | 1 | 0 |" in capsys.readouterr().out
    assert json.loads((tmp_path / "r.json").read_text())["counts"] == {"bytes": {"used": 1}}


def test_a_fault_that_was_not_handled_is_printed(monkeypatch, capsys):
    monkeypatch.setitem(module.RUNS, "tables", (lambda _n, _seed: make_outcomes(None), 1))
    assert module.main(["tables"]) == 1
    assert '"outcome": "process ended"' in capsys.readouterr().out
