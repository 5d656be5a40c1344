"""Running a suite: finished runs are neither repeated nor lost."""

import importlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from eddi.errors import EddiWarning
from eddi_benchmarks.data.datasets import DatasetError
from eddi_benchmarks.harness import runner
from eddi_benchmarks.harness.experiment import find_experiment
from eddi_benchmarks.harness.suite import Suite

# A file of its own, because a worker process must be able to import it.
MODULE = """
import os, random, signal, time, warnings
from pathlib import Path
from eddi.errors import EddiWarning
from eddi_benchmarks.harness.experiment import Experiment

def run(settings, folder):
    seed, behaviour = settings["seed"], settings["behaviour"]
    with Path(settings["log"]).open("a") as log:
        log.write(f"{seed}\\n")
    if behaviour == "fail" and seed == 1:
        raise ValueError("the numbers do not add up")
    if behaviour == "kill always" and seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    n_tries = Path(settings["log"]).read_text().split().count("1")
    if behaviour == "kill once" and seed == 1 and n_tries == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "sleep" and seed > 0:
        time.sleep(60)
    if behaviour == "warn":
        warnings.warn("this is not our file", EddiWarning)
    folder.mkdir()
    (folder / "small.txt").write_text(str(seed))
    threads = os.environ["OMP_NUM_THREADS"]
    return {"draw": random.Random(seed).random(), "threads": threads, "process": os.getpid()}

EXPERIMENT = Experiment(run, lambda settings: tuple(settings["needs"]), lambda results, folder: [])
"""
SUITE = """
title = "Example"
experiment = "example"
[over]
seed = [0, 1, 2]
[settings]
behaviour = "{behaviour}"
log = "{log}"
needs = {needs}
"""
MAIN = """
from pathlib import Path
from example_experiment import EXPERIMENT
from eddi_benchmarks.harness.runner import run_suite
from eddi_benchmarks.harness.suite import Suite
if __name__ == "__main__":
    suite = Suite.from_toml("example", Path("suite.toml").read_text())
    run_suite(suite, EXPERIMENT, Path("results"), processes=1)
"""


@pytest.fixture
def example(tmp_path, monkeypatch):
    """An experiment in a module that every process can import."""
    (tmp_path / "example_experiment.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("example_experiment").EXPERIMENT
    del sys.modules["example_experiment"]


def make_suite(tmp_path, behaviour="succeed", needs=()):
    text = SUITE.format(behaviour=behaviour, log=tmp_path / "log", needs=list(needs))
    return Suite.from_toml("example", text)


def executed_seeds(tmp_path):
    """The seed of every execution, including repeated ones."""
    log = tmp_path / "log"
    return sorted(log.read_text().split()) if log.exists() else []


def draws(suite, results_folder):
    return [result.measurements["draw"] for result in suite.results(results_folder)]


def test_measurements_do_not_depend_on_the_number_of_processes(tmp_path, example):
    suite = make_suite(tmp_path)
    for processes in (1, 2):
        summary = runner.run_suite(suite, example, tmp_path / str(processes), processes=processes)
        assert summary == runner.Summary(n_skipped=0, n_finished=3, failures={})
    assert draws(suite, tmp_path / "1") == draws(suite, tmp_path / "2")
    n_processes = [
        len({result.measurements["process"] for result in suite.results(tmp_path / folder)})
        for folder in ("1", "2")
    ]
    assert n_processes == [1, 2]


def test_a_result_is_stored_with_its_provenance_and_its_own_files(tmp_path, example):
    suite = make_suite(tmp_path)
    runner.run_suite(suite, example, tmp_path, processes=1)
    result = suite.results(tmp_path)[2]
    provenance = result.provenance
    assert (result.run, provenance["seed"], provenance["processes"]) == ("2", 2, 1)
    assert provenance["data"] == {}
    assert provenance["seconds"] >= 0
    assert provenance["device"]
    assert {"commit", "machine", "versions", "finished", "peak_memory_mb"} <= set(provenance)
    assert (result.folder / "small.txt").read_text() == "2"
    assert result.measurements["threads"] == "1"


def test_finished_runs_are_not_repeated(tmp_path, example):
    suite = make_suite(tmp_path)
    runner.run_suite(suite, example, tmp_path, processes=1)
    (suite.folder(tmp_path) / "1.json").unlink()
    calls = []
    summary = runner.run_suite(
        suite, example, tmp_path, processes=2, on_progress=lambda *call: calls.append(call)
    )
    assert summary == runner.Summary(n_skipped=2, n_finished=1, failures={})
    assert executed_seeds(tmp_path) == ["0", "1", "1", "2"]
    assert [call[:3] for call in calls] == [(1, 1, "1")]


def test_runs_are_repeated_if_the_data_has_changed(tmp_path, example, yacht):
    suite = make_suite(tmp_path, needs=["yacht"])
    runner.run_suite(suite, example, tmp_path, processes=1)
    before = suite.results(tmp_path)[0].provenance["data"]
    assert runner.run_suite(suite, example, tmp_path, processes=1).n_finished == 0
    (yacht / "data.csv").write_text("a\n1\n")
    assert runner.run_suite(suite, example, tmp_path, processes=1).n_finished == 3
    assert suite.results(tmp_path)[0].provenance["data"] != before


def test_one_error_names_all_missing_datasets_before_anything_runs(tmp_path, example, data):
    suite = make_suite(tmp_path, needs=["boston", "kin8nm"])
    with pytest.raises(DatasetError) as caught:
        runner.run_suite(suite, example, tmp_path, processes=1)
    assert str(data / "boston") in str(caught.value)
    assert str(data / "kin8nm") in str(caught.value)
    assert executed_seeds(tmp_path) == []


def test_a_failed_run_is_reported_and_the_others_continue(tmp_path, example):
    suite = make_suite(tmp_path, "fail")
    summary = runner.run_suite(suite, example, tmp_path, processes=1)
    assert (summary.n_finished, list(summary.failures)) == (2, ["1"])
    assert "ValueError: the numbers do not add up" in summary.failures["1"]
    stored = (suite.folder(tmp_path) / "1.traceback.txt").read_text()
    assert "in run" in stored
    assert [result.run for result in suite.results(tmp_path)] == ["0", "2"]


def test_a_run_whose_process_is_killed_once_is_repeated(tmp_path, example):
    suite = make_suite(tmp_path, "kill once")
    summary = runner.run_suite(suite, example, tmp_path, processes=2)
    assert summary == runner.Summary(n_skipped=0, n_finished=3, failures={})
    assert executed_seeds(tmp_path) == ["0", "1", "1", "2"]


def test_a_run_whose_process_is_always_killed_fails_after_three_attempts(tmp_path, example):
    suite = make_suite(tmp_path, "kill always")
    summary = runner.run_suite(suite, example, tmp_path, processes=2)
    assert (summary.n_finished, list(summary.failures)) == (2, ["1"])
    assert "was killed 3 times" in summary.failures["1"]
    assert executed_seeds(tmp_path) == ["0", "1", "1", "1", "2"]


def test_a_warning_of_several_runs_is_shown_once(tmp_path, example):
    suite = make_suite(tmp_path, "warn")
    with pytest.warns(EddiWarning) as caught:
        runner.run_suite(suite, example, tmp_path, processes=1)
    assert [str(warning.message) for warning in caught] == ["this is not our file"]


def test_an_interruption_ends_all_processes_and_keeps_finished_runs(tmp_path, example):
    suite = make_suite(tmp_path, "sleep")
    before = set(multiprocessing.active_children())

    def interrupt(*_):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        runner.run_suite(suite, example, tmp_path, processes=2, on_progress=interrupt)
    assert time.monotonic() - start < 30
    assert set(multiprocessing.active_children()) == before
    assert [result.run for result in suite.results(tmp_path)] == ["0"]


@pytest.mark.usefixtures("example")
def test_workers_end_with_a_killed_parent_and_finished_runs_are_kept(tmp_path):
    (tmp_path / "main.py").write_text(MAIN)
    (tmp_path / "suite.toml").write_text(
        SUITE.format(behaviour="sleep", log=tmp_path / "log", needs=[]).replace("[0, 1, 2]", "[0, 1]")
    )
    parent = subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path)
    deadline = time.monotonic() + 60
    while executed_seeds(tmp_path) != ["0", "1"]:  # the first is finished, the second sleeps
        assert parent.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    stored = json.loads((tmp_path / "results" / "example" / "0.json").read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while _is_alive(stored["figures"]["process"]):  # one process executed both runs
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not (tmp_path / "results" / "example" / "1.json").exists()


def _is_alive(process):
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        # In some containers nobody reaps a finished process, and it stays listed as a zombie.
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_self_test_runs_and_reports_its_errors(tmp_path):
    suite = Suite.load("self-test", quick=True)
    suite = replace(suite, runs=suite.runs[::2])  # one of each encoder
    experiment = find_experiment(suite.experiment)
    summary = runner.run_suite(suite, experiment, tmp_path, processes=1)
    assert summary == runner.Summary(n_skipped=0, n_finished=2, failures={})
    (section,) = experiment.report_sections(suite.results(tmp_path), tmp_path)
    (table,) = section.tables
    assert len(table.rows) == 4
    assert all(float(row[4]) < float(row[3]) for row in table.rows)  # answers help
    assert section.figures[0].path.read_bytes().startswith(b"\x89PNG")
