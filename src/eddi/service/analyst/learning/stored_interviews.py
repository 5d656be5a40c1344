"""The stored interviews of a questionnaire, with the rules that led them and their outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from eddi.interview.record import Record
from eddi.interview.rules import InterviewRules
from eddi.service.errors import QuestionnaireMissingError
from eddi.service.interviews.history import PREFIX, Histories, History, belongs_to, name_person
from eddi.service.interviews.outcomes.outcome import read_outcome, without_outcomes
from eddi.service.interviews.questionnaire import Catalogue
from eddi.store.base import FORGOTTEN, Store
from eddi.table.variable import Level

N_PARTS = 10
N_HELD_OUT_PARTS = 3  # of these parts of the persons, for the comparison of models


@dataclass(frozen=True, eq=False)
class StoredInterview:
    """One interview.

    Args:
        person: a hash of its key.
        record: the answers.
        rules: that led it, with exploration.
        propensities: probability with which the question of each answer was chosen; None if the answer was
            volunteered.
        outcome: the true values of the target, as far as they are known.
        is_finished: whether the stopping rule was met or no question was left.
    """

    person: str
    record: Record
    rules: InterviewRules
    propensities: tuple[float | None, ...]
    outcome: Mapping[str, Level]
    is_finished: bool

    @property
    def is_held_out(self) -> bool:
        """Whether it is never trained on, so that models can be compared on it.

        A hash of the interview's key alone decides. It is not used at all until it is finished and its
        outcome is known: a model that was trained on it in the meantime would be judged too favourably.
        """
        return int(self.person, 16) % N_PARTS < N_HELD_OUT_PARTS

    @property
    def is_comparable(self) -> bool:
        """Whether models can be compared on it now."""
        return self.is_held_out and self.is_finished and bool(self.outcome)


def read_interviews(store: Store, catalogue: Catalogue, questionnaire: str) -> list[StoredInterview]:
    """Return the interviews of the questionnaire with this key, ordered by person.

    Interviews whose model is not available are left out.
    """
    found = list(_iter_interviews(store, Histories(store, catalogue), questionnaire))
    return sorted(found, key=lambda interview: interview.person)


def _iter_interviews(
    store: Store, histories: Histories, questionnaire: str
) -> Iterator[StoredInterview]:
    for stream in store.streams(PREFIX):
        events = store.read(stream)
        if events[-1].kind == FORGOTTEN or not belongs_to(events, questionnaire):
            continue
        key, own_events = stream.removeprefix(PREFIX), without_outcomes(events)
        try:
            history = histories.build(key, own_events)
        except QuestionnaireMissingError:
            continue
        outcome = read_outcome(events)
        yield StoredInterview(
            person=name_person(key),
            record=history.record,
            rules=history.interview().rules,
            propensities=_find_propensities(history),
            outcome={} if outcome is None else outcome.values,
            is_finished=own_events[-1].kind == "closed",
        )


def _find_propensities(history: History) -> tuple[float | None, ...]:
    """Return the recorded probabilities; those that were not recorded follow from the rules."""
    answers = history.record.answers
    recorded = [answer.propensity for answer in answers]
    computed: Sequence[float] = ()
    if None in recorded:
        computed = history.interview().propensities()
    return tuple(
        value if value is not None else (computed[place] or None) for place, value in enumerate(recorded)
    )
