"""The activity log says who did what, and never contains answers."""

import pytest

from eddi.service.analyst.accounts.access import Access
from eddi.service.analyst.accounts.activity import ActivityLog
from eddi.service.analyst.data.tables import Tables
from eddi.service.analyst.jobs.job_queue import JobKind
from eddi.service.analyst.models.publishing import Publisher
from eddi.service.interviews.limits.invitations import Invitations
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import Keys, Role
from eddi.store.memory import MemoryStore


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def log(store):
    return ActivityLog(store)


@pytest.fixture
def ada(store):
    """The name of Ada's key."""
    return Keys(store).issue(Role.ANALYST, days=1, holder="Ada").split("_")[1]


@pytest.fixture
def sleep(store, ada):
    """Publishes the questionnaire "sleep" by Ada, and returns all questionnaires."""
    publisher = Publisher(store)
    publisher.publish("sleep", model="m" * 64, target=["x"], by=ada)
    return publisher


def sentences(entries):
    """The entries as sentences, oldest first."""
    texts = (f"{entry.author} {entry.action} {entry.subject}" for entry in reversed(entries))
    return [text.strip() for text in texts]


def test_changes_of_a_questionnaire_are_listed_newest_first(log, sleep, ada):
    sleep.publish("sleep", model="m" * 64, target=["x"], by="server")
    sleep.roll_back("sleep", 1, by=ada)
    sleep.change_settings("sleep", QuestionnaireSettings(title="Night"), by=ada)
    sleep.change_access("sleep", Access(ada), by=ada)
    sleep.close("sleep", by=ada)
    sleep.reopen("sleep", by=ada)
    sleep.choose_first_page("sleep", by=ada)
    entries = log.find()
    assert [entry.at for entry in entries] == sorted((entry.at for entry in entries), reverse=True)
    assert sentences(entries) == [
        "an operator issued a key to Ada",
        "Ada published a version of sleep",
        "the server published a version of sleep",
        "Ada made another version current of sleep",
        "Ada changed the settings of sleep",
        "Ada changed who has access to sleep",
        "Ada closed sleep",
        "Ada reopened sleep",
        "Ada chose what the server's address shows: sleep",
    ]


def test_a_renamed_questionnaire_has_its_present_name(log, sleep, ada):
    sleep.rename("sleep", "night", by=ada)
    found = log.find(questionnaire="night")
    assert [(entry.subject, entry.details) for entry in found] == [("night", "to night"), ("night", "")]
    assert {entry.address for entry in found} == {"/analyst/questionnaires/night"}


def test_a_deleted_questionnaire_stays_in_the_log_without_details(log, sleep, ada):
    sleep.delete("sleep", by=ada)
    deletion, publication = log.find(questionnaire="sleep")
    assert sentences([deletion]) == ["Ada deleted the questionnaire sleep"]
    assert sentences([publication]) == ["not known published a version of sleep"]
    assert (deletion.address, publication.address) == ("", "")


def test_the_log_is_filtered_by_person_and_questionnaire(log, sleep, ada, store):
    bob = Keys(store).issue(Role.ANALYST, days=1, holder="Bob").split("_")[1]
    sleep.publish("other", model="m" * 64, target=["x"], by=bob)
    assert sentences(log.find(person=bob)) == ["Bob published a version of other"]
    assert sentences(log.find(person=ada)) == ["Ada published a version of sleep"]
    assert sentences(log.find(questionnaire="other")) == ["Bob published a version of other"]
    assert log.find(person=ada, questionnaire="other") == []


def test_exports_deletions_and_invitations_are_counted(log, sleep, ada, store):
    log.record("sleep", "exported", {"file": "answers.csv", "people": 12}, by=ada)
    log.record("sleep", "person-deleted", {}, by=ada)
    Invitations(store).issue("sleep", 3, by=ada)
    assert [(entry.action, entry.details) for entry in reversed(log.find(questionnaire="sleep"))] == [
        ("published a version of", ""),
        ("exported answers to", "12 people, answers.csv"),
        ("deleted the answers of one person to", ""),
        ("issued invitations to", "3"),
    ]
    assert len(sleep.get("sleep").versions) == sleep.get("sleep").n_events  # an export changes nothing


def test_tables_jobs_and_models_are_listed(workshop, people_csv):
    store = workshop.jobs.store
    by = Keys(store).issue(Role.ANALYST, days=1, holder="Ada").split("_")[1]
    table = Tables(store, workshop.blobs).add("people.csv", people_csv, by=by)
    job = workshop.jobs.submit(JobKind.FIT, {"table": table.key, "name": "people"}, by=by)
    workshop.jobs.cancel(job.key, by=by)
    workshop.model_names.rename("f" * 64, "best", by=by)
    workshop.model_names.record_deletion("f" * 64, by=by)
    assert sentences(workshop.activity.find(person=by)) == [
        "Ada uploaded the table people.csv",
        "Ada started training on people",
        "Ada cancelled a job on people",
        "Ada renamed the model ffffffff",
        "Ada deleted the model ffffffff",
    ]
    workshop.forget_table(table.key, by=by)
    assert sentences(workshop.activity.find(person=by))[2:] == [
        "Ada deleted a job",
        "Ada deleted a table",
    ]


def test_keys_that_are_replaced_and_revoked_are_listed(log, store, ada):
    keys = Keys(store)
    keys.rotate(ada, by=ada)
    keys.revoke(ada)
    assert sentences(log.find()) == [
        "an operator issued a key to Ada",
        "Ada replaced the key of Ada",
        "an operator revoked the key of Ada",
    ]


def test_an_erased_key_has_no_name_in_the_log(log, store, sleep, ada):
    store.forget(f"key/{ada}")
    assert sentences(log.find(questionnaire="sleep")) == [f"{ada} published a version of sleep"]
    assert "Ada" not in str(log.find())
    assert sleep.get("sleep").access == Access(ada)


def test_the_log_contains_no_answers(log, store):
    store.append("interview/secret", "opened", {"by": "x"}, after=0)
    store.append("interview/secret", "told", {"values": {"age": 61}}, after=1)
    assert log.find() == []
