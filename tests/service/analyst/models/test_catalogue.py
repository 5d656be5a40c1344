"""New interviews use the current version; interviews that have begun stay on their version."""

from dataclasses import replace

import pytest

from eddi import Stop
from eddi.service.analyst.models import catalogue as module
from eddi.service.analyst.models.publishing import QuestionnaireNotFoundError
from eddi.service.analyst.workshop import Workshop
from eddi.service.errors import QuestionnaireMissingError
from eddi.service.interviews.interview_service import InterviewService
from eddi.service.interviews.questionnaire import NothingPublishedError, Questionnaire


@pytest.fixture
def other_file(tmp_path, people_model):
    """Another model of the people."""
    path = tmp_path / "other.eddi"
    people_model("zi").save(path)
    return path


@pytest.fixture
def served(workshop, model_file):
    """The workshop of a server that was started with a model file."""
    start_server(workshop, model_file)
    return workshop


def start_server(workshop, path, **rules):
    questionnaire = Questionnaire.load(path, "stage", rules=rules)
    workshop.catalogue.publish_at_startup(path, questionnaire)


def publish(workshop, file, **rules):
    digest = workshop.blobs.put(file)
    workshop.publisher.publish("people", model=digest, target=["stage"], rules=rules)
    workshop.catalogue.refresh()


def test_nothing_is_published_at_first(workshop):
    with pytest.raises(NothingPublishedError, match="An analyst trains a model and publishes it"):
        workshop.catalogue.current()
    assert workshop.catalogue.all() == ()


def test_a_server_publishes_its_model_once(served, model_file):
    start_server(served, model_file)
    assert [version.number for version in served.publisher.get("people").versions] == [1]
    start_server(served, model_file, after=3)
    assert served.catalogue.current().stop == Stop(after=3)
    assert served.catalogue.current().version == 2
    start_server(served, model_file)
    assert served.catalogue.current().stop == Stop()


def test_what_interviews_use_is_published(workshop, with_schema, people_schema, tmp_path):
    path = tmp_path / "people.eddi"
    with_schema(replace(people_schema, stop={"after": 2, "budget": 9})).save(path)
    digest = workshop.blobs.put(path)
    published = workshop.catalogue.publish("people", digest, ["stage"], rules={"after": 1})
    assert published.current.rules == {"after": 1, "budget": 9}
    assert published.current.strategy == workshop.catalogue.current().strategy_name == "information"


def test_a_restarted_server_does_not_replace_what_an_analyst_published(served, model_file, other_file):
    publish(served, other_file)
    start_server(served, model_file)
    assert served.catalogue.current().version == 2


def test_interviews_stay_on_their_version(served, other_file):
    service = InterviewService(served.jobs.store, served.catalogue)
    begun = service.start()
    publish(served, other_file, after=2)
    new = service.start()
    assert (begun.questionnaire.version, new.questionnaire.version) == (1, 2)
    assert service.resume(begun.key).questionnaire.version == 1
    service.add_answer(begun.key, "age", 61)
    service.add_answer(begun.key, "town", "Bala")
    assert service.add_answer(begun.key, "smoker", "yes").question is not None  # version 1 has no end
    service.add_answer(new.key, "age", 61)
    assert service.add_answer(new.key, "town", "Bala").question is None
    served.roll_back("people", 1)
    assert service.start().questionnaire.version == 1
    assert service.resume(new.key).questionnaire.version == 2
    service.batcher.close()


def test_a_restarted_server_continues_interviews_of_older_versions(served, other_file, tmp_path):
    service = InterviewService(served.jobs.store, served.catalogue)
    begun = service.start()
    publish(served, other_file)
    restarted = Workshop(served.jobs.store, tmp_path / "workshop")
    restarted_service = InterviewService(restarted.jobs.store, restarted.catalogue)
    assert restarted_service.resume(begun.key).questionnaire.version == 1
    elsewhere = Workshop(served.jobs.store, tmp_path / "empty")
    other_service = InterviewService(served.jobs.store, elsewhere.catalogue)
    with pytest.raises(QuestionnaireMissingError, match="whose model this server does not have"):
        other_service.resume(begun.key)
    for server in (service, restarted_service, other_service):
        server.batcher.close()


def test_questionnaires_are_found_by_name(served, model_file):
    digest = served.blobs.put(model_file)
    served.publisher.publish("about weight", model=digest, target=["weight"])
    served.catalogue.refresh()
    assert served.catalogue.current().name == "people"  # the server's own model is the default
    assert served.catalogue.current("about weight").target == ("weight",)
    assert {item.name for item in served.catalogue.all()} == {"people", "about weight"}
    with pytest.raises(QuestionnaireNotFoundError, match="nothing is published as 'mood'"):
        served.catalogue.current("mood")


def test_a_version_published_by_another_server_is_soon_visible(
    served, other_file, tmp_path, monkeypatch
):
    other = Workshop(served.jobs.store, tmp_path / "workshop")
    assert other.catalogue.current().version == 1
    publish(served, other_file)
    assert other.catalogue.current().version == 1  # until the list is read again
    monkeypatch.setattr(module, "MAX_AGE_S", 0.0)
    assert other.catalogue.current().version == 2


def test_the_number_of_loaded_models_is_limited(served, model_file, monkeypatch):
    monkeypatch.setattr(module, "MAX_LOADED", 2)
    for after in range(1, 5):
        publish(served, model_file, after=after)
        assert served.catalogue.current().stop == Stop(after=after)
    assert len(served.catalogue._loaded) == 2
    assert served.catalogue.find("people", 1, served.catalogue.current().model_sha256).stop == Stop()
