"""Stored interviews have the probabilities of their questions and the true values of the target."""

from dataclasses import replace
from pathlib import Path

import pytest

from eddi.service.analyst.learning.stored_interviews import StoredInterview, read_interviews
from eddi.service.analyst.workshop import Workshop
from eddi.service.interviews.history import name_person
from eddi.store.factory import open_store


@pytest.fixture(scope="module")
def interviews(interviewed_folder: Path) -> list[StoredInterview]:
    store = open_store(f"sqlite:///{interviewed_folder}/answers.db")
    workshop = Workshop(store, interviewed_folder / "workshop")
    found = read_interviews(store, workshop.catalogue, "people")
    store.close()
    return found


def test_all_interviews_of_a_questionnaire_are_read(interviews: list[StoredInterview]) -> None:
    assert [interview.person for interview in interviews] == sorted(
        name_person(f"{place:032x}") for place in range(60)
    )
    assert all(interview.is_finished for interview in interviews)
    assert {str(interview.outcome["stage"]) for interview in interviews} == {"early", "late", "last"}


def test_probabilities_that_were_not_recorded_follow_from_the_rules(
    interviews: list[StoredInterview],
) -> None:
    found = {chance for interview in interviews for chance in interview.propensities}
    assert None not in found
    # Half of the questions are random: of seven open questions at first, of six at the second step.
    assert {round(chance, 4) for chance in found if chance is not None} <= {
        round(number, 4) for number in (0.5 / 7, 0.5 + 0.5 / 7, 0.5 / 6, 0.5 + 0.5 / 6)
    }
    assert len(found) > 2


def test_about_three_in_ten_persons_are_held_out(interviews: list[StoredInterview]) -> None:
    assert 10 <= sum(interview.is_held_out for interview in interviews) <= 26


def test_whether_an_interview_is_held_out_depends_on_its_key_alone(
    interviews: list[StoredInterview],
) -> None:
    for interview in interviews:
        pending = replace(interview, outcome={})
        unfinished = replace(interview, is_finished=False)
        assert pending.is_held_out == unfinished.is_held_out == interview.is_held_out
        assert interview.is_comparable == interview.is_held_out
        assert not pending.is_comparable
        assert not unfinished.is_comparable


def test_a_recorded_probability_is_used(interviewed_folder: Path) -> None:
    store = open_store("memory:")
    source = open_store(f"sqlite:///{interviewed_folder}/answers.db")
    stream = f"interview/{0:032x}"
    for event in source.read(stream)[:2]:
        facts = {**event.facts, "propensity": 0.125} if event.kind == "told" else event.facts
        store.append(stream, event.kind, facts, after=event.number - 1)
    workshop = Workshop(source, interviewed_folder / "workshop")
    (interview,) = read_interviews(store, workshop.catalogue, "people")
    source.close()
    assert interview.propensities == (0.125,)
    assert not interview.is_finished
