"""Owners, editors and administrators may change a questionnaire; others only see it."""

import pytest

from eddi.service.analyst.accounts.access import Access, AccessDeniedError, AccessError
from eddi.service.analyst.models.publishing import Publisher, QuestionnaireNotFoundError
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web.api_keys import NO_KEY, Keys, Role
from eddi.store.memory import MemoryStore

SETTINGS = QuestionnaireSettings(title="Sleep")


@pytest.fixture
def publisher():
    return Publisher(MemoryStore())


@pytest.fixture
def people(publisher):
    """The names of keys: of Ada, Bob, Cleo and an administrator."""
    keys = Keys(publisher.store)
    roles = {"Ada": Role.ANALYST, "Bob": Role.ANALYST, "Cleo": Role.ANALYST}
    roles["Root"] = Role.ADMINISTRATOR
    return {
        holder: keys.issue(role, days=1, holder=holder).split("_")[1] for holder, role in roles.items()
    }


@pytest.fixture
def sleep(publisher, people):
    """Publishes the questionnaire "sleep": `sleep(by)`; it belongs to Ada."""

    def publish(by):
        return publisher.publish("sleep", model="m", target=["x"], by=by)

    publish(people["Ada"])
    return publish


def test_the_first_publisher_owns_a_questionnaire(publisher, people, sleep):
    assert publisher.get("sleep").access == Access(people["Ada"])
    sleep(people["Root"])
    assert publisher.get("sleep").access == Access(people["Ada"])


@pytest.mark.parametrize(
    "change",
    [
        lambda publisher, by: publisher.publish("sleep", model="m", target=["x"], by=by),
        lambda publisher, by: publisher.roll_back("sleep", 1, by=by),
        lambda publisher, by: publisher.change_settings("sleep", SETTINGS, by=by),
        lambda publisher, by: publisher.rename("sleep", "night", by=by),
        lambda publisher, by: publisher.close("sleep", by=by),
        lambda publisher, by: publisher.reopen("sleep", by=by),
        lambda publisher, by: publisher.choose_first_page("sleep", by=by),
    ],
    ids=["publish", "roll back", "settings", "rename", "close", "reopen", "first page"],
)
def test_editors_change_a_questionnaire_and_others_do_not(publisher, people, sleep, change):
    sleep(people["Ada"])
    publisher.change_access("sleep", Access(people["Ada"], (people["Bob"],)), by=people["Ada"])
    before = publisher.get("sleep")
    with pytest.raises(
        AccessDeniedError, match=r"'sleep' belongs to Ada\. Ask them or an administrator"
    ):
        change(publisher, people["Cleo"])
    assert publisher.get("sleep") == before
    change(publisher, people["Bob"])


@pytest.mark.usefixtures("sleep")
def test_only_the_owner_deletes_or_shares_a_questionnaire(publisher, people):
    access = Access(people["Ada"], (people["Bob"],))
    publisher.change_access("sleep", access, by=people["Ada"])
    for change in (publisher.delete, lambda name, by: publisher.change_access(name, access, by=by)):
        with pytest.raises(AccessDeniedError, match="Only they and administrators may delete it"):
            change("sleep", by=people["Bob"])
    publisher.delete("sleep", by=people["Ada"])
    with pytest.raises(QuestionnaireNotFoundError):
        publisher.get("sleep")


def test_a_new_owner_takes_the_place_of_the_old_one(publisher, people, sleep):
    publisher.change_access("sleep", Access(people["Bob"]), by=people["Ada"])
    sleep(people["Bob"])
    with pytest.raises(AccessDeniedError, match="belongs to Bob"):
        sleep(people["Ada"])


def test_an_administrator_changes_shares_and_deletes_everything(publisher, people, sleep):
    sleep(people["Root"])
    publisher.change_access("sleep", Access(people["Cleo"]), by=people["Root"])
    sleep(people["Cleo"])
    publisher.delete("sleep", by=people["Root"])


def test_rotating_a_key_keeps_what_it_owns(publisher, people, sleep):
    keys = Keys(publisher.store)
    key = keys.check(keys.rotate(people["Ada"]), frozenset(Role))
    sleep(key.name)


@pytest.mark.parametrize("author", [NO_KEY, "server"])
def test_a_questionnaire_that_was_published_without_a_key_belongs_to_all(publisher, people, author):
    publisher.publish("open", model="m", target=["x"], by=author)
    assert publisher.get("open").access == Access()
    publisher.close("open", by=people["Bob"])
    publisher.change_access("open", Access(people["Bob"]), by=people["Bob"])
    with pytest.raises(AccessDeniedError):
        publisher.reopen("open", by=people["Ada"])


def test_the_server_publishes_the_model_it_was_started_with(sleep):
    assert len(sleep("server").versions) == 2


@pytest.mark.usefixtures("sleep")
def test_only_analysts_with_a_valid_key_receive_access(publisher, people):
    keys = Keys(publisher.store)
    operator = keys.issue(Role.OPERATOR, days=1).split("_")[1]
    keys.revoke(people["Cleo"])
    for name in (operator, people["Cleo"], "0" * 12, "x" * 1000):
        with pytest.raises(AccessError, match="no analyst has a valid key"):
            publisher.change_access("sleep", Access(people["Ada"], (name,)), by=people["Ada"])
        with pytest.raises(AccessError, match="no analyst has a valid key"):
            publisher.change_access("sleep", Access(name), by=people["Ada"])
    with pytest.raises(AccessError, match="up to 100 editors"):
        publisher.change_access("sleep", Access("", ("x",) * 101), by=people["Ada"])


def test_a_new_questionnaire_under_a_deleted_name_has_a_new_owner(publisher, people, sleep):
    publisher.delete("sleep", by=people["Ada"])
    assert sleep(people["Bob"]).access == Access(people["Bob"])
