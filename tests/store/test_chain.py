"""How events are sealed, and the words for what somebody changed."""

from dataclasses import replace
from typing import Any

import pytest

from eddi.store.base import Event, FactsError
from eddi.store.chain import (
    START,
    Head,
    Kept,
    digest_of,
    faults_against,
    faults_in,
    sealed,
    text_of,
    tombstone,
)

STREAM = "interview/7"


def chain(n_events: int) -> list[Kept]:
    kept, head = [], START
    for number in range(n_events):
        event = sealed(STREAM, "told", {"n": number}, head=head, after=number)
        kept.append(Kept(event, text_of(event.facts)))
        head = Head(event.number, event.hash)
    return kept


def end(kept: list[Kept]) -> Head:
    return Head(kept[-1].event.number, kept[-1].event.hash)


def words(kept: list[Kept], head: Head | None) -> list[str]:
    return [str(fault) for fault in faults_in(STREAM, kept, head)]


def changed(kept: Kept, **parts: Any) -> Kept:
    return Kept(replace(kept.event, **parts), kept.text)


def test_an_untouched_chain_has_no_fault() -> None:
    kept = chain(4)
    assert words(kept, end(kept)) == []


def test_edited_facts_are_found_and_only_they() -> None:
    kept = chain(3)
    assert words([kept[0], Kept(kept[1].event, '{"n":9}'), kept[2]], end(kept)) == [
        "interview/7, event 2: its facts were edited: they do not match their digest"
    ]


@pytest.mark.parametrize("part", ["kind", "at", "digest", "before", "hash"])
def test_any_other_part_that_was_edited_is_found(part: str) -> None:
    kept = chain(3)
    found = words([kept[0], changed(kept[1], **{part: "x"}), kept[2]], end(kept))
    assert any("event 2" in fault for fault in found), found


def test_facts_put_back_with_a_digest_of_their_own_break_the_seal() -> None:
    kept = chain(2)
    text = '{"n":9}'
    forged = Kept(replace(kept[0].event, digest=digest_of(kept[0].event.salt, text)), text)
    assert words([forged, kept[1]], end(kept)) == [
        "interview/7, event 1: was edited: it does not match its own hash"
    ]


def test_an_event_sealed_anew_no_longer_leads_to_the_next() -> None:
    kept = chain(3)
    other = sealed(STREAM, "told", {"n": 9}, head=Head(1, kept[0].event.hash), after=1)
    found = words([kept[0], Kept(other, text_of(other.facts)), kept[2]], end(kept))
    assert found == [
        "interview/7, event 3: does not follow the event before it: one of them was changed"
    ]


def test_missing_events_are_counted_out() -> None:
    kept = chain(5)
    found = words([kept[0], kept[3], kept[4]], end(kept))
    assert found == ["interview/7, event 2: is missing, and so are all up to 3"]
    assert words([kept[0], *kept[2:]], end(kept)) == ["interview/7, event 2: is missing"]


def test_a_tail_that_was_cut_off_is_missed() -> None:
    kept = chain(4)
    assert words(kept[:2], end(kept)) == [
        "interview/7, event 3: is missing: the stream was cut off before its end at 4"
    ]


def test_a_stream_that_was_emptied_is_missed() -> None:
    assert "event 1: is missing" in words([], end(chain(2)))[0]


def test_an_event_beyond_the_end_was_put_in() -> None:
    kept = chain(3)
    assert words(kept, end(kept[:2])) == ["interview/7, event 3: was put in: the stream ends at event 2"]


def test_two_events_with_each_others_numbers_are_found() -> None:
    kept = chain(3)
    swapped = [kept[0], changed(kept[2], number=2), changed(kept[1], number=3)]
    found = words(swapped, end(kept))
    assert any("event 2: was edited" in fault for fault in found)
    assert any("event 3: was edited" in fault for fault in found)


def test_a_number_given_twice_is_found() -> None:
    kept = chain(2)
    assert any("cannot follow 2" in fault for fault in words([*kept, kept[1]], end(kept)))


def test_a_lost_end_is_told() -> None:
    assert words(chain(2), None) == ["interview/7: has events up to 2, but where it should end is gone"]


def test_facts_may_be_gone_only_where_the_stream_was_forgotten() -> None:
    kept = chain(2)
    gone = [Kept(replace(each.event, facts={}, salt=""), None) for each in kept]
    assert "never forgotten" in words(gone, end(kept))[0]
    last = tombstone(STREAM, end(kept))
    head = Head(last.number, last.hash, forgotten=True)
    assert words([*gone, Kept(last, "{}")], head) == []
    assert "marked as forgotten" in words([*gone, Kept(last, "{}")], replace(head, forgotten=False))[0]


def test_a_digest_does_not_betray_a_short_answer() -> None:
    first, second = (sealed(STREAM, "told", {"smoker": "yes"}, head=START, after=0) for _ in range(2))
    assert first.digest != second.digest  # else one look at a list of two would tell them apart


def test_the_same_facts_give_the_same_text() -> None:
    assert (
        text_of({"b": 1, "a": "\u00e9"}) == text_of({"a": "\u00e9", "b": 1}) == '{"a":"\\u00e9","b":1}'
    )


def test_what_is_not_json_is_refused_in_words() -> None:
    with pytest.raises(FactsError, match=r"plain JSON.*Convert"):
        text_of({"x": float("inf")})
    with pytest.raises(FactsError, match="lists, not tuples"):
        text_of({"x": (1,)})


def test_a_stream_written_anew_is_found_by_an_earlier_export() -> None:
    earlier, now = ([kept.event for kept in chain(n)] for n in (3, 2))

    def read(_: str) -> list[Event]:
        return now

    found = [str(fault) for fault in faults_against(earlier, read)]
    assert len(found) == 3
    assert "event 1: is not what it was in the earlier export" in found[0]
    assert "event 3: is in the earlier export and no longer in the store" in found[2]
