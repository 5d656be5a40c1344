"""How events are hashed, and how changed events are reported."""

from dataclasses import replace
from typing import Any

import pytest

from eddi.store.base import Event, FactsError
from eddi.store.chain import (
    EMPTY_HEAD,
    Head,
    StoredEvent,
    canonical_json,
    compare_with_export,
    compute_digest,
    create_event,
    create_tombstone,
    find_faults,
)

STREAM = "interview/7"


def make_chain(n_events: int) -> list[StoredEvent]:
    chain, head = [], EMPTY_HEAD
    for number in range(n_events):
        event = create_event(STREAM, "told", {"n": number}, head=head, after=number)
        chain.append(StoredEvent(event, canonical_json(event.facts)))
        head = Head(event.number, event.hash)
    return chain


def head_of(chain: list[StoredEvent]) -> Head:
    return Head(chain[-1].event.number, chain[-1].event.hash)


def messages(chain: list[StoredEvent], head: Head | None) -> list[str]:
    return [str(fault) for fault in find_faults(STREAM, chain, head)]


def edit(stored: StoredEvent, **fields: Any) -> StoredEvent:
    return StoredEvent(replace(stored.event, **fields), stored.text)


def test_an_unchanged_chain_has_no_faults() -> None:
    chain = make_chain(4)
    assert messages(chain, head_of(chain)) == []


def test_edited_facts_are_the_only_fault() -> None:
    chain = make_chain(3)
    edited = StoredEvent(chain[1].event, '{"n":9}')
    assert messages([chain[0], edited, chain[2]], head_of(chain)) == [
        "interview/7, event 2: its facts were edited: they do not match their digest"
    ]


@pytest.mark.parametrize("field", ["kind", "at", "digest", "before", "hash"])
def test_an_edit_of_any_other_field_is_found(field: str) -> None:
    chain = make_chain(3)
    faults = messages([chain[0], edit(chain[1], **{field: "x"}), chain[2]], head_of(chain))
    assert any("event 2" in fault for fault in faults), faults


def test_forged_facts_with_a_matching_digest_break_the_hash() -> None:
    chain = make_chain(2)
    text = '{"n":9}'
    digest = compute_digest(chain[0].event.salt, text)
    forged = StoredEvent(replace(chain[0].event, digest=digest), text)
    assert messages([forged, chain[1]], head_of(chain)) == [
        "interview/7, event 1: was edited: it does not match its own hash"
    ]


def test_an_event_with_recomputed_hashes_does_not_match_the_next_event() -> None:
    chain = make_chain(3)
    other = create_event(STREAM, "told", {"n": 9}, head=Head(1, chain[0].event.hash), after=1)
    forged = StoredEvent(other, canonical_json(other.facts))
    assert messages([chain[0], forged, chain[2]], head_of(chain)) == [
        "interview/7, event 3: does not match the previous event's hash: one of them was changed"
    ]


def test_missing_events_are_reported_as_a_range() -> None:
    chain = make_chain(5)
    faults = messages([chain[0], chain[3], chain[4]], head_of(chain))
    assert faults == ["interview/7, event 2: is missing, as are all events up to 3"]
    assert messages([chain[0], *chain[2:]], head_of(chain)) == ["interview/7, event 2: is missing"]


def test_a_truncated_stream_is_found() -> None:
    chain = make_chain(4)
    assert messages(chain[:2], head_of(chain)) == [
        "interview/7, event 3: is missing: the stream was truncated; it should end at 4"
    ]


def test_a_stream_without_events_is_found() -> None:
    assert "event 1: is missing" in messages([], head_of(make_chain(2)))[0]


def test_an_event_after_the_head_was_inserted() -> None:
    chain = make_chain(3)
    assert messages(chain, head_of(chain[:2])) == [
        "interview/7, event 3: was inserted: the stream ends at event 2"
    ]


def test_two_events_with_swapped_numbers_are_found() -> None:
    chain = make_chain(3)
    swapped = [chain[0], edit(chain[2], number=2), edit(chain[1], number=3)]
    faults = messages(swapped, head_of(chain))
    assert any("event 2: was edited" in fault for fault in faults)
    assert any("event 3: was edited" in fault for fault in faults)


def test_a_duplicate_number_is_found() -> None:
    chain = make_chain(2)
    faults = messages([*chain, chain[1]], head_of(chain))
    assert any("cannot follow 2" in fault for fault in faults)


def test_a_missing_head_is_found() -> None:
    assert messages(make_chain(2), None) == [
        "interview/7: has events up to 2, but the record of its end is missing"
    ]


def test_facts_may_be_missing_only_if_the_stream_was_forgotten() -> None:
    chain = make_chain(2)
    erased = [StoredEvent(replace(stored.event, facts={}, salt=""), None) for stored in chain]
    assert "never forgotten" in messages(erased, head_of(chain))[0]
    last = create_tombstone(STREAM, head_of(chain))
    forgotten = [*erased, StoredEvent(last, "{}")]
    head = Head(last.number, last.hash, is_forgotten=True)
    assert messages(forgotten, head) == []
    assert "forgotten flag" in messages(forgotten, replace(head, is_forgotten=False))[0]


def test_equal_facts_have_different_digests() -> None:
    facts = {"smoker": "yes"}
    first, second = (create_event(STREAM, "told", facts, head=EMPTY_HEAD, after=0) for _ in range(2))
    assert first.digest != second.digest  # otherwise a list of two digests would reveal the answer


def test_equal_facts_have_equal_canonical_json() -> None:
    text = '{"a":"\\u00e9","b":1}'
    assert canonical_json({"b": 1, "a": "\u00e9"}) == canonical_json({"a": "\u00e9", "b": 1}) == text


def test_facts_that_are_not_json_are_rejected() -> None:
    with pytest.raises(FactsError, match=r"plain JSON.*Convert"):
        canonical_json({"x": float("inf")})
    with pytest.raises(FactsError, match="lists instead of tuples"):
        canonical_json({"x": (1,)})


def test_a_rewritten_stream_is_found_by_comparing_with_an_export() -> None:
    exported, current = ([stored.event for stored in make_chain(n)] for n in (3, 2))

    def read(_: str) -> list[Event]:
        return current

    faults = [str(fault) for fault in compare_with_export(exported, read)]
    assert len(faults) == 3
    assert "event 1: differs from the earlier export" in faults[0]
    assert "event 3: is in the earlier export but no longer in the store" in faults[2]
