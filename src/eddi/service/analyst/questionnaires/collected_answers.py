"""The answers to a questionnaire: one row per person, a codebook, and how interviews went.

A person is named by a hash of the interview's key. The key itself is secret, because it is part of the
private link, and is never exported.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

import pyarrow as pa

from eddi.interview.record import NoAnswer, Record
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.questionnaires.raw_names import asked_questions
from eddi.service.interviews.history import (
    PREFIX,
    belongs_to,
    interview_stream,
    name_person,
    replay,
)
from eddi.service.interviews.outcomes.outcome import Outcome, read_outcome, without_outcomes
from eddi.service.interviews.outcomes.outcome_file import TARGET_PREFIX
from eddi.service.interviews.outcomes.recording import find_keys, person_not_found
from eddi.service.web.texts import Texts
from eddi.store.base import FORGOTTEN, Event, Store
from eddi.table.schema import Schema
from eddi.table.text import format_value
from eddi.table.variable import Level


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

    def admits(self, person: "Person") -> bool:
        """Whether an interview is collected."""
        day = person.began_at[:10]
        return (
            self.version in (None, person.version)
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
            and (person.is_finished or not self.only_finished)
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
class QuestionSummary:
    """How people answered one question."""

    name: str
    n_answered: int
    n_unknown: int
    n_declined: int
    median_seconds: float | None


@dataclass(frozen=True)
class Summary:
    """How the interviews of a questionnaire went.

    Args:
        n_started: interviews that began.
        n_finished: those that ended.
        n_questions: how many questions can be asked.
        mean_answers: mean number of answers of finished interviews.
        drop_off: unfinished interviews by their number of answers.
        questions: by question, most often asked first.
    """

    n_started: int
    n_finished: int
    n_questions: int
    mean_answers: float | None
    drop_off: dict[int, int]
    questions: list[QuestionSummary]

    @property
    def saved_share(self) -> float | None:
        """The share of questions that finished interviews did not need."""
        if self.mean_answers is None or not self.n_questions:
            return None
        return max(0.0, 1 - self.mean_answers / self.n_questions)


def collect(store: Store, questionnaire: PublishedQuestionnaire, filters: Filters) -> list[Person]:
    """Return the interviews of a questionnaire, oldest first."""
    found = []
    for stream in store.streams(PREFIX):
        events = store.read(stream)
        if events[-1].kind == FORGOTTEN or not belongs_to(events, questionnaire.key):
            continue
        person = read_person(stream.removeprefix(PREFIX), events)
        if filters.admits(person):
            found.append(person)
    return sorted(found, key=lambda person: person.began_at)


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


def summarize(people: Sequence[Person], schema: Schema, target: Sequence[str]) -> Summary:
    """Return how the interviews went."""
    finished = [person.record.n_answered for person in people if person.is_finished]
    unfinished = Counter(len(p.record.answers) for p in people if not p.is_finished)
    summaries = [_summarize_question(name, people) for name in _asked_names(people)]
    return Summary(
        n_started=len(people),
        n_finished=len(finished),
        n_questions=len(asked_questions(schema, target)),
        mean_answers=sum(finished) / len(finished) if finished else None,
        drop_off=dict(sorted(unfinished.items())),
        questions=summaries,
    )


def _asked_names(people: Iterable[Person]) -> list[str]:
    counts = Counter(answer.question for person in people for answer in person.record.answers)
    return [name for name, _ in counts.most_common()]


def _summarize_question(name: str, people: Sequence[Person]) -> QuestionSummary:
    answers = [a for person in people for a in person.record.answers if a.question == name]
    empty = [set(answer.without.values()) for answer in answers if not answer.values]
    seconds = [person.seconds[name] for person in people if name in person.seconds]
    return QuestionSummary(
        name,
        n_answered=sum(bool(answer.values) for answer in answers),
        n_unknown=sum(NoAnswer.UNKNOWN in reasons for reasons in empty),
        n_declined=sum(reasons == {NoAnswer.DECLINED} for reasons in empty),
        median_seconds=median(seconds) if seconds else None,
    )


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
