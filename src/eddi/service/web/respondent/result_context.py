"""The context of the page at the end of an interview: the result, what mattered, and what to do next."""

from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from eddi.interview.effects import measure_effects
from eddi.interview.interview import Interview
from eddi.model.prediction import Prediction
from eddi.service.errors import N_
from eddi.service.interviews.interview_view import InterviewView
from eddi.service.web import prediction_charts, wording
from eddi.service.web.change_wording import Cause, describe_change
from eddi.service.web.languages.language import Language
from eddi.service.web.page_context import (
    Context,
    base_context,
    paragraphs,
    prediction_views,
    predictions_by_target,
    site_name,
    texts_of,
)
from eddi.service.web.texts import Texts

NO_RESULT: Context = {
    "predictions": [],
    "change": "",
    "effects": [],
    "effects_note": "",
    "history": None,
}


@dataclass(frozen=True)
class EffectView:
    """The effect of one answer.

    Args:
        answer: in words.
        percent: the shift relative to the largest one, from -50 to 50.
        shift: of the prediction.
        information: of the answer when it was given, as a share of that of all answers.
    """

    answer: wording.AnswerText
    percent: float
    shift: str
    information: str


def result_page(view: InterviewView, *, is_over: bool, today: date) -> Context:
    """Return the context of the page with the result, or of the end without one."""
    interview, texts, settings = view.interview, texts_of(view), view.questionnaire.settings
    record = interview.record
    over_time = predictions_by_target(interview)
    first_target = over_time[interview.target[0]]
    shows_result = settings.show_result and record.n_answered > 0
    return {
        **base_context(view, "result"),
        **(_result_details(view, over_time) if shows_result else NO_RESULT),
        "title": texts.language.gettext(
            "Result: %(name)s", name=site_name(view.questionnaire.variables, texts)
        ),
        "eyebrow": texts.language.gettext(_describe_end(view, is_over=is_over)),
        "heading": texts.language.gettext(_result_heading(view, shows_result=shows_result)),
        "shows_result": shows_result,
        "has_answers": record.n_answered > 0,
        "safety": texts.safety(record.answers, interview.model.schema),
        "closing": [line for text in texts.closing(first_target[-1]) for line in paragraphs(text)]
        if is_over and record.n_answered
        else [],
        "contact": settings.contact,
        "redirect": settings.redirect if is_over else "",
        "redirect_site": urlsplit(settings.redirect).hostname or "",
        "is_over": is_over,
        "created": _describe_origin(today, record.n_answered, texts.language),
    }


def _result_details(view: InterviewView, over_time: dict[str, list[Prediction]]) -> Context:
    """Return the predictions, and what the answers have changed."""
    interview, texts = view.interview, texts_of(view)
    first_target = over_time[interview.target[0]]
    decimals = wording.count_decimals(first_target)
    cause = Cause.ONE_ANSWER if len(first_target) == 2 else Cause.ALL_ANSWERS
    return {
        "predictions": prediction_views(interview, over_time, texts),
        "change": describe_change(first_target[0], first_target[-1], decimals, cause=cause, texts=texts),
        "effects": _effect_views(interview, first_target, decimals, texts),
        "effects_note": _describe_effects(first_target[-1], texts),
        "history": prediction_charts.history_chart(first_target, decimals=decimals, texts=texts),
    }


def _describe_end(view: InterviewView, *, is_over: bool) -> str:
    """Return why the interview is at its end."""
    if not is_over:
        return N_("The result so far")
    if not view.interview.record.n_answered:
        return N_("That was the last question")
    is_enough = bool(view.rewards)
    return N_("That is enough, thank you") if is_enough else N_("That was the last question, thank you")


def _result_heading(view: InterviewView, *, shows_result: bool) -> str:
    if shows_result:
        return N_("Our estimate now")
    has_answers = view.interview.record.n_answered > 0
    if has_answers:
        return N_("Thank you for your answers")
    return N_("We cannot say anything about you yet")


def _effect_views(
    interview: Interview, over_time: list[Prediction], decimals: int, texts: Texts
) -> list[EffectView]:
    """Return the effect of each answer, largest first."""
    effects = measure_effects(interview, over_time)
    largest = max((abs(effect.shift) for effect in effects), default=0.0) or 1.0
    total = sum(max(0.0, effect.nats) for effect in effects)
    return [
        EffectView(
            wording.describe_answer(effect.answer, interview.model.schema, texts),
            round(50 * effect.shift / largest, 2),
            wording.describe_shift(effect.shift, over_time[-1], decimals, texts.language),
            wording.format_share(effect.nats, total, texts.language),
        )
        for effect in effects
    ]


def _describe_effects(prediction: Prediction, texts: Texts) -> str:
    """Return what the effects of the answers refer to."""
    variable, language = prediction.variable, texts.language
    if prediction.probabilities is None:
        return language.gettext(
            "How the estimate of %(name)s would differ without each answer, and its share of everything "
            "that we learned from your answers.",
            name=texts.name(variable),
        )
    return language.gettext(
        "How the probability of “%(level)s” would differ without each answer, and its share of everything "
        "that we learned from your answers.",
        level=texts.level(variable, variable.levels[int(prediction.probabilities.argmax())]),
    )


def _describe_origin(today: date, n_answers: int, language: Language) -> str:
    """Return when the page was created, and from how many answers."""
    day = language.format_date(today)
    if n_answers == 0:
        return language.gettext("Created on %(date)s from no answers.", date=day)
    return language.ngettext(
        "Created on %(date)s from one answer.",
        "Created on %(date)s from %(num)s answers.",
        n_answers,
        date=day,
    )
