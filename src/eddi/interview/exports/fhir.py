"""Answers as FHIR QuestionnaireResponses (R4)."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from eddi.interview.exports.respondent import Respondent, read_values
from eddi.interview.record import NoAnswer
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Kind, Level, Variable

DATA_ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
REASONS = {NoAnswer.UNKNOWN: "asked-unknown", NoAnswer.DECLINED: "asked-declined"}
BOOLEANS = (("no", "yes"), ("false", "true"), ("0", "1"))
NO_OPTION = {"code": "none", "display": "None of these"}

Item = dict[str, Any]
Values = Mapping[str, Level | NoAnswer]


def to_bundle(respondents: Sequence[Respondent], schema: Schema, *, questionnaire: str = "") -> Item:
    """Return a Bundle with the QuestionnaireResponse of each respondent."""
    entries = [
        {
            "fullUrl": f"urn:eddi:person:{respondent.name}",
            "resource": to_questionnaire_response(respondent, schema, questionnaire=questionnaire),
        }
        for respondent in respondents
    ]
    return {"resourceType": "Bundle", "type": "collection", **({"entry": entries} if entries else {})}


def to_questionnaire_response(
    respondent: Respondent, schema: Schema, *, questionnaire: str = ""
) -> Item:
    """Return the answers of a respondent as a QuestionnaireResponse.

    An item has the name of its question as its link ID. A question that reveals several variables is a
    group of items, and a multi-select question is one item with several answers.

    Args:
        respondent: whose answers they are.
        schema: of the model.
        questionnaire: its name, if it has one.
    """
    values = read_values(respondent.record)
    items = (_make_item(question, schema, values) for question in _asked(respondent, schema))
    canonical = f"urn:eddi:questionnaire:{quote(questionnaire, safe='')}"
    return {
        "resourceType": "QuestionnaireResponse",
        "id": respondent.name,
        **({"questionnaire": canonical} if questionnaire else {}),
        "status": "completed" if respondent.is_finished else "in-progress",
        "authored": respondent.ended_at,
        "item": [item for item in items if item is not None],
    }


def _asked(respondent: Respondent, schema: Schema) -> list[Question]:
    """Return the questions that were answered, in the order in which they were."""
    order = list(dict.fromkeys(answer.question for answer in respondent.record.answers))
    by_name = {question.name: question for question in schema.questions}
    revealed = {name: question for question in schema.questions for name in question.reveals}
    found = [by_name.get(name) or revealed.get(name) for name in order]
    return list({question.name: question for question in found if question is not None}.values())


def _make_item(question: Question, schema: Schema, values: Values) -> Item | None:
    known = {name: values[name] for name in question.reveals if name in values}
    if not known:
        return None
    item: Item = {"linkId": question.name, "text": question.title}
    if options := schema.options(question):
        return item | {"answer": _list_options(schema, options, known)}
    if len(question.reveals) == 1:
        return item | {"answer": [_make_answer(schema[question.reveals[0]], known[question.reveals[0]])]}
    parts = [
        {
            "linkId": f"{question.name}/{name}",
            "text": schema[name].title or name,
            "answer": [_make_answer(schema[name], value)],
        }
        for name, value in known.items()
    ]
    return item | {"item": parts}


def _list_options(schema: Schema, options: Mapping[str, str], values: Values) -> list[Item]:
    reasons = [value for value in values.values() if isinstance(value, NoAnswer)]
    if len(reasons) == len(values):
        return [_make_absent(reasons[0])]
    selected = [name for name, value in values.items() if value == schema[name].levels[1]]
    codings = [{"code": options[n], "display": schema[n].title or options[n]} for n in selected]
    return [{"valueCoding": coding} for coding in codings or [NO_OPTION]]


def _make_answer(variable: Variable, value: Level | NoAnswer) -> Item:
    if isinstance(value, NoAnswer):
        return _make_absent(value)
    if _is_boolean(variable):
        return {"valueBoolean": value == variable.levels[1]}
    if variable.kind.has_levels:
        return {"valueCoding": _make_coding(variable, value)}
    if variable.kind is Kind.COUNT:
        return {"valueInteger": int(value)}
    return {"valueDecimal": float(value)}


def _make_coding(variable: Variable, value: Level) -> Item:
    levels = [str(level) for level in variable.levels]
    label = variable.labels[levels.index(str(value))] if variable.labels else str(value)
    return {"code": str(value), "display": label}


def _make_absent(reason: NoAnswer) -> Item:
    return {"extension": [{"url": DATA_ABSENT, "valueCode": REASONS[reason]}]}


def _is_boolean(variable: Variable) -> bool:
    """Whether a variable is answered with yes or no, without other labels."""
    if variable.kind is not Kind.BINARY:
        return False
    levels = tuple(str(level).lower() for level in variable.levels)
    labels = tuple(label.lower() for label in variable.labels)
    return levels in BOOLEANS and (not labels or labels in BOOLEANS)
