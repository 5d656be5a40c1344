"""Analytics of an interview for its pages: draws of the prediction, and how much is left to ask."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from eddi.interview.interview import Interview
from eddi.interview.record import Record
from eddi.interview.rules import InterviewRules
from eddi.interview.simulated import SimulatedInterviews
from eddi.strategy.stopping import AllOf, AnyOf, Stop, StoppingRule, max_questions
from eddi.table.evidence import Evidence
from eddi.table.question import Question, Requirement, is_met
from eddi.table.schema import Schema
from eddi.table.variable import Level, Variable

N_SIMULATED = 24  # respondents whose interviews are simulated to estimate the number of questions
MAX_SIMULATED_STEPS = 24  # beyond this, only the maximum number of questions is shown
MAX_SIMULATED_QUESTIONS = 100  # a longer questionnaire would keep its first respondent waiting
N_DRAWS = 512  # of the predictive distribution, for the chart of a quantity


def draw_values(interview: Interview, name: str) -> NDArray[np.float64]:
    """Draws from the present predictive distribution of ``name`` [draws]."""
    model = interview.model
    tables = model.draw_tables(interview.evidence(), N_DRAWS, seed=0)
    return np.asarray(tables[:, 0, model.schema.position(name)])


def max_questions_left(interview: Interview, deferred: Collection[str] = ()) -> int:
    """The maximum number of questions that can still be asked, with those that were put off."""
    rules, record = interview.rules, interview.record
    schema, state = interview.model.schema, interview.state()
    places = [
        place
        for place, question in enumerate(schema.questions)
        if not state.closed[0, place]
        and rules.askable[place]
        and not set(question.reveals) <= record.answered_variables()
        and _can_be_asked(question, record, schema)
    ]
    open_ = [schema.questions[place] for place in places]
    budget_left = rules.stop.budget - float(state.spent[0])
    n_always = sum(question.always for question in open_)
    is_deferred = np.array([question.name in deferred for question in schema.questions])
    n_last = int((rules.may_follow_end | rules.always | is_deferred)[places].sum())  # after the end, too
    by_rule = max(0.0, max_questions(rules.stop) - record.n_answered)
    allowed = min(by_rule, len(open_) - n_last) + n_last
    affordable = _count_affordable([question.cost for question in open_], budget_left)
    return int(max(min(allowed, affordable), n_always))


def may_end_early(rules: InterviewRules) -> bool:
    """Whether interviews differ in length: by predictions, by prerequisites, or by exploration."""
    questions = rules.model.schema.questions
    if len(questions) > MAX_SIMULATED_QUESTIONS:
        return False
    if any(question.requires for question in questions):
        return True
    may_differ = _depends_on_prediction(rules.stop) or bool(rules.may_follow_end.any())
    return may_differ and not rules.explores_all


def simulate_lengths(rules: InterviewRules) -> NDArray[np.int64]:
    """The number of questions asked of respondents drawn from the model [respondents]."""
    model = rules.model
    empty = Evidence.empty(N_SIMULATED, len(model.schema.variables))
    respondents = model.coding.encode(model.draw_tables(empty, 1, seed=0)[0])
    interviews = SimulatedInterviews(rules, respondents)
    chosen = [step.chosen for step in interviews.run(interviews.n_steps(MAX_SIMULATED_STEPS))]
    return np.asarray((np.array(chosen) >= 0).sum(0))


def estimate_questions_left(lengths: NDArray[np.int64], n_answered: int, maximum: int) -> int:
    """The mean number of further questions of simulated interviews that got this far.

    It is the maximum if some of them went on when their simulation ended.
    """
    longer = lengths[lengths > n_answered]
    if (longer >= MAX_SIMULATED_STEPS).any():
        return maximum
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
