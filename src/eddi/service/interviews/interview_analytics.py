"""How an interview went and may go on: beliefs after each answer, what moved them, what is left."""

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.interview.explanation import Explanation, explain
from eddi.interview.interview import Interview
from eddi.interview.record import Answer, Record
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.prediction import Prediction
from eddi.strategy.stopping import AllOf, AnyOf, Stop, StoppingRule
from eddi.table.evidence import Evidence
from eddi.table.question import Question

N_IMAGINED = 24  # respondents whose interviews are played to say about how many questions there are
MAX_REHEARSED = 24  # questions; whoever needs more is told the most only
MAX_QUESTIONS_REHEARSED = 100  # a longer questionnaire would keep its first respondent waiting
N_DRAWS = 512  # of the belief, behind the picture of a quantity


@dataclass(frozen=True)
class Effect:
    """What one answer did to the belief about the first target.

    Args:
        answer: the answer.
        shift: the prediction with it less the prediction without it: of the mean, or of the
            probability of the level that is now the likeliest.
        nats: what it told when it came: how far the belief after it is from the belief before.
    """

    answer: Answer
    shift: float
    nats: float


def beliefs(interview: Interview, name: str) -> list[Prediction]:
    """What was believed about ``name`` before any answer, and after each."""
    rows = _rows(interview, _prefixes(interview.record))
    predictions = interview.model.predict_evidence(rows, (name,))[name]
    return [predictions[row] for row in range(len(rows))]


def effects(interview: Interview, after: list[Prediction]) -> list[Effect]:
    """What each answer with a value did, the greatest mover first; ``after`` as `beliefs` gave it."""
    answers = interview.record.answers
    spoken = [place for place, answer in enumerate(answers) if answer.values]
    if not spoken:
        return []
    rows = _rows(interview, [(*answers[:place], *answers[place + 1 :]) for place in spoken])
    name = interview.target[0]
    without = interview.model.predict_evidence(rows, (name,))[name]
    found = [
        Effect(
            answers[place],
            shift(without[row], after[-1]),
            told(after[place], after[place + 1]),
        )
        for row, place in enumerate(spoken)
    ]
    return sorted(found, key=lambda effect: -abs(effect.shift))


def shift(before: Prediction, after: Prediction) -> float:
    """How far the mean, or the probability of the level that is likeliest after, has moved."""
    if before.probabilities is None or after.probabilities is None:
        return float(after.mean - before.mean)
    likeliest = int(after.probabilities.argmax())
    return float(after.probabilities[likeliest] - before.probabilities[likeliest])


def told(before: Prediction, after: Prediction) -> float:
    """Nats from one belief to the next: KL(after | before), whose expectation is the reward.

    Quantities are taken as normal with their mean and sd.
    """
    if before.probabilities is not None and after.probabilities is not None:
        new, old = (
            np.clip(chances, 1e-9, None) for chances in (after.probabilities, before.probabilities)
        )
        return max(0.0, float((new * np.log(new / old)).sum()))
    old_sd, new_sd = max(float(before.sd), 1e-9), max(float(after.sd), 1e-9)
    moved = float(after.mean - before.mean)
    return math.log(old_sd / new_sd) + (new_sd**2 + moved**2) / (2 * old_sd**2) - 0.5


def draws(interview: Interview, name: str) -> NDArray[np.float64]:
    """Values of ``name`` as likely as they are believed to be now [draws]."""
    model = interview.model
    tables = model.draw_tables(interview.evidence(), N_DRAWS, seed=0)
    return np.asarray(tables[:, 0, model.schema_.position(name)])


def next_question(interview: Interview, aside: Collection[str]) -> Question | None:
    """The next question, those put aside only once nothing else is worth asking."""
    questions = interview.model.schema_.questions
    closed = _closed(interview)
    put_off = np.array([[question.name in aside for question in questions]])
    for shut in (closed | put_off, closed):
        n_asked = np.array([len(interview.record.answers)])
        chosen = interview.turns.next(interview.evidence(), shut, n_asked, spent=_spent(interview))
        if chosen[0] >= 0:
            return questions[int(chosen[0])]
    return None


def why(interview: Interview, question: Question) -> Explanation:
    """Why ``question`` is the next one: `Interview.explain`, for whatever question is shown."""
    rewards = interview.rewards()
    worth = {question.name: 0.0, **rewards}
    rivals = [name for name in rewards if name != question.name]
    return explain(
        interview.model, interview.evidence(), interview.target, question, rivals[:1], rewards=worth
    )


def most_left(interview: Interview) -> int:
    """How many questions can still be asked at the very most."""
    schema, record = interview.model.schema_, interview.record
    closed = _closed(interview)[0]
    open_ = [
        question
        for place, question in enumerate(schema.questions)
        if not closed[place]
        and not set(question.reveals) & set(interview.target)
        and not set(question.reveals) <= record.known()
        and _possible(question, record)
    ]
    rule = interview.turns.stop
    left = rule.budget - float(_spent(interview)[0])
    n_always = sum(question.always for question in open_)
    allowed = max(0.0, _most_answers(rule) - len(record.answers))
    most = min(len(open_), allowed, _affordable([question.cost for question in open_], left))
    return int(max(most, n_always))


def ends_early(turns: InterviewRules) -> bool:
    """Whether some respondents are asked less than the most: by what is believed, or prerequisites."""
    questions = turns.model.schema_.questions
    if len(questions) > MAX_QUESTIONS_REHEARSED:
        return False
    return _heeds_belief(turns.stop) or any(question.requires for question in questions)


def lengths(turns: InterviewRules) -> NDArray[np.int64]:
    """How many questions some imagined respondents, drawn from the model, would be asked [people]."""
    model = turns.model
    nothing = Evidence.empty(N_IMAGINED, len(model.schema_.variables))
    people = model.coding_.encode(model.draw_tables(nothing, 1, seed=0)[0])
    rehearsal = SimulatedInterviews(turns, people)
    chosen = [turn.chosen for turn in rehearsal.play(rehearsal.n_steps(MAX_REHEARSED))]
    return np.asarray((np.array(chosen) >= 0).sum(0))


def about_left(lengths: NDArray[np.int64], n_told: int, most: int) -> int:
    """How many more questions those imagined respondents needed who had come as far."""
    longer = lengths[lengths > n_told]
    about = float(longer.mean()) - n_told if len(longer) else 1.0
    return min(most, max(1, round(about)))


def _prefixes(record: Record) -> list[tuple[Answer, ...]]:
    return [record.answers[:n] for n in range(len(record.answers) + 1)]


def _rows(interview: Interview, told: list[tuple[Answer, ...]]) -> Evidence:
    """A row of evidence for each set of answers."""
    schema = interview.model.schema_
    numbers = np.full((len(told), len(schema.variables)), np.nan)
    for row, answers in enumerate(told):
        for answer in answers:
            for name, value in answer.values.items():
                numbers[row, schema.position(name)] = schema[name].number(value)
    return interview.model.coding_.encode(numbers)


def _closed(interview: Interview) -> NDArray[np.bool_]:
    told, declined = interview.record.closed(), interview.record.declined()
    questions = interview.model.schema_.questions
    return np.array([[q.name in told or declined >= set(q.reveals) for q in questions]], dtype=bool)


def _spent(interview: Interview) -> NDArray[np.float64]:
    told = interview.record.closed()
    return np.array([sum(q.cost for q in interview.model.schema_.questions if q.name in told)])


def _possible(question: Question, record: Record) -> bool:
    """Whether a question's prerequisites are met, or may be met yet."""
    values = {name: value for answer in record.answers for name, value in answer.values.items()}
    silent = {name for answer in record.answers for name in answer.without} - set(values)
    return all(
        (name in values and str(values[name]) in map(str, levels))
        or (name not in values and name not in silent)
        for name, levels in question.requires.items()
    )


def _heeds_belief(rule: StoppingRule) -> bool:
    if isinstance(rule, AnyOf | AllOf):
        return any(map(_heeds_belief, rule.rules))
    plain = isinstance(rule, Stop) and rule == Stop(after=rule.after, budget=rule.budget)
    return not plain


def _most_answers(rule: StoppingRule) -> float:
    """After how many answers a rule ends an interview for certain."""
    if isinstance(rule, AnyOf):
        return min(map(_most_answers, rule.rules))
    if isinstance(rule, AllOf):
        return max(map(_most_answers, rule.rules))
    after = rule.after if isinstance(rule, Stop) else None
    return math.inf if after is None else float(after)


def _affordable(costs: list[float], left: float) -> int:
    """How many questions the money left can buy, were the cheapest asked."""
    return int((np.cumsum(sorted(costs)) <= left + 1e-9).sum()) if costs else 0
