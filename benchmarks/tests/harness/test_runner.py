"""Running a suite: nothing finished is done twice, and nothing finished is lost."""

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
from eddi_benchmarks.harness.experiment import experiment
from eddi_benchmarks.harness.suite import Suite

# In a module of its own, for a process that is started anew must be able to import it.
MODULE = """
import os, random, signal, time, warnings
from pathlib import Path
from eddi_benchmarks.harness.experiment import Experiment
from eddi.errors import EddiWarning

def play(settings, folder):
    seed, plan = settings["seed"], settings["plan"]
    with Path(settings["log"]).open("a") as log:
        log.write(f"{seed}\\n")
    if plan == "fail" and seed == 1:
        raise ValueError("the numbers do not add up")
    if plan == "kill always" and seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if plan == "kill once" and seed == 1 and Path(settings["log"]).read_text().split().count("1") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    if plan == "sleep" and seed > 0:
        time.sleep(60)
    if plan == "warn":
        warnings.warn("this is not our file", EddiWarning)
    folder.mkdir()
    (folder / "small.txt").write_text(str(seed))
    threads = os.environ["OMP_NUM_THREADS"]
    return {"draw": random.Random(seed).random(), "threads": threads, "process": os.getpid()}

EXPERIMENT = Experiment(play, lambda settings: tuple(settings["needs"]), lambda outcomes, folder: [])
"""
SUITE = """
title = "Made up"
experiment = "made-up"
[over]
seed = [0, 1, 2]
[settings]
plan = "{plan}"
log = "{log}"
needs = {needs}
"""


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """An experiment in a module that every process can import."""
    (tmp_path / "made_up_experiment.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("made_up_experiment").EXPERIMENT
    del sys.modules["made_up_experiment"]


def suite_of(tmp_path, plan="all well", needs=()):
    text = SUITE.format(plan=plan, log=tmp_path / "log", needs=list(needs))
    return Suite.from_toml("made-up", text)


def played(tmp_path):
    """The seeds that were played, each as often as it was."""
    log = tmp_path / "log"
    return sorted(log.read_text().split()) if log.exists() else []


def draws(suite, tmp_path):
    return [outcome.figures["draw"] for outcome in suite.outcomes(tmp_path)]


def test_the_numbers_do_not_depend_on_how_many_processes_there_are(tmp_path, made_up):
    suite = suite_of(tmp_path)
    for processes in (1, 2):
        ended = runner.run(suite, made_up, tmp_path / str(processes), processes=processes)
        assert ended == runner.Ended(before=0, now=3, failures={})
    assert draws(suite, tmp_path / "1") == draws(suite, tmp_path / "2")
    n_processes = [
        len({outcome.figures["process"] for outcome in suite.outcomes(tmp_path / folder)})
        for folder in ("1", "2")
    ]
    assert n_processes == [1, 2]


def test_a_run_is_kept_with_its_circumstances_and_its_own_files(tmp_path, made_up):
    suite = suite_of(tmp_path)
    runner.run(suite, made_up, tmp_path, processes=1)
    outcome = suite.outcomes(tmp_path)[2]
    facts = outcome.circumstances
    assert (outcome.run, facts["seed"], facts["processes"], facts["data"]) == ("2", 2, 1, {})
    assert facts["seconds"] >= 0
    assert facts["device"]
    assert {"commit", "machine", "versions", "finished", "peak_memory_mb"} <= set(facts)
    assert (outcome.folder / "small.txt").read_text() == "2"
    assert outcome.figures["threads"] == "1"


def test_what_is_finished_is_not_run_again(tmp_path, made_up):
    suite = suite_of(tmp_path)
    runner.run(suite, made_up, tmp_path, processes=1)
    (suite.folder(tmp_path) / "1.json").unlink()
    calls = []
    ended = runner.run(
        suite, made_up, tmp_path, processes=2, on_progress=lambda *call: calls.append(call)
    )
    assert ended == runner.Ended(before=2, now=1, failures={})
    assert played(tmp_path) == ["0", "1", "1", "2"]
    assert [call[:3] for call in calls] == [(1, 1, "1")]


def test_other_data_under_the_same_name_is_run_anew(tmp_path, made_up, yacht):
    suite = suite_of(tmp_path, needs=["yacht"])
    runner.run(suite, made_up, tmp_path, processes=1)
    before = suite.outcomes(tmp_path)[0].circumstances["data"]
    assert runner.run(suite, made_up, tmp_path, processes=1).now == 0
    (yacht / "data.csv").write_text("a\n1\n")
    assert runner.run(suite, made_up, tmp_path, processes=1).now == 3
    assert suite.outcomes(tmp_path)[0].circumstances["data"] != before


def test_all_datasets_that_are_missing_are_told_before_anything_runs(tmp_path, made_up, data):
    suite = suite_of(tmp_path, needs=["boston", "kin8nm"])
    with pytest.raises(DatasetError) as caught:
        runner.run(suite, made_up, tmp_path, processes=1)
    assert str(data / "boston") in str(caught.value)
    assert str(data / "kin8nm") in str(caught.value)
    assert played(tmp_path) == []


def test_a_run_that_fails_is_told_with_its_error_and_the_others_go_on(tmp_path, made_up):
    suite = suite_of(tmp_path, "fail")
    ended = runner.run(suite, made_up, tmp_path, processes=1)
    assert (ended.now, list(ended.failures)) == (2, ["1"])
    assert "ValueError: the numbers do not add up" in ended.failures["1"]
    kept = (suite.folder(tmp_path) / "1.traceback.txt").read_text()
    assert "in play" in kept
    assert [outcome.run for outcome in suite.outcomes(tmp_path)] == ["0", "2"]


def test_a_run_whose_process_is_killed_once_is_played_again(tmp_path, made_up):
    suite = suite_of(tmp_path, "kill once")
    ended = runner.run(suite, made_up, tmp_path, processes=2)
    assert ended == runner.Ended(before=0, now=3, failures={})
    assert played(tmp_path) == ["0", "1", "1", "2"]


def test_a_run_whose_process_is_always_killed_is_given_up_and_told(tmp_path, made_up):
    suite = suite_of(tmp_path, "kill always")
    ended = runner.run(suite, made_up, tmp_path, processes=2)
    assert (ended.now, list(ended.failures)) == (2, ["1"])
    assert "was killed, 3 times" in ended.failures["1"]
    assert played(tmp_path) == ["0", "1", "1", "1", "2"]


def test_what_runs_warn_of_is_told_once(tmp_path, made_up):
    suite = suite_of(tmp_path, "warn")
    with pytest.warns(EddiWarning) as caught:
        runner.run(suite, made_up, tmp_path, processes=1)
    assert [str(warning.message) for warning in caught] == ["this is not our file"]


def test_an_interruption_ends_all_processes_and_keeps_what_is_finished(tmp_path, made_up):
    suite = suite_of(tmp_path, "sleep")
    others = set(multiprocessing.active_children())

    def interrupt(*_):
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        runner.run(suite, made_up, tmp_path, processes=2, on_progress=interrupt)
    assert time.monotonic() - began < 30
    assert set(multiprocessing.active_children()) == others
    assert [outcome.run for outcome in suite.outcomes(tmp_path)] == ["0"]


CHILDREN = """
import sys
from pathlib import Path
from made_up_experiment import EXPERIMENT
from eddi_benchmarks.harness import runner
from eddi_benchmarks.harness.suite import Suite
if __name__ == "__main__":
    suite = Suite.from_toml("made-up", Path("suite.toml").read_text())
    runner.run(suite, EXPERIMENT, Path("results"), processes=1)
"""


@pytest.mark.usefixtures("made_up")
def test_processes_do_not_outlive_a_killed_parent_and_what_is_finished_stays(tmp_path):
    (tmp_path / "main.py").write_text(CHILDREN)
    (tmp_path / "suite.toml").write_text(
        SUITE.format(plan="sleep", log=tmp_path / "log", needs=[]).replace("[0, 1, 2]", "[0, 1]")
    )
    parent = subprocess.Popen([sys.executable, "main.py"], cwd=tmp_path)
    deadline = time.monotonic() + 60
    while played(tmp_path) != ["0", "1"]:  # the first is finished, the second asleep
        assert parent.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    kept = json.loads((tmp_path / "results" / "made-up" / "0.json").read_text())
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while _alive(kept["figures"]["process"]):  # the same process played both
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not (tmp_path / "results" / "made-up" / "1.json").exists()


def _alive(process):
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        # One that ended stays listed as a zombie where nobody asks after it, as in some containers.
        return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_rehearsal_runs_and_tells_its_tables(tmp_path):
    suite = Suite.load("self-test", quick=True)
    suite = replace(suite, runs=suite.runs[::2])  # one of each encoder
    ours = experiment(suite.experiment)
    assert runner.run(suite, ours, tmp_path, processes=1) == runner.Ended(0, 2, {})
    (section,) = ours.sections(suite.outcomes(tmp_path), tmp_path)
    (grid,) = section.grids
    assert len(grid.rows) == 4
    assert all(float(row[4]) < float(row[3]) for row in grid.rows)  # answers help
    assert section.pictures[0].path.read_bytes().startswith(b"\x89PNG")
