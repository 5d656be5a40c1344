"""A job is its events: asked, started, over; who appends first has it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi.service.analyst.jobs import (
    JobConflictError,
    JobKind,
    JobNotFoundError,
    Jobs,
    State,
    read_json,
    write_json,
)
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


@pytest.fixture
def jobs(tmp_path):
    return Jobs(MemoryStore(), tmp_path / "jobs")


def test_a_job_goes_from_waiting_to_finished(jobs):
    job = jobs.ask(JobKind.FIT, {"name": "people", "steps": 100})
    assert (job.state, job.order["name"]) == (State.WAITING, "people")
    job = jobs.start(job, {"step": 0})
    assert (job.state, job.started_at) == (State.RUNNING, (0,))
    job = jobs.finish(job, {"model": "abc"})
    assert (job.state, job.result["model"]) == (State.FINISHED, "abc")
    assert job.ended
    assert jobs.all() == [jobs.get(job.key)]


def test_who_is_second_does_not_get_the_job(jobs):
    job = jobs.ask(JobKind.FIT, {})
    assert jobs.start(job, {"step": 0}) is not None
    assert jobs.start(job, {"step": 0}) is None


def test_of_two_servers_on_one_database_one_gets_the_job(store_url, tmp_path):
    servers = [Jobs(open_store(store_url), tmp_path / "jobs") for _ in range(2)]
    asked = [servers[0].ask(JobKind.FIT, {}) for _ in range(5)]
    with ThreadPoolExecutor(2) as both:
        for job in asked:
            started = list(both.map(lambda server, job=job: server.start(job, {"step": 0}), servers))
            assert sum(one is not None for one in started) == 1
    assert {job.state for job in servers[1].all()} == {State.RUNNING}
    for server in servers:
        server.store.close()


def test_a_cancelled_job_is_not_finished_behind_ones_back_but_can_be_resumed(jobs):
    job = jobs.start(jobs.ask(JobKind.FIT, {}), {"step": 0})
    assert jobs.cancel(job.key).state is State.CANCELLED
    assert jobs.finish(job, {}) is None
    assert jobs.fail(job, "no") is None
    with pytest.raises(JobConflictError, match="the job is cancelled: it cannot be cancelled"):
        jobs.cancel(job.key)
    again = jobs.resume(job.key)
    assert (again.state, again.started_at) == (State.WAITING, ())
    with pytest.raises(JobConflictError, match="the job is waiting: it cannot be resumed"):
        jobs.resume(job.key)


def test_a_failed_job_says_why_and_can_be_resumed_but_a_finished_one_cannot(jobs):
    job = jobs.fail(jobs.start(jobs.ask(JobKind.FIT, {}), {"step": 0}), "too few rows")
    assert (job.state, job.words) == (State.FAILED, "too few rows")
    job = jobs.finish(jobs.start(jobs.resume(job.key), {"step": 0}), {})
    for change in (jobs.resume, jobs.cancel):
        with pytest.raises(JobConflictError, match="the job is finished"):
            change(job.key)


def test_there_are_no_other_jobs(jobs):
    for key in ("", "0" * 12, "../../etc"):
        with pytest.raises(JobNotFoundError, match="there is no job"):
            jobs.get(key)


def test_a_file_is_read_whole_or_not_at_all(tmp_path):
    path = tmp_path / "progress.json"
    assert read_json(path) == {}
    write_json(path, {"share": 0.5})
    assert read_json(path) == {"share": 0.5}
    path.write_text("[1, 2")
    assert read_json(path) == {}
    path.write_text("[1, 2]")
    assert read_json(path) == {}
