"""`eddi bench`: what it prints, what it writes, and how it ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import bench
from eddi.cli.app import app
from eddi_benchmarks.harness import runner
from eddi_benchmarks.harness.experiment import Outcome
from eddi_benchmarks.harness.suite import Suite, names, write_outcome
from eddi_benchmarks.report.content import Grid
from eddi_benchmarks.report.suite_report import Chapter


def eddi(*words: object) -> Result:
    return CliRunner().invoke(app, ["bench", *map(str, words)])


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A results folder in which the rehearsal's quick look is finished."""
    suite = Suite.load("self-test", quick=True)
    facts = {"finished": "2026-01-02T10:00:00+00:00", "seconds": 1.0, "processes": 1, "data": {}}
    figures = {"rmse": {"EDDI": [3.0, 1.0], "RAND": [3.0, 2.0]}}
    for run in suite.runs:
        write_outcome(suite.folder(tmp_path), Outcome(run.name, run.settings, figures, facts))
    return tmp_path


def test_list_names_every_suite_and_what_is_done(finished: Path) -> None:
    result = eddi("list", "--results", finished)
    assert result.exit_code == 0
    assert all(name in result.stdout for name in names())
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("self-test")]
    assert line.split()[1:3] == ["0/4", "4/4"]


def test_list_speaks_json(finished: Path) -> None:
    facts = json.loads(eddi("list", "--results", finished, "--json").stdout)
    (row,) = [row for row in facts if row["suite"] == "self-test"]
    assert (row["done"], row["runs"], row["quick_done"], row["quick_runs"]) == (0, 4, 4, 4)


def test_run_plays_what_is_missing_and_says_so(finished: Path) -> None:
    (finished / "self-test-quick" / "pnp-1.json").unlink()
    result = eddi("run", "self-test", "--quick", "--results", finished, "--processes", 1)
    assert result.exit_code == 0, result.output
    assert "1 run in" in result.stderr
    assert "3 had been finished before" in result.stderr
    assert (finished / "self-test-quick" / "pnp-1.json").exists()


def test_run_ends_with_1_and_the_errors_where_a_run_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = runner.Ended(before=0, now=3, failures={"zi-0": "ValueError: no good"})
    monkeypatch.setattr(runner, "run", lambda *_, **__: ended)
    result = eddi("run", "self-test", "--results", tmp_path)
    assert result.exit_code == 1
    assert "failed: zi-0: ValueError: no good" in result.stderr
    assert "3 runs in 0 s, 1 failed" in result.stderr


def test_run_looks_for_datasets_where_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDDI_DATA", "elsewhere")
    seen = []

    def run(*_: object, processes: int, **__: object) -> runner.Ended:
        seen.append((os.environ["EDDI_DATA"], processes))
        return runner.Ended(0, 0, {})

    monkeypatch.setattr(runner, "run", run)
    assert eddi("run", "self-test", "--data", tmp_path / "sets").exit_code == 0
    assert seen == [(str(tmp_path / "sets"), os.cpu_count())]


def test_an_unknown_suite_is_told_in_one_line_with_the_nearest_name() -> None:
    for verb in ("run", "table"):
        result = eddi(verb, "self-tset")
        assert result.exit_code == 1
        assert "Did you mean 'self-test'?" in result.stderr


def test_table_prints_every_grid_on_standard_output(finished: Path) -> None:
    result = eddi("table", "self-test", "--quick", "--results", finished)
    assert result.exit_code == 0
    assert "RMSE of progression" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["PNP", "EDDI", "2", "3.0", "1.0", "-2.0"] in rows


def test_a_wide_table_is_not_folded_where_it_goes_to_a_file(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = tuple(f"{place}.123456789" for place in range(20))
    grid = Grid("Wide", tuple(f"column {place}" for place in range(20)), (cells,), "A note. " * 40)
    monkeypatch.setattr(Chapter, "grids", [grid])
    lines = eddi("table", "self-test", "--quick", "--results", finished).stdout.splitlines()
    assert cells in [tuple(line.split()) for line in lines]
    assert lines[-1].strip() == grid.note.strip()


def test_table_speaks_json(finished: Path) -> None:
    result = eddi("table", "self-test", "--quick", "--results", finished, "--json")
    facts = json.loads(result.stdout)
    assert facts["runs"] == {"finished": 4, "all": 4}
    assert facts["grids"][0]["columns"][0] == "encoder"


def test_table_of_a_suite_that_was_not_run_says_how_to(tmp_path: Path) -> None:
    result = eddi("table", "self-test", "--quick", "--results", tmp_path)
    assert result.exit_code == 1
    assert "`eddi bench run self-test --quick` runs it" in result.stderr


def test_report_is_written_beside_the_results_unless_told_otherwise(finished: Path) -> None:
    result = eddi("report", "--results", finished)
    assert result.exit_code == 0
    assert (finished / "report" / "report.html").is_file()
    assert eddi("report", "--results", finished, "-o", finished / "docs").exit_code == 0
    assert (finished / "docs" / "self-test.md").is_file()


def test_progress_says_how_many_are_done_and_how_long_it_may_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 120.0, 121.0, 135.0])
    monkeypatch.setattr(bench.time, "monotonic", lambda: next(clock))
    with bench._progress("paper-uci") as on_progress:
        for done in (1, 2, 3):
            on_progress(done, 4, f"boston-{done}", 19.0)
    assert capsys.readouterr().err.splitlines() == [
        "1/4 runs: boston-1 19 s, about 60 s left",
        "3/4 runs: boston-3 19 s, about 12 s left",
    ]


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["run", "--nonsense"], ["list"]])
def test_help_and_list_load_no_torch(words: list[str], tmp_path: Path) -> None:
    code = "import sys\nfrom eddi.cli import main\ntry: main()\nfinally: print('torch' in sys.modules)"
    command = [sys.executable, "-c", code, "bench", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "False", done.stderr
