"""The context of each respondent page: what its template shows of an interview."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from eddi.interview.effects import predictions_over_time
from eddi.interview.explanation import explain
from eddi.interview.interview import Interview
from eddi.interview.record import Answer
from eddi.model.prediction import Prediction
from eddi.service.errors import N_
from eddi.service.interviews import interview_analytics
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.interviews.questionnaire import Questionnaire
from eddi.service.interviews.questionnaire_settings import QuestionnaireSettings
from eddi.service.web import prediction_charts, wording
from eddi.service.web.answer_form import FormField, FormInput, build_fields
from eddi.service.web.change_wording import Cause, describe_change
from eddi.service.web.formatting import capitalize, format_value
from eddi.service.web.languages.language import ENGLISH, Language
from eddi.service.web.prediction_charts import DensityChart
from eddi.service.web.survival.curve_chart import CurveChart, curve_chart
from eddi.service.web.svg import Bar
from eddi.service.web.texts import PLAIN, Texts
from eddi.table.question import Question
from eddi.table.variable import Variable

DEFERRED_NOTICE = N_("You put this question off until now. No other question is left.")
MAX_ALTERNATIVES = 5  # questions whose expected information is compared

Context = dict[str, Any]


@dataclass(frozen=True)
class PredictionView:
    """A prediction in words, with a density chart for a quantity, bars for levels, or a survival curve."""

    text: wording.PredictionText
    density: DensityChart | None
    bars: list[Bar]
    curve: CurveChart | None = None


def base_context(view: InterviewView, active_page: str) -> Context:
    """Return the context of the header and footer of every page of an interview."""
    return {
        "name": questionnaire_title(view.questionnaire),
        "key": view.key,
        "active_page": active_page,
        "n_answers": len(view.interview.record.answers),
        "version": view.version,
        "may_see_result": may_see_result(view),
    }


def design(questionnaire: Questionnaire | None) -> Context:
    """Return the context that every page needs: the logo and the colour of a questionnaire."""
    settings = QuestionnaireSettings() if questionnaire is None else questionnaire.settings
    return {
        "key": "",
        "home": f"/q/{quote(questionnaire.name)}" if questionnaire is not None else "/",
        "languages": [],
        "theme": f"/theme/{settings.colour.removeprefix('#')}.css" if settings.colour else "",
        "logo": f"/logo/{settings.logo}" if settings.logo else "",
    }


def texts_of(view: InterviewView) -> Texts:
    """Return the texts of an interview's questionnaire."""
    return Texts(view.questionnaire.settings)


def may_see_result(view: InterviewView) -> bool:
    """Whether the respondent may see the result now; at the end, also if it is hidden before."""
    settings = view.questionnaire.settings
    return view.question is None or (settings.show_estimate and settings.show_result)


def questionnaire_title(questionnaire: Questionnaire) -> str:
    """Return the title of a questionnaire, or what it is about."""
    settings = questionnaire.settings
    return settings.title or site_name(questionnaire.variables, Texts(settings))


def site_name(target: Iterable[Variable], texts: Texts = PLAIN) -> str:
    """Return the name of a questionnaire about these targets, for the header."""
    return capitalize(texts.join_names(target))


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a text that a publisher wrote."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def question_page(
    view: InterviewView, question: Question, form_input: FormInput | None, *, deferred: set[str]
) -> Context:
    """Return the context of the page that asks a question."""
    interview, texts = view.interview, texts_of(view)
    answers, schema = interview.record.answers, interview.model.schema
    n_answers = len(answers)
    fields = build_fields(
        question,
        schema,
        answered=interview.record.answered_variables(),
        form_input=form_input,
        texts=texts,
    )
    return {
        **base_context(view, "question"),
        **_prediction_panel(view),
        **_form_context(view, question, fields),
        "title": texts.language.gettext(
            "Question %(number)s: %(text)s", number=n_answers + 1, text=texts.question(question)
        ),
        "eyebrow": texts.language.gettext("Question %(number)s", number=n_answers + 1),
        "action": f"/i/{view.key}/question/{n_answers + 1}",
        "safety": texts.safety(answers[-1:], schema),
        "is_change": False,
        # At the end of the interview, only questions that were put off are left.
        "can_defer": bool((deferred if view.question is None else set(view.rewards)) - {question.name}),
        "back": f"/i/{view.key}/change/{n_answers}" if n_answers else "",
        "notice": texts.language.gettext(DEFERRED_NOTICE) if question.name in deferred else "",
    }


def change_page(view: InterviewView, place: int, form_input: FormInput | None = None) -> Context:
    """Return the context of the page that changes an answer; ``place`` counts from 1."""
    interview, texts = view.interview, texts_of(view)
    schema, answers = interview.model.schema, interview.record.answers
    answer = answers[place - 1]
    question = find_question(interview, answer)
    fields = build_fields(
        question,
        schema,
        answered=variables_of_other_answers(interview, answer),
        form_input=form_input or FormInput.from_answer(answer, schema, texts.language),
        texts=texts,
    )
    given = wording.describe_answer(answer, schema, texts)
    return {
        **base_context(view, "answers"),
        **_prediction_panel(view),
        **_form_context(view, question, fields),
        "safety": [],
        "title": texts.language.gettext("Change: %(text)s", text=texts.question(question)),
        "eyebrow": texts.language.gettext(
            "Your answer %(number)s of %(total)s", number=place, total=len(answers)
        ),
        "action": f"/i/{view.key}/change/{place}",
        "is_change": True,
        "can_defer": False,
        "back": f"/i/{view.key}/change/{place - 1}" if place > 1 else "",
        "notice": texts.language.gettext(
            "Your answer was: %(answer)s. Your other answers stay.", answer=given
        ),
        "questions_left": "",
    }


def why_page(view: InterviewView, question: Question) -> Context:
    """Return the context of the page that explains why a question is asked."""
    interview, texts = view.interview, texts_of(view)
    explanation = explain(
        interview.model,
        interview.evidence(),
        interview.target,
        view.step,
        question=question,
        per_cost=interview.rules.is_per_cost,
    )
    assert explanation is not None  # noqa: S101  # there is a question
    decimals = wording.count_decimals([view.prediction])
    return {
        **base_context(view, "question"),
        "title": texts.language.gettext("Why: %(text)s", text=texts.question(question)),
        "question_title": texts.question(question),
        "sentences": wording.explain_question(explanation, interview.model.schema, decimals, texts),
        "alternatives": _compare_questions(view, question),
    }


def answers_page(view: InterviewView) -> Context:
    """Return the context of the page that lists all answers."""
    schema, texts = view.interview.model.schema, texts_of(view)
    answers = [
        {"text": wording.describe_answer(answer, schema, texts), "link": f"/i/{view.key}/change/{place}"}
        for place, answer in enumerate(view.interview.record.answers, start=1)
    ]
    return {
        **base_context(view, "answers"),
        "title": texts.language.gettext("Your answers so far"),
        "answers": answers,
        "is_over": view.question is None,
    }


def forget_page(view: InterviewView) -> Context:
    """Return the context of the page that asks whether to forget an interview."""
    language = texts_of(view).language
    return {
        **base_context(view, ""),
        "title": language.gettext("Forget your answers?"),
        "n_answers": len(view.interview.record.answers),
    }


def message_page(
    heading: str,
    paragraphs: list[str],
    *,
    link: tuple[str, str] = ("/", N_("Go to the start")),
    language: Language = ENGLISH,
) -> Context:
    """Return the context of a page with a message and a link, whose texts are in the catalogue."""
    return {
        **design(None),
        "name": language.gettext("Questionnaire"),
        "private_link": "",
        "title": language.gettext(heading),
        "heading": language.gettext(heading),
        "paragraphs": paragraphs,
        "link": link[0],
        "link_text": language.gettext(link[1]),
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


def predictions_by_target(interview: Interview) -> dict[str, list[Prediction]]:
    return {name: predictions_over_time(interview, name) for name in interview.target}


def _prediction_panel(view: InterviewView) -> Context:
    """Return the context of the panel with the present predictions; empty if they are hidden."""
    if not view.questionnaire.settings.show_estimate:
        return {"predictions": [], "history": None, "last_change": ""}
    interview, texts = view.interview, texts_of(view)
    over_time = predictions_by_target(interview)
    first_target = over_time[interview.target[0]]
    decimals = wording.count_decimals(first_target)
    last_change = ""
    if len(first_target) > 1:
        last_change = describe_change(
            first_target[-2], first_target[-1], decimals, cause=Cause.LAST_ANSWER, texts=texts
        )
    return {
        "predictions": prediction_views(interview, over_time, texts),
        "history": prediction_charts.history_chart(first_target, decimals=decimals, texts=texts),
        "last_change": last_change,
    }


def prediction_views(
    interview: Interview, over_time: dict[str, list[Prediction]], texts: Texts
) -> list[PredictionView]:
    return [
        _prediction_view(interview, name, predictions, texts=texts)
        for name, predictions in over_time.items()
    ]


def _prediction_view(
    interview: Interview, name: str, over_time: list[Prediction], *, texts: Texts
) -> PredictionView:
    prediction, decimals = over_time[-1], wording.count_decimals(over_time)
    text = wording.describe_prediction(prediction, decimals, texts)
    if prediction.variable.survival is not None:
        return PredictionView(text, None, [], curve_chart(prediction, over_time[0], texts))
    if prediction.probabilities is not None:
        return PredictionView(text, None, prediction_charts.level_bars(prediction, texts))
    density = prediction_charts.density_chart(
        interview_analytics.draw_values(interview, name),
        prediction,
        over_time[0],
        domain=prediction_charts.value_domain(over_time),
        decimals=decimals,
        texts=texts,
    )
    return PredictionView(text, density, [])


def _form_context(view: InterviewView, question: Question, fields: list[FormField]) -> Context:
    texts = texts_of(view)
    return {
        "question": question,
        "question_title": texts.question(question),
        "question_note": texts.note(question),
        "fields": fields,
        "n_errors": sum(bool(field.error) for field in fields),
        "submits_on_choice": view.questionnaire.settings.submit_on_choice,
    }


def _compare_questions(view: InterviewView, question: Question) -> list[Bar]:
    """Return what the best open questions are expected to tell, with ``question`` among them."""
    questions = {other.name: other for other in view.interview.model.schema.questions}
    texts = texts_of(view)
    per_cost = view.interview.rules.is_per_cost
    best = list(view.rewards.items())[:MAX_ALTERNATIVES]
    if question.name not in dict(best):
        own = (question.name, view.rewards.get(question.name, 0.0))
        best = [*best[: MAX_ALTERNATIVES - 1], own]
    largest = max((nats for _, nats in best), default=0.0)
    return [
        Bar(
            texts.question(questions.get(name, question)),
            round(100 * max(0.0, nats) / largest, 1) if largest > 0 else 0.0,
            _describe_share(
                wording.format_share(nats, largest, texts.language),
                questions.get(name, question).cost if per_cost else None,
                texts.language,
            ),
            name == question.name,
        )
        for name, nats in best
    ]


def _describe_share(share: str, cost: float | None, language: Language) -> str:
    if cost is None:
        return share
    return language.gettext(
        "%(share)s, cost %(cost)s", share=share, cost=format_value(float(cost), language)
    )
