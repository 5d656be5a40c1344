"""The context of each respondent page: what its template shows of an interview."""

from dataclasses import dataclass
from typing import Any

from eddi.interview.effects import measure_effects, predictions_over_time
from eddi.interview.explanation import explain
from eddi.interview.interview import Interview
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.web import prediction_charts, wording
from eddi.service.web.answer_form import FormField, FormInput, build_fields
from eddi.service.web.formatting import capitalize, format_information, format_level
from eddi.service.web.prediction_charts import DensityChart
from eddi.service.web.svg import Bar
from eddi.strategy.per_cost import PerCost
from eddi.table.question import Question

DEFERRED_NOTICE = "You put this question off until now. No other question is left."
MAX_ALTERNATIVES = 5  # questions whose expected information is compared

Context = dict[str, Any]


@dataclass(frozen=True)
class PredictionView:
    """A prediction in words, with a density chart for a quantity or bars for levels."""

    text: wording.PredictionText
    density: DensityChart | None
    bars: list[Bar]


@dataclass(frozen=True)
class EffectView:
    """The effect of one answer.

    Args:
        answer: in words.
        percent: the shift relative to the largest one, from -50 to 50.
        shift: of the prediction.
        information: of the answer when it was given.
    """

    answer: wording.AnswerText
    percent: float
    shift: str
    information: str


def base_context(view: InterviewView, active_page: str) -> Context:
    """Return the context of the header and footer of every page of an interview."""
    return {
        "name": site_name(view.interview.target),
        "key": view.key,
        "active_page": active_page,
        "n_answers": len(view.interview.record.answers),
        "version": view.version,
    }


def site_name(target: tuple[str, ...]) -> str:
    """Return the name of a questionnaire about these targets, for the header."""
    return capitalize(" and ".join(target))


def question_page(
    view: InterviewView, question: Question, form_input: FormInput | None, *, deferred: set[str]
) -> Context:
    """Return the context of the page that asks a question."""
    interview = view.interview
    n_answers = len(interview.record.answers)
    fields = build_fields(
        question,
        interview.model.schema,
        answered=interview.record.answered_variables(),
        form_input=form_input,
    )
    return {
        **base_context(view, "question"),
        **_prediction_panel(interview),
        **_form_context(question, fields),
        "title": f"Question {n_answers + 1}: {question.title}",
        "eyebrow": f"Question {n_answers + 1}",
        "action": f"/i/{view.key}",
        "is_change": False,
        # At the end of the interview, only questions that were put off are left.
        "can_defer": bool((deferred if view.question is None else set(view.rewards)) - {question.name}),
        "back": f"/i/{view.key}/change/{n_answers}" if n_answers else "",
        "notice": DEFERRED_NOTICE if question.name in deferred else "",
    }


def change_page(view: InterviewView, place: int, form_input: FormInput | None = None) -> Context:
    """Return the context of the page that changes an answer; ``place`` counts from 1."""
    interview = view.interview
    schema, answers = interview.model.schema, interview.record.answers
    answer = answers[place - 1]
    question = find_question(interview, answer)
    fields = build_fields(
        question,
        schema,
        answered=variables_of_other_answers(interview, answer),
        form_input=form_input or FormInput.from_answer(answer, schema),
    )
    given = wording.describe_answer(answer, schema)
    return {
        **base_context(view, "answers"),
        **_prediction_panel(interview),
        **_form_context(question, fields),
        "title": f"Change: {question.title}",
        "eyebrow": f"Your answer {place} of {len(answers)}",
        "action": f"/i/{view.key}/change/{place}",
        "is_change": True,
        "can_defer": False,
        "back": f"/i/{view.key}/change/{place - 1}" if place > 1 else "",
        "notice": f"Your answer was: {given}. Your other answers stay.",
        "questions_left": "",
    }


def why_page(view: InterviewView, question: Question) -> Context:
    """Return the context of the page that explains why a question is asked."""
    interview = view.interview
    explanation = explain(
        interview.model,
        interview.evidence(),
        interview.target,
        view.step,
        question=question,
        per_cost=isinstance(interview.rules.strategy, PerCost),
    )
    assert explanation is not None  # noqa: S101  # there is a question
    decimals = wording.count_decimals([view.prediction])
    return {
        **base_context(view, "question"),
        "title": f"Why: {question.title}",
        "question": question,
        "sentences": wording.explain_question(explanation, interview.model.schema, decimals),
        "alternatives": _compare_questions(view, question),
    }


def answers_page(view: InterviewView) -> Context:
    """Return the context of the page that lists all answers."""
    schema = view.interview.model.schema
    answers = [
        {"text": wording.describe_answer(answer, schema), "link": f"/i/{view.key}/change/{place}"}
        for place, answer in enumerate(view.interview.record.answers, start=1)
    ]
    return {
        **base_context(view, "answers"),
        "title": "Your answers so far",
        "answers": answers,
        "is_over": view.question is None,
    }


def result_page(view: InterviewView, *, link: str, today: str) -> Context:
    """Return the context of the page with the result."""
    interview = view.interview
    over_time = _predictions_by_target(interview)
    first_target = over_time[interview.target[0]]
    decimals = wording.count_decimals(first_target)
    is_over = view.question is None
    cause = "Your answer" if len(first_target) == 2 else "Your answers"
    return {
        **base_context(view, "result"),
        "title": f"Result: {site_name(interview.target)}",
        "eyebrow": "That is enough, thank you" if is_over else "The result so far",
        "heading": "Our estimate now",
        "predictions": _prediction_views(interview, over_time),
        "change": wording.describe_change(first_target[0], first_target[-1], decimals, cause=cause),
        "effects": _effect_views(interview, first_target, decimals),
        "shifted": _describe_shifted(first_target[-1]),
        "history": prediction_charts.history_chart(first_target, decimals=decimals),
        "link": link,
        "is_over": is_over,
        "today": today,
        "answers_text": wording.count_answers(len(interview.record.answers)),
    }


def forget_page(view: InterviewView) -> Context:
    """Return the context of the page that asks whether to forget an interview."""
    return {
        **base_context(view, ""),
        "title": "Forget your answers?",
        "answers_text": wording.count_answers(len(view.interview.record.answers)),
    }


def message_page(
    heading: str, paragraphs: list[str], *, link: str = "/", link_text: str = "Go to the start"
) -> Context:
    """Return the context of a page with a message and a link."""
    return {
        "name": "Questionnaire",
        "key": "",
        "title": heading,
        "heading": heading,
        "paragraphs": paragraphs,
        "link": link,
        "link_text": link_text,
    }


def find_question(interview: Interview, answer: Answer) -> Question:
    """Return the question of an answer; for a variable that was answered by its name, a new one."""
    for question in interview.model.schema.questions:
        if question.name == answer.question:
            return question
    return Question(answer.question, (answer.question,))


def variables_of_other_answers(interview: Interview, answer: Answer) -> set[str]:
    """Return the variables that have a value from another answer only."""
    others = (other for other in interview.record.answers if other is not answer)
    names = {name for other in others for name in other.values}
    return names - set(answer.values) - set(answer.without)


def _predictions_by_target(interview: Interview) -> dict[str, list[Prediction]]:
    return {name: predictions_over_time(interview, name) for name in interview.target}


def _prediction_panel(interview: Interview) -> Context:
    """Return the context of the panel with the present predictions."""
    over_time = _predictions_by_target(interview)
    first_target = over_time[interview.target[0]]
    decimals = wording.count_decimals(first_target)
    last_change = ""
    if len(first_target) > 1:
        last_change = wording.describe_change(
            first_target[-2], first_target[-1], decimals, cause="Your last answer"
        )
    return {
        "predictions": _prediction_views(interview, over_time),
        "history": prediction_charts.history_chart(first_target, decimals=decimals),
        "last_change": last_change,
    }


def _prediction_views(
    interview: Interview, over_time: dict[str, list[Prediction]]
) -> list[PredictionView]:
    return [_prediction_view(interview, name, predictions) for name, predictions in over_time.items()]


def _prediction_view(interview: Interview, name: str, over_time: list[Prediction]) -> PredictionView:
    prediction, decimals = over_time[-1], wording.count_decimals(over_time)
    text = wording.describe_prediction(prediction, decimals)
    if prediction.probabilities is not None:
        return PredictionView(text, None, prediction_charts.level_bars(prediction))
    density = prediction_charts.density_chart(
        interview_analytics.draw_values(interview, name),
        prediction,
        over_time[0],
        domain=prediction_charts.value_domain(over_time),
        decimals=decimals,
    )
    return PredictionView(text, density, [])


def _form_context(question: Question, fields: list[FormField]) -> Context:
    n_errors = sum(bool(field.error) for field in fields)
    return {"question": question, "fields": fields, "n_errors": n_errors}


def _compare_questions(view: InterviewView, question: Question) -> list[Bar]:
    """Return the expected information of the best open questions, with ``question`` among them."""
    questions = {other.name: other for other in view.interview.model.schema.questions}
    per_cost = isinstance(view.interview.rules.strategy, PerCost)
    best = list(view.rewards.items())[:MAX_ALTERNATIVES]
    if question.name not in dict(best):
        own = (question.name, view.rewards.get(question.name, 0.0))
        best = [*best[: MAX_ALTERNATIVES - 1], own]
    largest = max((nats for _, nats in best), default=0.0)
    return [
        Bar(
            questions.get(name, question).title,
            round(100 * max(0.0, nats) / largest, 1) if largest > 0 else 0.0,
            format_information(nats)
            + (f", cost {questions.get(name, question).cost:g}" if per_cost else ""),
            name == question.name,
        )
        for name, nats in best
    ]


def _effect_views(interview: Interview, over_time: list[Prediction], decimals: int) -> list[EffectView]:
    """Return the effect of each answer, largest first."""
    effects = measure_effects(interview, over_time)
    largest = max((abs(effect.shift) for effect in effects), default=0.0) or 1.0
    return [
        EffectView(
            wording.describe_answer(effect.answer, interview.model.schema),
            round(50 * effect.shift / largest, 2),
            wording.describe_shift(effect.shift, over_time[-1], decimals),
            format_information(effect.nats),
        )
        for effect in effects
    ]


def _describe_shifted(prediction: Prediction) -> str:
    """Return what the shifts of the answers refer to."""
    if prediction.probabilities is None:
        return f"the estimate of {prediction.variable.name}"
    level = format_level(prediction.variable.levels[int(prediction.probabilities.argmax())])
    return f"the probability of “{level}”"
