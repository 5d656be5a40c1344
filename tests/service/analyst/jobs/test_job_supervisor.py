"""Jobs run in their own processes; a job that is killed at any moment ends as if nothing had happened."""

import json
import os
import signal
import sys
import time

import numpy as np
import pytest

from eddi import PartialVAE
from eddi.model.files.archive import load
from eddi.service.analyst.jobs.folder_lock import acquire_lock
from eddi.service.analyst.jobs.job_queue import JobKind, JobState, read_json
from eddi.service.analyst.jobs.job_supervisor import MAX_FUTILE_STARTS, JobSupervisor
from eddi.service.analyst.jobs.job_worker import choose_held_out
from eddi.service.analyst.workshop import Workshop

STEPS = 1500  # of the paper's recipe: a few seconds, in which a checkpoint is written
MANY_STEPS = 100_000  # the job is still running when the test ends
SECONDS_TO_WORK = 120  # that a job may take on a busy machine


def process_of(shop, key):
    return shop.supervisor._running[key].process


def submit(shop, table, steps=STEPS):
    return shop.fit(table.key, recipe="paper", steps=steps, held_out=0.25, seed=5).key


@pytest.mark.slow
def test_a_killed_job_continues_and_ends_with_the_same_bits(workshop, table, wait_until):
    key = submit(workshop, table)
    folder = workshop.jobs.job_folder(key)
    wait_until(workshop, lambda: (folder / "checkpoint").exists())
    process_of(workshop, key).send_signal(signal.SIGKILL)
    step = read_json(folder / "progress.json")["history"][-1]["step"]
    assert 0 < step < STEPS
    wait_until(workshop, lambda: len(workshop.jobs.get(key).start_steps) == 2)
    assert workshop.jobs.get(key).start_steps[1] >= step
    wait_until(workshop, lambda: workshop.jobs.get(key).state.is_over)
    job = workshop.jobs.get(key)
    assert job.state is JobState.FINISHED
    steps = [entry["step"] for entry in workshop.jobs.progress(key)["history"]]
    assert steps == list(range(100, STEPS + 1, 100))

    held_out = json.loads(workshop.blobs.path(job.result["held_out"]).read_text())
    assert held_out == choose_held_out(120, 0.25, seed=5).tolist()
    rows = workshop.tables.rows(table.digest).take(np.setdiff1d(np.arange(120), held_out))
    uninterrupted = PartialVAE(
        table.schema, "stage", recipe="paper", max_steps=STEPS, random_state=5
    ).fit(rows)
    weights = load(workshop.blobs.path(job.result["model"])).network.state_dict()
    for name, value in uninterrupted.network_.state_dict().items():
        assert bool((value == weights[name]).all()), name
    assert workshop.get_model(job.result["model"]).held_out == tuple(held_out)
    [evaluation] = [job for job in workshop.jobs.all() if job.kind is JobKind.EVALUATE]
    assert evaluation.spec["model"] == job.result["model"]
    assert not (folder / "checkpoint").exists()


@pytest.mark.slow
def test_a_cancelled_job_stops_at_once_and_continues_when_resumed(workshop, table, wait_until):
    key = submit(workshop, table, steps=MANY_STEPS)
    wait_until(workshop, lambda: (workshop.jobs.job_folder(key) / "checkpoint").exists())
    process = process_of(workshop, key)
    workshop.cancel(key)
    workshop.supervisor.check_jobs()
    assert process.poll() == -signal.SIGKILL
    step = workshop.jobs.progress(key)["history"][-1]["step"]
    workshop.supervisor.check_jobs()
    assert workshop.jobs.get(key).state is JobState.CANCELLED
    workshop.resume(key)
    workshop.supervisor.check_jobs()
    assert workshop.jobs.get(key).start_steps == (step,)
    assert process_of(workshop, key).poll() is None


@pytest.mark.slow
def test_a_process_ends_with_its_server_and_ignores_modules_in_the_working_folder(
    workshop, table, wait_until, tmp_path, monkeypatch
):
    """A killed server cannot stop its processes; they notice that their standard input is closed."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the working folder')")
    monkeypatch.chdir(tmp_path)
    key = submit(workshop, table, steps=MANY_STEPS)
    wait_until(workshop, lambda: workshop.jobs.progress(key))
    process = process_of(workshop, key)
    assert len(workshop.jobs.get(key).start_steps) == 1
    assert acquire_lock(workshop.jobs.job_folder(key)) is None
    process.stdin.close()  # as the operating system does when the server is killed
    assert process.wait(SECONDS_TO_WORK) == 1
    lock = acquire_lock(workshop.jobs.job_folder(key))
    assert lock is not None
    os.close(lock)


def test_one_of_two_servers_runs_a_job_and_the_other_takes_over_if_it_dies(workshop, table, tmp_path):
    other = Workshop(workshop.jobs.store, tmp_path / "workshop")
    key = submit(workshop, table, steps=MANY_STEPS)
    for shop in (workshop, other, workshop, other):
        shop.supervisor.check_jobs()
    assert list(workshop.supervisor._running) == [key]
    assert not other.supervisor._running
    workshop.supervisor._running[key].process.kill()
    workshop.supervisor._running.pop(key).process.communicate()
    other.supervisor.check_jobs()
    assert list(other.supervisor._running) == [key]
    workshop.supervisor.check_jobs()
    assert not workshop.supervisor._running
    workshop.cancel(key)  # on the server that does not run it
    process = process_of(other, key)
    other.supervisor.check_jobs()
    assert process.poll() is not None


def test_a_server_with_another_folder_does_not_run_a_job(workshop, table, tmp_path):
    elsewhere = Workshop(workshop.jobs.store, tmp_path / "elsewhere")
    key = submit(workshop, table)
    elsewhere.supervisor.check_jobs()
    assert workshop.jobs.get(key).state is JobState.WAITING
    assert elsewhere.jobs.folder_id() != workshop.jobs.folder_id()
    restarted = Workshop(workshop.jobs.store, tmp_path / "workshop")
    assert restarted.jobs.folder_id() == workshop.jobs.folder_id()


def test_a_job_without_its_table_fails(workshop, table):
    job = workshop.jobs.get(submit(workshop, table))
    workshop.cancel(job.key)
    key = workshop.jobs.submit(JobKind.FIT, {**job.spec, "table_seal": "0" * 64}).key
    workshop.supervisor.check_jobs()
    reason = "the workshop has no file with the SHA-256 '00"
    assert workshop.jobs.get(key).failure.startswith(reason)


def test_a_job_whose_process_dies_repeatedly_fails(workshop, table, wait_until, monkeypatch):
    key = submit(workshop, table)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    wait_until(workshop, lambda: workshop.jobs.get(key).state.is_over)
    job = workshop.jobs.get(key)
    assert (job.state, len(job.start_steps)) == (JobState.FAILED, MAX_FUTILE_STARTS)
    assert "It may have run out of memory" in job.failure


def test_one_job_runs_at_a_time(workshop, table):
    keys = [submit(workshop, table, steps=MANY_STEPS) for _ in range(2)]
    for _ in range(3):
        workshop.supervisor.check_jobs()
    assert len(workshop.supervisor._running) == 1
    states = {workshop.jobs.get(key).state for key in keys}
    assert states == {JobState.RUNNING, JobState.WAITING}


def test_a_supervisor_that_stops_leaves_its_jobs_to_the_next_one(workshop, table):
    key = submit(workshop, table, steps=MANY_STEPS)
    supervisor = JobSupervisor(workshop.jobs, workshop.blobs, workshop.learning)
    supervisor.start()
    end = time.monotonic() + SECONDS_TO_WORK
    while key not in supervisor._running and time.monotonic() < end:
        time.sleep(0.01)
    process = supervisor._running[key].process
    supervisor.stop()
    assert process.poll() is not None
    assert workshop.jobs.get(key).state is JobState.RUNNING
