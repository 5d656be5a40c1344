"""The history of versions has every change of the current version."""

from eddi.service.analyst.dashboard.version_history import list_changes
from eddi.service.analyst.models.publishing import Publisher
from eddi.service.analyst.questionnaires.collected_answers import InterviewEntry
from eddi.store.memory import MemoryStore


def test_publishing_and_rolling_back_are_listed_newest_first():
    publisher = Publisher(MemoryStore())
    for model in ("a" * 64, "b" * 64):
        publisher.publish("people", model=model, target=["stage"], by="ada")
    publisher.close("people", by="ada")
    publisher.roll_back("people", 1, by="bob")
    entries = [
        InterviewEntry("k1", 1, "a" * 64, "2026", has_outcome=True),
        InterviewEntry("k2", 1, "a" * 64, "2026", has_outcome=False),
        InterviewEntry("k3", 2, "b" * 64, "2026", has_outcome=False),
    ]
    changes = list_changes(publisher.store.read("questionnaire/people"), entries)
    assert [(c.version, c.is_published, c.by, c.n_interviews, c.n_outcomes) for c in changes] == [
        (1, False, "bob", 2, 1),
        (2, True, "ada", 1, 0),
        (1, True, "ada", 2, 1),
    ]
    assert changes[0].model == "a" * 64
