"""Records outcomes: one event per interview, many interviews in one transaction.

An interview is named by `name_person`, a hash of its key, because the key is part of the private link.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from eddi.errors import AnswerError, EddiError
from eddi.service.interviews.history import (
    PREFIX,
    Histories,
    History,
    belongs_to,
    interview_stream,
    name_person,
)
from eddi.service.interviews.outcomes.outcome import OUTCOME, Outcome, read_outcome
from eddi.service.interviews.questionnaire import Catalogue
from eddi.store.base import PendingAppend, Store, StoreConflict
from eddi.table.schema import Schema
from eddi.table.variable import Level

BATCH_SIZE = 500  # interviews per transaction
MAX_ATTEMPTS = 8  # to append an event while other requests change the same interview


class PersonNotFoundError(EddiError, LookupError):
    """Nobody of this name has answered."""

    status = 404
    title = "There is no such person"


@dataclass(eq=False)
class OutcomeRequest:
    """An outcome to record and, once processed, what happened.

    Args:
        person: the name of the interview; see `name_person`.
        values: the value of the only target; values by target; or None, which withdraws the outcome.
        outcome: the outcome of the interview now.
        is_stored: whether it was recorded; False if the interview already had it.
        error: why it cannot be recorded.
    """

    person: str
    values: object
    outcome: Outcome | None = field(default=None, init=False)
    is_stored: bool = field(default=False, init=False)
    error: EddiError | None = field(default=None, init=False)
    n_attempts: int = field(default=0, init=False)


class OutcomeRecorder:
    """Records the outcomes of interviews.

    Args:
        store: keeps the events of the interviews.
        catalogue: the questionnaires, whose schemas say which values are possible.
    """

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self.store, self.histories = store, Histories(store, catalogue)

    def record(
        self, questionnaire: str, person: str, values: object, *, by: str, confirm: bool = False
    ) -> OutcomeRequest:
        """Record the outcome of one interview; see `record_all`.

        Raises:
            PersonNotFoundError: nobody of this name has answered this questionnaire.
            AnswerError: the target cannot take this value.
            OutOfRangeError: the value is outside its range and not confirmed.
        """
        request = OutcomeRequest(person, values)
        self.record_all(questionnaire, [request], by=by, confirm=confirm)
        if request.error is not None:
            raise request.error
        return request

    def record_all(
        self,
        questionnaire: str,
        requests: Sequence[OutcomeRequest],
        *,
        by: str,
        confirm: bool = False,
    ) -> None:
        """Record outcomes, and set the result or the error of each request.

        On return everything that has no error is on disk. A request that changes nothing adds no event.

        Args:
            questionnaire: the key of the questionnaire that the interviews belong to.
            requests: the outcomes; of several for the same person the last counts.
            by: who records them.
            confirm: whether values outside their range are known to be correct.
        """
        keys = find_keys(self.store, {request.person for request in requests})
        for request in requests:
            if request.person not in keys:
                request.error = person_not_found(request.person)
        known = [request for request in requests if request.error is None]
        for start in range(0, len(known), BATCH_SIZE):
            waiting = known[start : start + BATCH_SIZE]
            while waiting:
                first, later = _split_by_person(waiting)
                attempts = [_Attempt(request, keys[request.person]) for request in first]
                waiting = [*self._try_all(questionnaire, attempts, by=by, confirm=confirm), *later]

    def _try_all(
        self, questionnaire: str, attempts: Sequence["_Attempt"], *, by: str, confirm: bool
    ) -> list[OutcomeRequest]:
        """Record one outcome per interview; return those that have to be tried again."""
        histories = self.histories.read_all([attempt.key for attempt in attempts])
        for attempt in attempts:
            try:
                attempt.prepare(histories[attempt.key], questionnaire, by=by, confirm=confirm)
            except EddiError as error:
                attempt.request.error = error
        self.store.append_all([item.append for item in attempts if item.append is not None])
        return [attempt.request for attempt in attempts if not attempt.finish()]


@dataclass(eq=False)
class _Attempt:
    """An attempt to record an outcome."""

    request: OutcomeRequest
    key: str
    append: PendingAppend | None = None

    def prepare(
        self, history: History | Exception, questionnaire: str, *, by: str, confirm: bool
    ) -> None:
        if isinstance(history, Exception):
            raise history
        if not belongs_to(history.events, questionnaire):
            raise person_not_found(self.request.person)
        schema, target = history.questionnaire.model.schema, history.record.target
        values = parse_values(self.request.values, schema, target, confirm=confirm)
        before = read_outcome(history.events)
        self.request.outcome = before
        if values != ({} if before is None else before.values):
            stream, facts = interview_stream(self.key), {"values": values, "by": by}
            self.append = PendingAppend(stream, OUTCOME, facts, after=history.version)

    def finish(self) -> bool:
        """Set the result; return False if another writer was first."""
        request = self.request
        if self.append is None:
            return True
        if isinstance(self.append.error, StoreConflict) and request.n_attempts < MAX_ATTEMPTS:
            request.n_attempts += 1
            return False
        if self.append.event is None:
            request.error = self.append.error
            return True
        request.outcome, request.is_stored = read_outcome([self.append.event]), True
        return True


def parse_values(
    values: object, schema: Schema, target: Sequence[str], *, confirm: bool = False
) -> dict[str, Level]:
    """Return the values of an outcome by target variable.

    Raises:
        AnswerError: it is not a target, or the target cannot take this value.
        OutOfRangeError: a value is outside its range and not confirmed.
    """
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        if len(target) != 1:
            names = ", ".join(target)
            raise AnswerError(f"this interview has several targets: {names}. Give a value for each.")
        values = {target[0]: values}
    unknown = [str(name) for name in values if name not in target]
    if unknown:
        raise AnswerError(
            f"{unknown[0][:80]!r} is not a target of this interview. Its target is: {', '.join(target)}."
        )
    given = {str(name): value for name, value in values.items() if value is not None}
    return {
        name: schema[name].answer(schema[name].number(value, confirm=confirm))
        for name, value in given.items()
    }


def find_keys(store: Store, people: Iterable[str]) -> dict[str, str]:
    """Return the keys of the interviews of these people; those who do not exist are left out."""
    wanted = set(people)
    keys = (stream.removeprefix(PREFIX) for stream in store.streams(PREFIX))
    return {name: key for key in keys if (name := name_person(key)) in wanted}


def person_not_found(person: str) -> PersonNotFoundError:
    """Return the error for a name that nobody has."""
    return PersonNotFoundError(
        f"nobody called {person[:40]!r} has answered this questionnaire. The column 'person' of the "
        "exported answers has the names."
    )


def _split_by_person(
    requests: Sequence[OutcomeRequest],
) -> tuple[list[OutcomeRequest], list[OutcomeRequest]]:
    """Return the first request of each person, and all others."""
    first: dict[str, OutcomeRequest] = {}
    for request in requests:
        first.setdefault(request.person, request)
    return list(first.values()), [item for item in requests if first[item.person] is not item]
