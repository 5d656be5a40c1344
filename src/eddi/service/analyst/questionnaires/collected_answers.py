"""The answers to a questionnaire: one row per person, and a codebook.

A person is named by a hash of the interview's key. The key itself is secret, because it is part of the
private link, and is never exported.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from eddi.interview.record import NoAnswer, Record
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.interviews.history import (
    PREFIX,
    belongs_to,
    interview_stream,
    name_person,
    replay,
)
from eddi.service.interviews.outcomes.outcome import OUTCOME, Outcome, read_outcome, without_outcomes
from eddi.service.interviews.outcomes.outcome_file import TARGET_PREFIX
from eddi.service.interviews.outcomes.recording import find_keys, person_not_found
from eddi.service.web.texts import Texts
from eddi.store.base import FORGOTTEN, Event, Store
from eddi.table.schema import Schema
from eddi.table.text import format_value
from eddi.table.variable import Level

STREAMS_PER_READ = 1000  # interviews in one snapshot of the store


@dataclass(frozen=True)
class Filters:
    """Which interviews are collected.

    Args:
        version: of the questionnaire; None for all.
        since: first day on which they began (ISO 8601, UTC); empty for no limit.
        until: last day.
        only_finished: whether interviews that were not finished are left out.
    """

    version: int | None = None
    since: str = ""
    until: str = ""
    only_finished: bool = False

    def admits(self, entry: "InterviewEntry") -> bool:
        """Whether an interview has this version and began on these days."""
        day = entry.began_at[:10]
        return (
            self.version in (None, entry.version)
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
        )


@dataclass(frozen=True)
class Person:
    """One interview.

    Args:
        name: a hash of the key.
        version: of the questionnaire.
        began_at: ISO 8601.
        ended_at: of the respondent's last event.
        is_finished: whether the stopping rule was met or no question was left.
        record: the answers.
        seconds: how long each answer took, by question.
        outcome: the true values of the target, if they are known.
    """

    name: str
    version: int
    began_at: str
    ended_at: str
    is_finished: bool
    record: Record
    seconds: dict[str, float]
    outcome: Outcome | None = None


@dataclass(frozen=True)
class InterviewEntry:
    """An interview of a questionnaire, without its answers.

    Args:
        key: of the interview, which is secret.
        version: of the questionnaire.
        model: digest of the model.
        began_at: ISO 8601.
        has_outcome: whether the last event is an outcome that was not withdrawn.
    """

    key: str
    version: int
    model: str
    began_at: str
    has_outcome: bool


def list_interviews(
    store: Store, questionnaire: PublishedQuestionnaire, filters: Filters
) -> list[InterviewEntry]:
    """Return the interviews of a questionnaire, oldest first, whether they are finished or not.

    Two events per interview are read: 100,000 interviews take about three seconds.
    """
    found = []
    for first, last in store.read_ends(PREFIX):
        if belongs_to([first], questionnaire.key):
            entry = InterviewEntry(
                key=first.stream.removeprefix(PREFIX),
                version=int(first.facts["version"]),
                model=str(first.facts["model"]),
                began_at=first.at,
                has_outcome=last.kind == OUTCOME and bool(last.facts["values"]),
            )
            if filters.admits(entry):
                found.append(entry)
    return sorted(found, key=lambda entry: entry.began_at)


def sample(entries: Sequence[InterviewEntry], n: int) -> list[InterviewEntry]:
    """Return ``n`` random interviews in the same order, or all of them if there are fewer.

    The names of people are hashes, so the smallest ones are a random sample. It does not change from one
    page to the next, except for new interviews.
    """
    if len(entries) <= n:
        return list(entries)
    chosen = sorted(name_person(entry.key) for entry in entries)[:n]
    return [entry for entry in entries if name_person(entry.key) <= chosen[-1]]


def read_people(
    store: Store, entries: Sequence[InterviewEntry], *, only_finished: bool = False
) -> list[Person]:
    """Return the interviews with their answers; those that were deleted meanwhile are left out."""
    people = []
    for start in range(0, len(entries), STREAMS_PER_READ):
        keys = [entry.key for entry in entries[start : start + STREAMS_PER_READ]]
        events = store.read_all([interview_stream(key) for key in keys])
        present = [key for key in keys if events[interview_stream(key)][-1].kind != FORGOTTEN]
        people += [read_person(key, events[interview_stream(key)]) for key in present]
    return [person for person in people if person.is_finished or not only_finished]


def collect(store: Store, questionnaire: PublishedQuestionnaire, filters: Filters) -> list[Person]:
    """Return the interviews of a questionnaire with their answers, oldest first."""
    entries = list_interviews(store, questionnaire, filters)
    return read_people(store, entries, only_finished=filters.only_finished)


def find_person(store: Store, questionnaire: PublishedQuestionnaire, name: str) -> tuple[str, Person]:
    """Return the key of a person's interview, and the interview.

    Raises:
        PersonNotFoundError: nobody of this name has answered.
    """
    key = find_keys(store, [name]).get(name)
    events = [] if key is None else store.read(interview_stream(key))
    if key is None or events[-1].kind == FORGOTTEN or not belongs_to(events, questionnaire.key):
        raise person_not_found(name)
    return key, read_person(key, events)


def make_table(people: Sequence[Person], schema: Schema) -> pa.Table:
    """Return one row per person: dates, counts, and the value of each variable."""
    columns: dict[str, list[object]] = {
        "person": [person.name for person in people],
        "version": [person.version for person in people],
        "began": [person.began_at for person in people],
        "last change": [person.ended_at for person in people],
        "finished": [person.is_finished for person in people],
        "answers": [person.record.n_answered for person in people],
    }
    values = [_values(person.record) for person in people]
    for variable in schema.variables:
        cells = [row.get(variable.name) for row in values]
        if variable.kind.has_levels:
            cells = [None if cell is None else format_value(cell) for cell in cells]
        else:
            cells = [None if cell is None else float(str(cell)) for cell in cells]
        columns[_column_name(variable.name, columns)] = cells
    columns |= _outcome_columns(people, columns)
    for reason in NoAnswer:
        columns[_column_name(str(reason), columns)] = [
            "; ".join(_without(person.record, reason)) for person in people
        ]
    return pa.table(columns)


def _outcome_columns(
    people: Sequence[Person], columns: Mapping[str, list[object]]
) -> dict[str, list[object]]:
    """Return the true values of the target: one column, or one for each of several targets."""
    names = list(dict.fromkeys(name for person in people for name in person.record.target))
    titles = ["outcome"] if len(names) <= 1 else [f"{TARGET_PREFIX}{name}" for name in names]
    known = [{} if person.outcome is None else person.outcome.values for person in people]
    cells = ([_format_cell(values.get(name)) for values in known] for name in names or [""])
    return {_column_name(title, columns): column for title, column in zip(titles, cells, strict=True)}


def _format_cell(value: Level | None) -> object:
    return None if value is None else format_value(value)


def make_codebook(schema: Schema, texts: Texts) -> pa.Table:
    """Return one row per variable and level: question, name, unit and labels."""
    questions = {name: question for question in schema.questions for name in question.reveals}
    rows = []
    for variable in schema.variables:
        question = texts.question(questions[variable.name]) if variable.name in questions else ""
        common = (variable.name, texts.name(variable), question, str(variable.kind), variable.unit)
        levels = [(str(level), texts.level(variable, level)) for level in variable.levels]
        rows += [(*common, level, label) for level, label in levels or [("", "")]]
    names = ("variable", "name", "question", "kind", "unit", "level", "label")
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def read_person(key: str, events: Sequence[Event]) -> Person:
    """Return the interview that consists of these events."""
    own = without_outcomes(events)
    return Person(
        name=name_person(key),
        version=int(own[0].facts["version"]),
        began_at=own[0].at,
        ended_at=own[-1].at,
        is_finished=own[-1].kind == "closed",
        record=replay(key, own),
        seconds=_measure_seconds(own),
        outcome=read_outcome(events),
    )


def _measure_seconds(events: Sequence[Event]) -> dict[str, float]:
    """Return the time between each answer and the event before it, by question."""
    seconds = {}
    for before, event in itertools.pairwise(events):
        if event.kind == "told":
            elapsed = datetime.fromisoformat(event.at) - datetime.fromisoformat(before.at)
            seconds[str(event.facts["question"])] = elapsed.total_seconds()
    return seconds


def _values(record: Record) -> dict[str, object]:
    return {name: value for answer in record.answers for name, value in answer.values.items()}


def _without(record: Record, reason: NoAnswer) -> list[str]:
    reasons = [item for answer in record.answers for item in answer.without.items()]
    return [name for name, why in reasons if why is reason]


def _column_name(name: str, columns: Mapping[str, list[object]]) -> str:
    """Return a name that no other column has."""
    return name if name not in columns else _column_name(f"{name} ", columns)
