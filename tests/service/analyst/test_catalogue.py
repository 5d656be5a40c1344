"""New interviews take what is current; those that have begun stay on what they began with."""

import pytest

from eddi import Stop
from eddi.service.analyst import catalogue as module
from eddi.service.analyst.publishing import QuestionnaireNotFoundError
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
    """A workshop whose server was started with a model file."""
    serve(workshop, model_file)
    return workshop


def serve(workshop, path, **rules):
    questionnaire = Questionnaire.load(path, "stage", stop=Stop(**rules))
    workshop.catalogue.serve(path, questionnaire)
    return questionnaire


def published(workshop, file, **rules):
    seal = workshop.shelf.put(file)
    workshop.publishing.publish("people", model=seal, target=["stage"], rules=rules)
    workshop.catalogue.refresh()


def test_nothing_is_published_at_first(workshop):
    with pytest.raises(NothingPublishedError, match="An analyst trains a model and publishes it"):
        workshop.catalogue.current()
    assert workshop.catalogue.all() == ()


def test_a_server_publishes_what_it_is_started_with_once(served, model_file):
    serve(served, model_file)
    assert [one.number for one in served.publishing.get("people").versions] == [1]
    serve(served, model_file, after=3)
    assert served.catalogue.current().stop == Stop(after=3)
    assert served.catalogue.current().version == 2
    serve(served, model_file)
    assert served.catalogue.current().stop == Stop()


def test_a_server_that_starts_again_does_not_undo_what_an_analyst_published(
    served, model_file, other_file
):
    published(served, other_file)
    serve(served, model_file)
    assert served.catalogue.current().version == 2


def test_interviews_stay_on_the_version_they_began_with(served, other_file):
    service = InterviewService(served.jobs.store, served.catalogue)
    begun = service.start()
    published(served, other_file, after=2)
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


def test_a_server_started_anew_goes_on_with_interviews_of_older_versions(served, other_file, tmp_path):
    service = InterviewService(served.jobs.store, served.catalogue)
    begun = service.start()
    published(served, other_file)
    anew = Workshop(served.jobs.store, tmp_path / "workshop")
    again = InterviewService(anew.jobs.store, anew.catalogue)
    assert again.resume(begun.key).questionnaire.version == 1
    elsewhere = Workshop(served.jobs.store, tmp_path / "empty")
    lost = InterviewService(served.jobs.store, elsewhere.catalogue)
    with pytest.raises(QuestionnaireMissingError, match="whose model this server does not have"):
        lost.resume(begun.key)
    for each in (service, again, lost):
        each.batcher.close()


def test_questionnaires_go_by_their_names(served, model_file):
    seal = served.shelf.put(model_file)
    served.publishing.publish("about weight", model=seal, target=["weight"])
    served.catalogue.refresh()
    assert served.catalogue.current().name == "people"  # what the server was started with is first
    assert served.catalogue.current("about weight").target == ("weight",)
    assert {one.name for one in served.catalogue.all()} == {"people", "about weight"}
    with pytest.raises(QuestionnaireNotFoundError, match="nothing is published as 'mood'"):
        served.catalogue.current("mood")


def test_what_another_server_published_is_seen_soon(served, other_file, tmp_path, monkeypatch):
    other = Workshop(served.jobs.store, tmp_path / "workshop")
    assert other.catalogue.current().version == 1
    published(served, other_file)
    assert other.catalogue.current().version == 1  # for a moment
    monkeypatch.setattr(module, "FRESH_S", 0.0)
    assert other.catalogue.current().version == 2


def test_only_so_many_models_are_kept_loaded(served, model_file, monkeypatch):
    monkeypatch.setattr(module, "MAX_LOADED", 2)
    for after in range(1, 5):
        published(served, model_file, after=after)
        assert served.catalogue.current().stop == Stop(after=after)
    assert len(served.catalogue._loaded) == 2
    assert served.catalogue.find("people", 1, served.catalogue.current().model_sha256).stop == Stop()
