"""Analytics of an interview: predictions after each answer, their effects, and what is left to ask."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.interview.interview import Interview, answers_to_evidence
from eddi.interview.record import Answer, Record
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.model.prediction import Prediction
from eddi.strategy.stopping import AllOf, AnyOf, Stop, StoppingRule, max_questions
from eddi.table.evidence import Evidence
from eddi.table.question import Question, Requirement, is_met
from eddi.table.schema import Schema
from eddi.table.variable import Level, Variable

N_SIMULATED = 24  # respondents whose interviews are simulated to estimate the number of questions
MAX_SIMULATED_STEPS = 24  # beyond this, only the maximum number of questions is shown
MAX_SIMULATED_QUESTIONS = 100  # a longer questionnaire would keep its first respondent waiting
N_DRAWS = 512  # of the predictive distribution, for the chart of a quantity


@dataclass(frozen=True)
class Effect:
    """The effect of one answer on the prediction of the first target.

    Args:
        answer: the answer.
        shift: the prediction with the answer minus the one without it: of the mean, or of the
            probability of the level that is now the most likely.
        nats: information of the answer when it was given: KL divergence of the prediction after it from
            the one before.
    """

    answer: Answer
    shift: float
    nats: float


def predictions_over_time(interview: Interview, name: str) -> list[Prediction]:
    """The prediction of ``name`` before any answer, and after each."""
    answers = interview.record.answers
    prefixes = [answers[:n] for n in range(len(answers) + 1)]
    evidence = answers_to_evidence(interview.model, prefixes)
    predictions = interview.model.predict_evidence(evidence, (name,))[name]
    return [predictions[row] for row in range(len(evidence))]


def effects(interview: Interview, over_time: list[Prediction]) -> list[Effect]:
    """The effect of each answer with a value, largest first; see `predictions_over_time`."""
    answers = interview.record.answers
    places = [place for place, answer in enumerate(answers) if answer.values]
    if not places:
        return []
    without = [(*answers[:place], *answers[place + 1 :]) for place in places]
    evidence = answers_to_evidence(interview.model, without)
    name = interview.target[0]
    predictions = interview.model.predict_evidence(evidence, (name,))[name]
    found = [
        Effect(
            answers[place],
            shift(predictions[row], over_time[-1]),
            information(over_time[place], over_time[place + 1]),
        )
        for row, place in enumerate(places)
    ]
    return sorted(found, key=lambda effect: -abs(effect.shift))


def shift(before: Prediction, after: Prediction) -> float:
    """The change of the mean, or of the probability of the level that is most likely after."""
    if before.probabilities is None or after.probabilities is None:
        return float(after.mean - before.mean)
    level = int(after.probabilities.argmax())
    return float(after.probabilities[level] - before.probabilities[level])


def information(before: Prediction, after: Prediction) -> float:
    """KL(after || before) in nats, whose expectation is the reward.

    Predictions of quantities are taken to be normal.
    """
    if before.probabilities is not None and after.probabilities is not None:
        new, old = (np.clip(p, 1e-9, None) for p in (after.probabilities, before.probabilities))
        return max(0.0, float((new * np.log(new / old)).sum()))
    old_sd, new_sd = max(float(before.sd), 1e-9), max(float(after.sd), 1e-9)
    change = float(after.mean - before.mean)
    return math.log(old_sd / new_sd) + (new_sd**2 + change**2) / (2 * old_sd**2) - 0.5


def draw_values(interview: Interview, name: str) -> NDArray[np.float64]:
    """Draws from the present predictive distribution of ``name`` [draws]."""
    model = interview.model
    tables = model.draw_tables(interview.evidence(), N_DRAWS, seed=0)
    return np.asarray(tables[:, 0, model.schema.position(name)])


def max_questions_left(interview: Interview) -> int:
    """The maximum number of questions that can still be asked."""
    rules, record = interview.rules, interview.record
    schema, state = interview.model.schema, interview.state()
    open_ = [
        question
        for place, question in enumerate(schema.questions)
        if not state.closed[0, place]
        and rules.askable[place]
        and not set(question.reveals) <= record.answered_variables()
        and _can_be_asked(question, record, schema)
    ]
    budget_left = rules.stop.budget - float(state.spent[0])
    n_always = sum(question.always for question in open_)
    allowed = max(0.0, max_questions(rules.stop) - record.n_answered)
    affordable = _count_affordable([question.cost for question in open_], budget_left)
    return int(max(min(len(open_), allowed, affordable), n_always))


def may_end_early(rules: InterviewRules) -> bool:
    """Whether interviews differ in length: by predictions, or by prerequisites."""
    questions = rules.model.schema.questions
    if len(questions) > MAX_SIMULATED_QUESTIONS:
        return False
    return _depends_on_prediction(rules.stop) or any(question.requires for question in questions)


def simulate_lengths(rules: InterviewRules) -> NDArray[np.int64]:
    """The number of questions asked of respondents drawn from the model [respondents]."""
    model = rules.model
    empty = Evidence.empty(N_SIMULATED, len(model.schema.variables))
    respondents = model.coding.encode(model.draw_tables(empty, 1, seed=0)[0])
    interviews = SimulatedInterviews(rules, respondents)
    chosen = [step.chosen for step in interviews.run(interviews.n_steps(MAX_SIMULATED_STEPS))]
    return np.asarray((np.array(chosen) >= 0).sum(0))


def estimate_questions_left(lengths: NDArray[np.int64], n_answered: int, maximum: int) -> int:
    """The mean number of further questions of simulated interviews that got this far."""
    longer = lengths[lengths > n_answered]
    estimate = float(longer.mean()) - n_answered if len(longer) else 1.0
    return min(maximum, max(1, round(estimate)))


def _can_be_asked(question: Question, record: Record, schema: Schema) -> bool:
    """Whether a question's prerequisites are met, or can still be met."""
    values = {name: value for answer in record.answers for name, value in answer.values.items()}
    without = {name for answer in record.answers for name in answer.without} - set(values)
    return all(
        _is_met(requirement, schema[name], values[name]) if name in values else name not in without
        for name, requirement in question.requires.items()
    )


def _is_met(requirement: Requirement, variable: Variable, value: Level) -> bool:
    number = np.array([variable.number(value, confirm=True)])
    return bool(is_met(requirement, variable, number)[0])


def _depends_on_prediction(rule: StoppingRule) -> bool:
    if isinstance(rule, AnyOf | AllOf):
        return any(map(_depends_on_prediction, rule.rules))
    is_plain = isinstance(rule, Stop) and rule == Stop(after=rule.after, budget=rule.budget)
    return not is_plain


def _count_affordable(costs: list[float], budget: float) -> int:
    """How many questions a budget buys if the cheapest are asked."""
    return int((np.cumsum(sorted(costs)) <= budget + 1e-9).sum()) if costs else 0
