"""Predictions of the targets as read-only items, which end a completed form."""

from eddi.model.prediction import Prediction
from eddi.service.fhir.question_items import QuestionItems
from eddi.service.fhir.variable_items import Item, level_coding
from eddi.service.fhir.vocabulary import HIDDEN, UNIT
from eddi.service.interviews.interview_view import InterviewView

N_DIGITS = 6  # significant digits of a score
PREFIX = "prediction"  # of the link IDs of scores


def build_scores(view: InterviewView, items: QuestionItems) -> list[tuple[Item, Item]]:
    """Return the prediction of each target as an item of the form and an item of the response.

    If the questionnaire does not show its result, the items are hidden from the respondent.
    """
    is_hidden = not view.questionnaire.settings.show_result
    return [
        _build_group(items, prediction, is_hidden=is_hidden) for prediction in view.predictions.values()
    ]


def _build_group(items: QuestionItems, prediction: Prediction, *, is_hidden: bool) -> tuple[Item, Item]:
    variable, texts = prediction.variable, items.texts
    head = {
        "linkId": items.link_id(PREFIX, variable.name),
        "text": texts.language.gettext("Result: %(name)s", name=texts.title(variable)),
    }
    make_parts = _quantity_parts if prediction.probabilities is None else _level_parts
    parts = make_parts(items, prediction)
    hidden = {"extension": [{"url": HIDDEN, "valueBoolean": True}]} if is_hidden else {}
    form = {**hidden, **head, "type": "group", "readOnly": True, "item": [part for part, _ in parts]}
    return form, {**head, "item": [part for _, part in parts]}


def _level_parts(items: QuestionItems, prediction: Prediction) -> list[tuple[Item, Item]]:
    """The most likely level, and the probability of each level."""
    variable, texts = prediction.variable, items.texts
    assert prediction.probabilities is not None  # noqa: S101  # as the caller checked
    probabilities = [float(probability) for probability in prediction.probabilities]
    best = variable.levels[probabilities.index(max(probabilities))]
    coding = level_coding(variable, best, texts)
    link_id = items.link_id(PREFIX, variable.name, "level")
    head = {"linkId": link_id, "text": texts.title(variable)}
    options = [{"valueCoding": level_coding(variable, level, texts)} for level in variable.levels]
    first = {**head, "type": "choice", "readOnly": True, "answerOption": options}
    parts = [(first, {**head, "answer": [{"valueCoding": coding}]})]
    for number, (level, probability) in enumerate(zip(variable.levels, probabilities, strict=True)):
        link_id = items.link_id(PREFIX, variable.name, "probability", f"{number + 1}")
        parts.append(_number(link_id, texts.level(variable, level), probability))
    return parts


def _quantity_parts(items: QuestionItems, prediction: Prediction) -> list[tuple[Item, Item]]:
    """The mean, the standard deviation and the ends of the 90% interval; for survival, also risks."""
    variable, title = prediction.variable, items.texts.title(prediction.variable)
    low, high = (float(end) for end in prediction.interval)
    numbers = {
        "mean": (title, float(prediction.mean)),
        "sd": (f"{title}: sd", float(prediction.sd)),
        "low": (f"{title}: 5%", low),
        "high": (f"{title}: 95%", high),
    }
    unit = items.texts.unit(variable)
    parts = [
        _number(items.link_id(PREFIX, variable.name, key), text, value, unit=unit)
        for key, (text, value) in numbers.items()
    ]
    horizons = () if variable.survival is None else variable.survival.shown_horizons
    for number, horizon in enumerate(horizons, start=1):
        text = f"{title}: {horizon:g} {unit}".rstrip()
        link_id = items.link_id(PREFIX, variable.name, "probability", f"{number}")
        parts.append(_number(link_id, text, float(prediction.risk(horizon))))
    return parts


def _number(link_id: str, text: str, value: float, *, unit: str = "") -> tuple[Item, Item]:
    head = {"linkId": link_id, "text": text}
    extension = {"extension": [{"url": UNIT, "valueCoding": {"display": unit}}]} if unit else {}
    rounded = float(f"{value:.{N_DIGITS}g}")
    return (
        {**extension, **head, "type": "decimal", "readOnly": True},
        {**head, "answer": [{"valueDecimal": rounded}]},
    )
