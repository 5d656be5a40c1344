"""How interviews went: finished, answers, savings, time and drop-off, in total and by question."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import mean, median

from eddi.interview.record import Answer, NoAnswer
from eddi.service.analyst.questionnaires.collected_answers import Person
from eddi.service.analyst.questionnaires.raw_names import asked_questions
from eddi.table.schema import Schema


@dataclass(frozen=True)
class QuestionSummary:
    """How people answered one question.

    Args:
        name: of the question.
        n_answered: answers with a value.
        n_unknown: people who did not know.
        n_declined: people who declined.
        n_last: unfinished interviews that stopped right after it.
        median_seconds: between the question and its answer; None if nobody answered.
    """

    name: str
    n_answered: int
    n_unknown: int
    n_declined: int
    n_last: int
    median_seconds: float | None

    @property
    def n_asked(self) -> int:
        """How many people answered, with or without a value."""
        return self.n_answered + self.n_unknown + self.n_declined


@dataclass(frozen=True)
class Summary:
    """How the interviews of a questionnaire went.

    Args:
        n_interviews: all interviews.
        n_finished: those that ended.
        n_questions: how many questions can be asked.
        mean_answers: mean number of answers of finished interviews; None if there are none.
        saved_cost: share of the costs of all questions that finished interviews did not need; None if all
            questions cost the same.
        median_minutes: between the start and the end of finished interviews.
        drop_off: unfinished interviews by their number of answers.
        questions: by question, most often asked first.
    """

    n_interviews: int
    n_finished: int
    n_questions: int
    mean_answers: float | None
    saved_cost: float | None
    median_minutes: float | None
    drop_off: dict[int, int]
    questions: list[QuestionSummary]

    @property
    def saved_share(self) -> float | None:
        """The share of questions that finished interviews did not need."""
        if self.mean_answers is None or not self.n_questions:
            return None
        return max(0.0, 1 - self.mean_answers / self.n_questions)


@dataclass
class _Counts:
    n_answered: int = 0
    n_unknown: int = 0
    n_declined: int = 0
    n_last: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        reasons = set(answer.without.values())
        self.n_answered += bool(answer.values)
        self.n_unknown += not answer.values and NoAnswer.UNKNOWN in reasons
        self.n_declined += not answer.values and reasons == {NoAnswer.DECLINED}


def summarize(people: Sequence[Person], schema: Schema, target: Sequence[str]) -> Summary:
    """Return how the interviews went."""
    finished = [person for person in people if person.is_finished]
    unfinished = Counter(len(p.record.answers) for p in people if not p.is_finished)
    n_answers = [person.record.n_answered for person in finished]
    minutes = [_measure_minutes(person) for person in finished]
    return Summary(
        n_interviews=len(people),
        n_finished=len(finished),
        n_questions=len(asked_questions(schema, target)),
        mean_answers=mean(n_answers) if finished else None,
        saved_cost=_saved_cost(finished, schema, target),
        median_minutes=median(minutes) if finished else None,
        drop_off=dict(sorted(unfinished.items())),
        questions=_summarize_questions(people),
    )


def _summarize_questions(people: Sequence[Person]) -> list[QuestionSummary]:
    counts: dict[str, _Counts] = defaultdict(_Counts)
    for person in people:
        for answer in person.record.answers:
            counts[answer.question].add(answer)
            if answer.question in person.seconds:
                counts[answer.question].seconds.append(person.seconds[answer.question])
        if person.record.answers and not person.is_finished:
            counts[person.record.answers[-1].question].n_last += 1
    found = [
        QuestionSummary(
            name,
            item.n_answered,
            item.n_unknown,
            item.n_declined,
            item.n_last,
            median(item.seconds) if item.seconds else None,
        )
        for name, item in counts.items()
    ]
    return sorted(found, key=lambda question: -question.n_asked)


def _saved_cost(finished: Sequence[Person], schema: Schema, target: Sequence[str]) -> float | None:
    costs = {question.name: question.cost for question in asked_questions(schema, target)}
    if not finished or len(set(costs.values())) < 2:
        return None
    spent = (
        sum(costs.get(answer.question, 0.0) for answer in person.record.answers) for person in finished
    )
    return max(0.0, 1 - mean(spent) / sum(costs.values()))


def _measure_minutes(person: Person) -> float:
    elapsed = datetime.fromisoformat(person.ended_at) - datetime.fromisoformat(person.began_at)
    return elapsed.total_seconds() / 60
