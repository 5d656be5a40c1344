"""A job is a stream of events; of two servers that change it at once, the first succeeds."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from eddi.service.analyst.jobs.job_queue import (
    JobConflictError,
    JobKind,
    JobNotFoundError,
    JobQueue,
    JobState,
    read_json,
    write_json,
)
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


@pytest.fixture
def jobs(tmp_path):
    return JobQueue(MemoryStore(), tmp_path / "jobs")


def test_a_job_goes_from_waiting_to_finished(jobs):
    job = jobs.submit(JobKind.FIT, {"name": "people", "steps": 100})
    assert (job.state, job.spec["name"]) == (JobState.WAITING, "people")
    job = jobs.start(job, {"step": 0})
    assert (job.state, job.start_steps) == (JobState.RUNNING, (0,))
    job = jobs.finish(job, {"model": "abc"})
    assert (job.state, job.result["model"]) == (JobState.FINISHED, "abc")
    assert job.ended_at
    assert jobs.all() == [jobs.get(job.key)]


def test_a_job_can_be_started_only_once(jobs):
    job = jobs.submit(JobKind.FIT, {})
    assert jobs.start(job, {"step": 0}) is not None
    assert jobs.start(job, {"step": 0}) is None


def test_only_one_of_two_servers_on_one_database_starts_a_job(store_url, tmp_path):
    servers = [JobQueue(open_store(store_url), tmp_path / "jobs") for _ in range(2)]
    submitted = [servers[0].submit(JobKind.FIT, {}) for _ in range(5)]
    with ThreadPoolExecutor(2) as pool:
        for job in submitted:
            started = list(pool.map(lambda server, job=job: server.start(job, {"step": 0}), servers))
            assert sum(job is not None for job in started) == 1
    assert {job.state for job in servers[1].all()} == {JobState.RUNNING}
    for server in servers:
        server.store.close()


def test_a_cancelled_job_cannot_be_finished_but_can_be_resumed(jobs):
    job = jobs.start(jobs.submit(JobKind.FIT, {}), {"step": 0})
    assert jobs.cancel(job.key).state is JobState.CANCELLED
    assert jobs.finish(job, {}) is None
    assert jobs.fail(job, "no") is None
    with pytest.raises(JobConflictError, match="the job is cancelled: it cannot be cancelled"):
        jobs.cancel(job.key)
    again = jobs.resume(job.key)
    assert (again.state, again.start_steps) == (JobState.WAITING, ())
    with pytest.raises(JobConflictError, match="the job is waiting: it cannot be resumed"):
        jobs.resume(job.key)


def test_a_failed_job_has_a_reason_and_can_be_resumed_but_a_finished_one_cannot(jobs):
    job = jobs.fail(jobs.start(jobs.submit(JobKind.FIT, {}), {"step": 0}), "too few rows")
    assert (job.state, job.failure) == (JobState.FAILED, "too few rows")
    job = jobs.finish(jobs.start(jobs.resume(job.key), {"step": 0}), {})
    for change in (jobs.resume, jobs.cancel):
        with pytest.raises(JobConflictError, match="the job is finished"):
            change(job.key)


def test_an_unknown_key_is_refused(jobs):
    for key in ("", "0" * 12, "../../etc"):
        with pytest.raises(JobNotFoundError, match="there is no job"):
            jobs.get(key)


def test_a_missing_or_damaged_json_file_reads_as_empty(tmp_path):
    path = tmp_path / "progress.json"
    assert read_json(path) == {}
    write_json(path, {"share": 0.5})
    assert read_json(path) == {"share": 0.5}
    path.write_text("[1, 2")
    assert read_json(path) == {}
    path.write_text("[1, 2]")
    assert read_json(path) == {}
