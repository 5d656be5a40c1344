"""Read answers from FHIR QuestionnaireResponses (R4), as `to_bundle` and adaptive forms write them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eddi.errors import AnswerError
from eddi.interview.exports.fhir import DATA_ABSENT, NO_OPTION, REASONS
from eddi.interview.record import Answer, NoAnswer, Record
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.text import suggest_name
from eddi.table.variable import Kind, Level, Variable

PREDICTION = "prediction/"  # the start of the link IDs of the scores of an adaptive form
REASONS_BY_CODE = {code: reason for reason, code in REASONS.items()}

Resource = Mapping[str, Any]
Given = Level | NoAnswer


@dataclass(frozen=True)
class ReadRespondent:
    """A respondent whose answers were read from a file.

    Args:
        name: the ID of the response.
        record: the answers.
        is_finished: whether the response is completed.
        began_at: empty; a response does not say so.
        ended_at: when it was written (ISO 8601).
    """

    name: str
    record: Record
    is_finished: bool
    began_at: str = ""
    ended_at: str = ""


def read_bundle(document: object, schema: Schema) -> list[ReadRespondent]:
    """Return the respondents of a Bundle, or of a single QuestionnaireResponse.

    Args:
        document: the resource as parsed JSON.
        schema: of the questions. The target is that of the schema.

    Raises:
        AnswerError: it is not such a resource, or an answer does not fit the schema.
    """
    resource = _check_object(document, "the document")
    if resource.get("resourceType") != "Bundle":
        return [_read_response(resource, schema, "the response")]
    entries = _check_list(resource.get("entry", []), "the entries of the Bundle")
    return [
        _read_response(_check_object(entry, where).get("resource"), schema, where)
        for where, entry in ((f"entry {number}", entry) for number, entry in enumerate(entries, start=1))
    ]


def _read_response(document: object, schema: Schema, where: str) -> ReadRespondent:
    resource = _check_object(document, where)
    kind = resource.get("resourceType")
    if kind != "QuestionnaireResponse":
        raise AnswerError(f"{where} must be a QuestionnaireResponse, got {kind!r:.60}.")
    questions = {question.name: question for question in schema.questions}
    answers = []
    for item in _check_list(resource.get("item", []), f"the items of {where}"):
        link_id = str(_check_object(item, f"an item of {where}").get("linkId", ""))
        if link_id.startswith(PREDICTION) and link_id not in questions:
            continue
        if link_id not in questions:
            hint = suggest_name(link_id, list(questions))
            raise AnswerError(f"{where}: the schema has no question {link_id[:80]!r}.{hint}")
        answers.append(_read_item(item, questions[link_id], schema, f"{where}, {link_id!r}"))
    return ReadRespondent(
        str(resource.get("id", "")),
        Record(tuple(schema.targets), tuple(answers)),
        is_finished=resource.get("status") in ("completed", "amended"),
        ended_at=str(resource.get("authored", "")),
    )


def _read_item(item: Resource, question: Question, schema: Schema, where: str) -> Answer:
    if options := schema.options(question):
        given = _read_options(item, options, schema, where)
    elif len(question.reveals) == 1:
        name = question.reveals[0]
        given = {name: _read_value(_only_answer(item, where), schema[name], where)}
    else:
        given = _read_parts(item, question, schema, where)
    values = {name: value for name, value in given.items() if not isinstance(value, NoAnswer)}
    without = {name: value for name, value in given.items() if isinstance(value, NoAnswer)}
    return Answer(question.name, values, without)


def _read_parts(item: Resource, question: Question, schema: Schema, where: str) -> dict[str, Given]:
    names = {f"{question.name}/{name}": name for name in question.reveals}
    found: dict[str, Given] = {}
    for part in _check_list(item.get("item", []), f"{where}: its items"):
        link_id = str(_check_object(part, f"{where}: an item").get("linkId", ""))
        if link_id not in names:
            raise AnswerError(f"{where} has the item {link_id[:80]!r}; expected: {', '.join(names)}.")
        name = names[link_id]
        found[name] = _read_value(_only_answer(part, where), schema[name], f"{where}, {link_id!r}")
    return found


def _read_options(
    item: Resource, options: Mapping[str, str], schema: Schema, where: str
) -> dict[str, Given]:
    answers = _check_list(item.get("answer", []), f"{where}: its answers")
    reasons = [reason for answer in answers if (reason := _find_reason(answer)) is not None]
    if reasons:
        return dict.fromkeys(options, reasons[0])
    codings = [_check_object(answer, where).get("valueCoding", {}) for answer in answers]
    codes = {str(_check_object(coding, where).get("code", "")) for coding in codings}
    unknown = codes - set(options.values()) - {NO_OPTION["code"]}
    if unknown or not codes:
        listed = ", ".join(map(repr, sorted(unknown))) or "no answer"
        raise AnswerError(f"{where}: expected some of {', '.join(options.values())}, got {listed:.80}.")
    return {name: schema[name].levels[option in codes] for name, option in options.items()}


def _read_value(answer: Resource, variable: Variable, where: str) -> Given:
    if (reason := _find_reason(answer)) is not None:
        return reason
    for key, read in READERS.items():
        if key in answer:
            try:
                return variable.answer(variable.number(read(answer[key], variable), confirm=True))
            except (AnswerError, TypeError, ValueError, OverflowError) as error:
                raise AnswerError(f"{where}: {error}") from None
    raise AnswerError(f"{where} needs one of {', '.join(READERS)}, or a data-absent-reason.")


def _read_boolean(value: Any, variable: Variable) -> object:
    if variable.kind is not Kind.BINARY or not isinstance(value, bool):
        raise AnswerError(f"{variable.name!r} is not answered with true or false, got {value!r:.60}.")
    return variable.levels[value]


READERS: dict[str, Callable[[Any, Variable], object]] = {
    "valueBoolean": _read_boolean,
    "valueCoding": lambda value, _: _check_object(value, "a coding").get("code"),
    "valueInteger": lambda value, _: value,
    "valueDecimal": lambda value, _: value,
    "valueQuantity": lambda value, _: _check_object(value, "a quantity").get("value"),
}


def _find_reason(answer: object) -> NoAnswer | None:
    extensions = _check_object(answer, "an answer").get("extension", [])
    for extension in _check_list(extensions, "the extensions of an answer"):
        if _check_object(extension, "an extension").get("url") == DATA_ABSENT:
            return REASONS_BY_CODE.get(extension.get("valueCode"), NoAnswer.UNKNOWN)
    return None


def _only_answer(item: Resource, where: str) -> Resource:
    answers = _check_list(item.get("answer", []), f"{where}: its answers")
    if len(answers) != 1:
        raise AnswerError(f"{where} must have one answer, got {len(answers)}.")
    return _check_object(answers[0], f"{where}: its answer")


def _check_object(value: object, what: str) -> Resource:
    if not isinstance(value, Mapping):
        raise AnswerError(f"{what} must be a JSON object, got {value!r:.60}.")
    return value


def _check_list(value: object, what: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise AnswerError(f"{what} must be a list, got {value!r:.60}.")
    return value
