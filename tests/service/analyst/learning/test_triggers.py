"""Triggers are events of the store; they say why a run is due."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from eddi.service.analyst.dashboard.answer_distributions import AnswerDistribution
from eddi.service.analyst.learning import triggers as module
from eddi.service.analyst.learning.triggers import (
    TriggerError,
    Triggers,
    differs,
    has_drifted,
    read_triggers,
    save_triggers,
)
from eddi.service.analyst.questionnaires.collected_answers import (
    Filters,
    InterviewEntry,
    list_interviews,
)
from eddi.store.memory import MemoryStore
from eddi.table.variable import Variable

NOW = datetime(2026, 11, 16, tzinfo=UTC)
NEW = [InterviewEntry(f"{n}", 1, "model", NOW.isoformat(), False) for n in range(3)]


def find(triggers: Triggers, new: Any = NEW, *, days: int = 1, has_drift: bool = False) -> str:
    last_run = (NOW - timedelta(days=days)).isoformat()
    return triggers.find(new, now=NOW, last_run=last_run, has_drift=has_drift)


def test_triggers_are_stored() -> None:
    store = MemoryStore()
    assert not read_triggers(store, "people").is_active
    save_triggers(store, "people", Triggers(every_days=7, publish=True, by="ada"))
    save_triggers(store, "people", Triggers(after_interviews=5, on_drift=True, by="bob"))
    found = read_triggers(store, "people")
    assert (found.every_days, found.after_interviews, found.on_drift) == (0, 5, True)
    assert (found.publish, found.by, found.is_active) == (False, "bob", True)


@pytest.mark.parametrize(
    ("triggers", "expected"),
    [
        (Triggers(), ""),
        (Triggers(after_interviews=3), "interviews"),
        (Triggers(after_interviews=4), ""),
        (Triggers(every_days=1), "schedule"),
        (Triggers(every_days=2), ""),
        (Triggers(on_drift=True), ""),
    ],
)
def test_a_run_is_due(triggers: Triggers, expected: str) -> None:
    assert find(triggers) == expected


def test_drift_starts_a_run_if_it_is_switched_on() -> None:
    assert find(Triggers(on_drift=True), has_drift=True) == "drift"
    assert find(Triggers(), has_drift=True) == ""


def test_a_schedule_needs_new_interviews() -> None:
    assert find(Triggers(every_days=1), [], days=100) == ""


def test_a_schedule_counts_from_the_day_on_which_it_was_set() -> None:
    triggers = Triggers(every_days=7, at=(NOW - timedelta(days=6)).isoformat())
    assert find(triggers, days=100) == ""
    assert triggers.find(NEW, now=NOW + timedelta(days=1), last_run="", has_drift=False) == "schedule"


@pytest.mark.parametrize("bad", [{"every_days": -1}, {"every_days": 4000}, {"after_interviews": -1}])
def test_numbers_are_bounded(bad: dict[str, int]) -> None:
    with pytest.raises(TriggerError, match="must be between"):
        Triggers(**bad)


def test_answers_that_differ_from_predictions_are_drift(
    copied_workshop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, item = copied_workshop.jobs.store, copied_workshop.publisher.get("people")
    entries = list_interviews(store, item, Filters())
    current = copied_workshop.catalogue.load(item)
    assert not has_drifted(store, current, entries[:20])  # too few
    monkeypatch.setattr(module, "MIN_ANSWERS", 10)
    assert not has_drifted(store, current, entries)
    monkeypatch.setattr(module, "UNSTABLE", 0.0)
    monkeypatch.setattr(module, "ERROR_RATE", 1e9)
    assert has_drifted(store, current, entries)


@pytest.mark.parametrize(
    ("observed", "n_people", "expected"),
    [
        ([0.5, 0.5], 100, False),
        ([0.9, 0.1], 100, True),
        ([0.9, 0.1], 40, False),  # too few answers
        ([0.55, 0.45], 10_000, False),  # not by chance, but small
    ],
)
def test_a_difference_must_be_large_and_not_by_chance(
    observed: list[float], n_people: int, expected: bool
) -> None:
    variable = Variable("smoker", "binary", levels=("no", "yes"))
    shares = np.array(observed), np.array([0.5, 0.5])
    distribution = AnswerDistribution(variable, (), *shares, n_people)
    assert differs(distribution, n_compared=5) is expected
