"""Jobs run in processes of their own; killed at any moment, they end as if nothing had happened."""

import json
import os
import signal
import sys
import time

import numpy as np
import pytest

from eddi import PartialVAE
from eddi.errors import TableError
from eddi.model.files.archive import load
from eddi.service.analyst import evaluation, job_worker
from eddi.service.analyst.job_supervisor import VAIN_STARTS, Supervisor, _locked
from eddi.service.analyst.jobs import JobKind, State, read_json
from eddi.service.analyst.workshop import ModelNotFoundError, Workshop

from .conftest import SECONDS_TO_WORK, until

STEPS = 1500  # of the paper's recipe: some seconds, in which a checkpoint is written


def process_of(shop, key):
    return shop.supervisor._running[key].process


def ask(shop, kept, steps=STEPS, **given):
    return shop.fit(kept.key, recipe="paper", steps=steps, **{"held_out": 0.25, "seed": 5, **given}).key


def weights(path):
    return load(path).network_.state_dict()


def test_a_killed_job_goes_on_and_ends_with_the_same_bits(workshop, kept, done):
    key = ask(workshop, kept)
    place = workshop.jobs.place(key)
    until(workshop, lambda: (place / "checkpoint").exists())
    process_of(workshop, key).send_signal(signal.SIGKILL)
    step = read_json(place / "progress.json")["history"][-1]["step"]
    assert 0 < step < STEPS
    until(workshop, lambda: len(workshop.jobs.get(key).started_at) == 2)
    assert workshop.jobs.get(key).started_at[1] >= step
    job = done(workshop, key)
    assert job.state is State.FINISHED
    steps = [one["step"] for one in workshop.jobs.progress(key)["history"]]
    assert steps == list(range(100, STEPS + 1, 100))

    held_out = json.loads(workshop.shelf.path(job.result["held_out"]).read_text())
    assert held_out == job_worker.set_aside(120, 0.25, seed=5).tolist()
    rows = workshop.tables.rows(kept.seal).take(np.setdiff1d(np.arange(120), held_out))
    alone = PartialVAE(kept.schema, "stage", recipe="paper", max_steps=STEPS, random_state=5).fit(rows)
    again = weights(workshop.shelf.path(job.result["model"]))
    assert all(bool((value == again[name]).all()) for name, value in alone.network_.state_dict().items())
    assert workshop.made(job.result["model"]).held_out == tuple(held_out)
    [judging] = [one for one in workshop.jobs.all() if one.kind is JobKind.EVALUATE]
    assert judging.order["model"] == job.result["model"]
    assert not (place / "checkpoint").exists()


def test_a_cancelled_job_ends_at_once_and_goes_on_when_resumed(workshop, kept):
    key = ask(workshop, kept, steps=100_000)
    until(workshop, lambda: (workshop.jobs.place(key) / "checkpoint").exists())
    process = process_of(workshop, key)
    workshop.cancel(key)
    workshop.supervisor.look()
    assert process.poll() == -signal.SIGKILL
    step = workshop.jobs.progress(key)["history"][-1]["step"]
    workshop.supervisor.look()
    assert workshop.jobs.get(key).state is State.CANCELLED
    workshop.resume(key)
    workshop.supervisor.look()
    assert workshop.jobs.get(key).started_at == (step,)
    assert process_of(workshop, key).poll() is None


def test_a_process_ends_with_its_server_and_knows_no_strangers(workshop, kept, tmp_path, monkeypatch):
    """A server that is killed cannot tell its processes; they notice that it is gone."""
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger was imported')")
    monkeypatch.chdir(tmp_path)  # modules that lie where the server was started are not ours
    key = ask(workshop, kept, steps=100_000)
    until(workshop, lambda: workshop.jobs.progress(key))
    process = process_of(workshop, key)
    assert len(workshop.jobs.get(key).started_at) == 1
    assert _locked(workshop.jobs.place(key)) is None
    process.stdin.close()  # as the system does when a process is killed
    assert process.wait(SECONDS_TO_WORK) == 1
    lock = _locked(workshop.jobs.place(key))
    assert lock is not None
    os.close(lock)


def test_of_two_servers_one_runs_a_job_and_the_other_takes_it_up_when_it_dies(workshop, kept, tmp_path):
    other = Workshop(workshop.jobs.store, tmp_path / "workshop")
    key = ask(workshop, kept, steps=100_000)
    for shop in (workshop, other, workshop, other):
        shop.supervisor.look()
    assert list(workshop.supervisor._running) == [key]
    assert not other.supervisor._running
    workshop.supervisor._running[key].process.kill()
    workshop.supervisor._running.pop(key).process.communicate()
    other.supervisor.look()
    assert list(other.supervisor._running) == [key]
    workshop.supervisor.look()
    assert not workshop.supervisor._running
    workshop.cancel(key)  # here, where it does not run
    process = process_of(other, key)
    other.supervisor.look()
    assert process.poll() is not None


def test_a_server_with_another_folder_leaves_a_job_alone(workshop, kept, tmp_path):
    elsewhere = Workshop(workshop.jobs.store, tmp_path / "elsewhere")
    key = ask(workshop, kept)
    elsewhere.supervisor.look()
    assert workshop.jobs.get(key).state is State.WAITING
    assert elsewhere.jobs.identity() != workshop.jobs.identity()
    assert (
        Workshop(workshop.jobs.store, tmp_path / "workshop").jobs.identity() == workshop.jobs.identity()
    )


def test_what_cannot_be_done_fails_in_words(workshop, kept, tmp_path):
    job = workshop.jobs.get(ask(workshop, kept))
    order = workshop.supervisor._order(job)
    with pytest.raises(TableError, match="Aber"):
        job_worker.fit(tmp_path, {**order, "schema": order["schema"].replace("Aber", "Xber")})
    with pytest.raises(TableError, match="0 rows are left to learn from; at least 10"):
        job_worker.fit(tmp_path, {**order, "held_out": 1.0})
    workshop.cancel(job.key)
    lost = workshop.jobs.ask(JobKind.FIT, {**job.order, "table_seal": "0" * 64}).key
    workshop.supervisor.look()
    assert workshop.jobs.get(lost).words.startswith("there is nothing under the seal '00")


def test_a_job_whose_process_dies_again_and_again_is_given_up(workshop, kept, monkeypatch):
    key = ask(workshop, kept)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    until(workshop, lambda: workshop.jobs.get(key).state.is_over)
    job = workshop.jobs.get(key)
    assert (job.state, len(job.started_at)) == (State.FAILED, VAIN_STARTS)
    assert "It may have run out of memory" in job.words


def test_one_job_runs_at_a_time(workshop, kept):
    first, second = ask(workshop, kept, steps=100_000), ask(workshop, kept, steps=100_000)
    for _ in range(3):
        workshop.supervisor.look()
    assert len(workshop.supervisor._running) == 1
    states = {workshop.jobs.get(key).state for key in (first, second)}
    assert states == {State.RUNNING, State.WAITING}


def test_a_supervisor_that_stops_leaves_jobs_to_be_gone_on_with(workshop, kept):
    key = ask(workshop, kept, steps=100_000)
    supervisor = Supervisor(workshop.jobs, workshop.shelf)
    supervisor.start()
    end = time.monotonic() + SECONDS_TO_WORK
    while key not in supervisor._running and time.monotonic() < end:
        time.sleep(0.01)
    process = supervisor._running[key].process
    supervisor.stop()
    assert process.poll() is not None
    assert workshop.jobs.get(key).state is State.RUNNING


def test_a_model_is_judged_by_the_rows_held_out(workshop, kept, monkeypatch, tmp_path):
    job = workshop.jobs.get(ask(workshop, kept, steps=100))
    made = job_worker.fit(tmp_path, workshop.supervisor._order(job))
    workshop.supervisor._settle(workshop.jobs.start(job, {"step": 0}), made)
    [judging] = [one for one in workshop.jobs.all() if one.kind is JobKind.EVALUATE]
    assert workshop.made(made["model"]).evaluation is None
    seen = {}

    def evaluate(model, table, target, *, on_progress):
        on_progress(0.5)
        seen.update(rows=table.num_rows, target=target, learned_from=model.n_rows_)
        return {"auic": 1.0}

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    result = job_worker.evaluate(tmp_path, workshop.supervisor._order(judging))
    assert seen == {"rows": 30, "target": "stage", "learned_from": 90}
    assert json.loads(workshop.shelf.path(result["evaluation"]).read_bytes()) == {"auic": 1.0}
    assert read_json(tmp_path / "progress.json") == {"share": 0.5}
    workshop.jobs.finish(workshop.jobs.start(judging, {"step": 0}), result)
    assert workshop.made(made["model"]).evaluation == result["evaluation"]
    with pytest.raises(ModelNotFoundError, match="no job made a model"):
        workshop.evaluate("0" * 64)
