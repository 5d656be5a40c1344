"""Runs that learn from interviews: one at a time, candidates that are published once, and triggers."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eddi.service.analyst.jobs.job_queue import JobKind, JobState
from eddi.service.analyst.learning.candidate import LearningConflictError
from eddi.service.analyst.learning.learning_job import SNAPSHOT
from eddi.service.analyst.learning.triggers import Triggers, save_triggers

from .conftest import make_comparison

BETTER, UNCLEAR = make_comparison(-0.2, -0.05), make_comparison(-0.2, 0.1)


def test_a_questionnaire_learns_once_at_a_time(copied_workshop: Any) -> None:
    job = copied_workshop.learn("people")
    assert (job.kind, job.spec["version"], job.spec["table"]) == (JobKind.LEARN, 1, "")
    with pytest.raises(LearningConflictError, match="learning already"):
        copied_workshop.learn("people")


def test_a_better_candidate_is_published_if_the_job_says_so(
    copied_workshop: Any, make_result: Any, finish: Any
) -> None:
    job = copied_workshop.learn("people", publish=True)
    finish(job, make_result(BETTER))
    item = copied_workshop.publisher.get("people")
    assert (item.current.number, item.current.rules) == (2, item.versions[0].rules)
    assert copied_workshop.jobs.get(job.key).result["published"] == 2
    [candidate] = copied_workshop.learning.find_candidates(item)
    assert candidate.published_as == 2


@pytest.mark.parametrize(("publish", "comparison"), [(True, UNCLEAR), (True, None), (False, BETTER)])
def test_other_candidates_wait_for_an_analyst(
    copied_workshop: Any, make_result: Any, finish: Any, publish: bool, comparison: Any
) -> None:
    finish(copied_workshop.learn("people", publish=publish), make_result(comparison))
    [candidate] = copied_workshop.learning.find_candidates(copied_workshop.publisher.get("people"))
    assert candidate.published_as == 0
    item = copied_workshop.learning.publish("people", candidate.digest, by="analyst")
    assert item.current.model == candidate.digest
    with pytest.raises(LearningConflictError, match="published already"):
        copied_workshop.learning.publish("people", candidate.digest, by="analyst")


def test_a_candidate_is_published_once_after_a_crash(copied_workshop: Any, make_result: Any) -> None:
    job = copied_workshop.learn("people", publish=True)
    result = make_result(BETTER)
    for _ in range(2):  # the server ended before it recorded the result
        assert copied_workshop.learning.complete(job, result)["published"] == 2
    assert len(copied_workshop.publisher.get("people").versions) == 2


def test_a_candidate_is_not_published_over_another_new_version(
    copied_workshop: Any, make_result: Any, finish: Any
) -> None:
    job = copied_workshop.learn("people", publish=True)
    model = copied_workshop.publisher.get("people").current.model
    copied_workshop.catalogue.publish("people", model, ["stage"], rules={"after": 3})
    finish(job, make_result(BETTER))
    assert copied_workshop.publisher.get("people").current.model == model


def test_a_run_that_is_over_leaves_no_answers(copied_workshop: Any) -> None:
    job = copied_workshop.learn("people")
    folder = copied_workshop.jobs.job_folder(job.key)
    folder.mkdir(parents=True)
    copied_workshop.learning.write_inputs(job, folder)
    assert (folder / SNAPSHOT).exists()
    copied_workshop.jobs.cancel(job.key)
    copied_workshop.supervisor.check_jobs()
    assert not (folder / SNAPSHOT).exists()


def test_new_interviews_start_a_run(copied_workshop: Any) -> None:
    store = copied_workshop.jobs.store
    save_triggers(store, "people", Triggers(after_interviews=61))
    copied_workshop.learning.check_triggers()
    assert copied_workshop.jobs.all() == []
    save_triggers(store, "people", Triggers(after_interviews=60, publish=True, by="analyst"))
    copied_workshop.learning.check_triggers()
    copied_workshop.learning.check_triggers()
    [job] = copied_workshop.jobs.all()
    assert (job.spec["trigger"], job.spec["publish"], job.spec["by"]) == ("interviews", True, "analyst")


def test_two_servers_submit_one_job(copied_workshop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    save_triggers(copied_workshop.jobs.store, "people", Triggers(after_interviews=1))
    learning = copied_workshop.learning
    with monkeypatch.context() as patch:
        patch.setattr(learning, "find_jobs", lambda _: [])  # both have looked before either submits
        learning.check_triggers()
        learning.check_triggers()
    assert len(copied_workshop.jobs.all()) == 1


def test_a_failed_run_waits_for_further_interviews(copied_workshop: Any) -> None:
    save_triggers(copied_workshop.jobs.store, "people", Triggers(after_interviews=1, every_days=7))
    copied_workshop.learning.check_triggers()
    [job] = copied_workshop.jobs.all()
    copied_workshop.jobs.fail(copied_workshop.jobs.start(job, {"step": 0}), "no rows")
    item = copied_workshop.publisher.get("people")
    later = datetime.now(UTC) + timedelta(days=8)
    assert copied_workshop.jobs.get(job.key).state is JobState.FAILED
    assert copied_workshop.learning.find_trigger(item, later) == ""
