"""Versions of a questionnaire are numbered, never removed, and any of them can be made current."""

import pytest

from eddi import Stop
from eddi.service.analyst.models.publishing import (
    Publisher,
    PublishingError,
    QuestionnaireNotFoundError,
    make_valid_name,
)
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.store.memory import MemoryStore


@pytest.fixture
def publisher():
    return Publisher(MemoryStore())


def publish(publisher, model, **options):
    return publisher.publish("people", model=model, target=["stage"], **options)


def test_versions_count_up_and_the_last_is_current(publisher):
    publish(publisher, "a")
    published = publish(publisher, "b", rules={"after": 3})
    assert [version.model for version in published.versions] == ["a", "b"]
    assert (published.current.number, published.current.stop) == (2, Stop(after=3))
    assert publisher.all() == [published]


def test_a_new_questionnaire_has_settings_and_a_new_version_keeps_them(publisher):
    settings = QuestionnaireSettings(languages=("de", "en"))
    assert publish(publisher, "a", settings=settings).settings == settings
    assert publish(publisher, "b", settings=QuestionnaireSettings()).settings == settings


def test_an_earlier_version_can_be_made_current_and_numbers_are_not_reused(publisher):
    publish(publisher, "a")
    publish(publisher, "b")
    assert publisher.roll_back("people", 1).current.model == "a"
    assert publisher.roll_back("people", 2).current.model == "b"
    publisher.roll_back("people", 1)
    assert publish(publisher, "c").current.number == 3


@pytest.mark.parametrize(
    ("number", "message"),
    [(0, "has no version 0; it has 1 to 1"), (2, "no version 2"), (1, "is current")],
)
def test_rolling_back_to_an_unknown_or_the_current_version_is_refused(publisher, number, message):
    publish(publisher, "a")
    with pytest.raises(PublishingError, match=message):
        publisher.roll_back("people", number)


@pytest.mark.parametrize("name", ["", " people", "a/b", "a?b", "x" * 81, "-x", "a\nb"])
def test_a_name_that_cannot_be_part_of_an_address_is_refused(publisher, name):
    with pytest.raises(PublishingError, match="is not a valid name of a questionnaire"):
        publisher.publish(name, model="a", target=["stage"])
    with pytest.raises(QuestionnaireNotFoundError, match="nothing is published as"):
        publisher.get(name)
    assert publisher.publish(make_valid_name(name), model="a", target=["stage"]).current.number == 1


def test_a_valid_name_is_as_close_as_possible_to_the_text():
    assert make_valid_name("Größe (2)") == "Größe (2)"
    assert make_valid_name("people/risk?") == "people-risk-"
    assert make_valid_name("...") == "questionnaire"
