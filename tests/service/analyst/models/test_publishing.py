"""What is published stays known: versions count up, and any of them can be current again."""

import pytest

from eddi import Stop
from eddi.service.analyst.publishing import (
    Publishing,
    PublishingError,
    QuestionnaireNotFoundError,
    called,
)
from eddi.store.memory import MemoryStore


@pytest.fixture
def publishing():
    return Publishing(MemoryStore())


def publish(publishing, model, **given):
    return publishing.publish("people", model=model, target=["stage"], **given)


def test_versions_count_up_and_the_last_is_current(publishing):
    publish(publishing, "a")
    published = publish(publishing, "b", rules={"after": 3})
    assert [one.model for one in published.versions] == ["a", "b"]
    assert (published.current.number, published.current.stop) == (2, Stop(after=3))
    assert publishing.all() == [published]


def test_an_earlier_version_becomes_current_again_and_the_next_counts_on(publishing):
    publish(publishing, "a")
    publish(publishing, "b")
    assert publishing.roll_back("people", 1).current.model == "a"
    assert publishing.roll_back("people", 2).current.model == "b"
    publishing.roll_back("people", 1)
    assert publish(publishing, "c").current.number == 3


@pytest.mark.parametrize(
    ("number", "words"), [(0, "has no version 0; it has 1 to 1"), (2, "no version 2"), (1, "is current")]
)
def test_there_is_nothing_else_to_roll_back_to(publishing, number, words):
    publish(publishing, "a")
    with pytest.raises(PublishingError, match=words):
        publishing.roll_back("people", number)


@pytest.mark.parametrize("name", ["", " people", "a/b", "a?b", "x" * 81, "-x", "a\nb"])
def test_names_can_be_part_of_an_address(publishing, name):
    with pytest.raises(PublishingError, match="a questionnaire cannot be called"):
        publishing.publish(name, model="a", target=["stage"])
    with pytest.raises(QuestionnaireNotFoundError, match="nothing is published as"):
        publishing.get(name)
    assert publishing.publish(called(name), model="a", target=["stage"]).current.number == 1


def test_the_name_of_a_file_is_kept_where_it_can_be():
    assert called("Größe (2)") == "Größe (2)"
    assert called("people/risk?") == "people-risk-"
    assert called("...") == "questionnaire"
