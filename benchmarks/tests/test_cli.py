"""`eddi bench`: its output, its files and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli.app import app
from eddi_benchmarks import cli
from eddi_benchmarks.harness import runner
from eddi_benchmarks.harness.run_result import RunResult, write_result
from eddi_benchmarks.harness.suite import Suite, suite_names
from eddi_benchmarks.report.content import ReportTable
from eddi_benchmarks.report.suite_report import SuiteReport


def eddi_bench(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A results folder in which the quick size of the self-test is finished."""
    suite = Suite.load("self-test", quick=True)
    provenance = {"finished": "2026-01-02T10:00:00+00:00", "seconds": 1.0, "processes": 1, "data": {}}
    measurements = {"rmse": {"EDDI": [3.0, 1.0], "RAND": [3.0, 2.0]}}
    for run in suite.runs:
        result = RunResult(run.name, run.settings, measurements, provenance)
        write_result(suite.folder(tmp_path), result)
    return tmp_path


def test_list_shows_every_suite_and_its_finished_runs(finished: Path) -> None:
    result = eddi_bench("list", "--results", finished)
    assert result.exit_code == 0
    assert all(name in result.stdout for name in suite_names())
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("self-test")]
    assert line.split()[1:3] == ["0/4", "4/4"]


def test_list_prints_json(finished: Path) -> None:
    document = json.loads(eddi_bench("list", "--results", finished, "--json").stdout)
    (row,) = [row for row in document if row["suite"] == "self-test"]
    assert (row["done"], row["runs"], row["quick_done"], row["quick_runs"]) == (0, 4, 4, 4)


@pytest.mark.slow
def test_run_executes_only_missing_runs_and_says_so(finished: Path) -> None:
    (finished / "self-test-quick" / "pnp-1.json").unlink()
    result = eddi_bench("run", "self-test", "--quick", "--results", finished, "--processes", 1)
    assert result.exit_code == 0, result.output
    assert "1 run finished in" in result.stderr
    assert "Skipped 3 finished before" in result.stderr
    assert (finished / "self-test-quick" / "pnp-1.json").exists()


def test_run_exits_with_1_and_prints_the_errors_if_a_run_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = runner.Summary(n_skipped=0, n_finished=3, failures={"zi-0": "ValueError: wrong"})
    monkeypatch.setattr(runner, "run_suite", lambda *_, **__: summary)
    result = eddi_bench("run", "self-test", "--results", tmp_path)
    assert result.exit_code == 1
    assert "failed: zi-0: ValueError: wrong" in result.stderr
    assert "3 runs finished in 0 s, 1 failed" in result.stderr


def test_run_looks_for_datasets_in_the_given_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDDI_DATA", "elsewhere")
    calls = []

    def run_suite(*_: object, processes: int, **__: object) -> runner.Summary:
        calls.append((os.environ["EDDI_DATA"], processes))
        return runner.Summary(0, 0, {})

    monkeypatch.setattr(runner, "run_suite", run_suite)
    assert eddi_bench("run", "self-test", "--data", tmp_path / "sets").exit_code == 0
    assert calls == [(str(tmp_path / "sets"), os.cpu_count())]


def test_run_executes_only_the_selected_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    selected = []

    def run_suite(suite: Suite, *_: object, **__: object) -> runner.Summary:
        selected.extend(run.name for run in suite.runs)
        return runner.Summary(0, 0, {})

    monkeypatch.setattr(runner, "run_suite", run_suite)
    options = ("--only", "set_encoder=pnp", "--only", "seed=1")
    assert eddi_bench("run", "self-test", "--results", tmp_path, *options).exit_code == 0
    assert selected == ["pnp-1"]


@pytest.mark.parametrize("command", ["run", "table"])
def test_the_error_of_an_unknown_suite_suggests_the_closest_name(command: str) -> None:
    result = eddi_bench(command, "self-tset")
    assert result.exit_code == 1
    assert "Did you mean 'self-test'?" in result.stderr


def test_table_prints_every_table_on_standard_output(finished: Path) -> None:
    result = eddi_bench("table", "self-test", "--quick", "--results", finished)
    assert result.exit_code == 0
    assert "RMSE of progression" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["PNP", "EDDI", "2", "3.0", "1.0", "-2.0"] in rows


def test_a_wide_table_is_not_wrapped_in_a_file(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = tuple(f"{i}.123456789" for i in range(20))
    table = ReportTable("Wide", tuple(f"column {i}" for i in range(20)), (cells,), "A note. " * 40)
    monkeypatch.setattr(SuiteReport, "tables", [table])
    lines = eddi_bench("table", "self-test", "--quick", "--results", finished).stdout.splitlines()
    assert cells in [tuple(line.split()) for line in lines]
    assert lines[-1].strip() == table.note.strip()


def test_table_prints_json(finished: Path) -> None:
    result = eddi_bench("table", "self-test", "--quick", "--results", finished, "--json")
    document = json.loads(result.stdout)
    assert document["runs"] == {"finished": 4, "all": 4}
    assert document["grids"][0]["columns"][0] == "encoder"


def test_table_of_a_suite_without_results_names_the_command_to_run(tmp_path: Path) -> None:
    result = eddi_bench("table", "self-test", "--quick", "--results", tmp_path)
    assert result.exit_code == 1
    assert "Run `eddi bench run self-test --quick` first" in result.stderr


def test_report_is_written_to_the_results_folder_by_default(finished: Path) -> None:
    result = eddi_bench("report", "--results", finished)
    assert result.exit_code == 0
    assert (finished / "report" / "report.html").is_file()
    assert eddi_bench("report", "--results", finished, "-o", finished / "docs").exit_code == 0
    assert (finished / "docs" / "self-test.md").is_file()


def test_progress_shows_finished_runs_and_the_remaining_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 120.0, 121.0, 135.0])
    monkeypatch.setattr(cli.time, "monotonic", lambda: next(clock))
    with cli._progress_display("paper-uci") as on_progress:
        for n_finished in (1, 2, 3):
            on_progress(n_finished, 4, f"boston-{n_finished}", 19.0)
    assert capsys.readouterr().err.splitlines() == [
        "1/4 runs: boston-1 19 s, about 60 s remaining",
        "3/4 runs: boston-3 19 s, about 12 s remaining",
    ]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["run", "--nonsense"], ["list"]], ids=" ".join
)
def test_help_and_list_do_not_import_torch(arguments: list[str], tmp_path: Path) -> None:
    code = "import sys\nfrom eddi.cli import main\ntry: main()\nfinally: print('torch' in sys.modules)"
    command = [sys.executable, "-c", code, "bench", *arguments]
    completed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert completed.stdout.splitlines()[-1] == "False", completed.stderr
