"""The outcome of an interview follows from its events."""

from eddi.service.interviews.outcomes.outcome import read_outcome, without_outcomes
from eddi.store.memory import MemoryStore


def make_events(*facts):
    store = MemoryStore()
    store.append("interview/a", "opened", {}, after=0)
    for number, values in enumerate(facts, start=1):
        store.append("interview/a", "outcome", {"values": values, "by": "ada"}, after=number)
    return store.read("interview/a")


def test_an_interview_without_an_outcome_has_none():
    assert read_outcome(make_events()) is None


def test_the_last_event_counts():
    outcome = read_outcome(make_events({"risk": "low"}, {"risk": "high"}))
    assert (outcome.values, outcome.by) == ({"risk": "high"}, "ada")


def test_an_event_without_values_withdraws_the_outcome():
    assert read_outcome(make_events({"risk": "low"}, {})) is None


def test_outcomes_are_no_events_of_the_respondent():
    assert [event.kind for event in without_outcomes(make_events({"risk": "low"}))] == ["opened"]
