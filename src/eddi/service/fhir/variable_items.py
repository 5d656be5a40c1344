"""Variables as items of a FHIR questionnaire, and answers to these items as values of variables."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from eddi.interview.record import NoAnswer
from eddi.service.fhir.operation_outcome import ResourceError
from eddi.service.fhir.schemas import CodingIn, ExtensionIn, ItemAnswerIn, QuantityIn
from eddi.service.fhir.vocabulary import (
    DATA_ABSENT,
    DATA_ABSENT_REASONS,
    MAX_VALUE,
    MIN_VALUE,
    UNIT,
)
from eddi.service.web.texts import Texts
from eddi.table.text import format_list
from eddi.table.variable import Kind, Level, Variable

CODE_SHAPE = re.compile(r"[^\s]+(\s[^\s]+)*")  # of the FHIR type `code`
BOOLEAN_LEVELS = (("no", "yes"), ("false", "true"), ("0", "1"))
REASONS = {
    "asked-unknown": NoAnswer.UNKNOWN,
    "asked-declined": NoAnswer.DECLINED,
    "unknown": NoAnswer.UNKNOWN,
    "temp-unknown": NoAnswer.UNKNOWN,
    "not-applicable": NoAnswer.UNKNOWN,
    "not-performed": NoAnswer.UNKNOWN,
}
"""Codes of `data-absent-reason` that an answer may have."""

Item = dict[str, Any]


def describe_variable(variable: Variable, texts: Texts) -> Item:
    """Return the type of a variable's item, with its options, unit and range."""
    if is_boolean(variable, texts):
        return {"type": "boolean"}
    if variable.kind.has_levels:
        return {"type": "choice", "answerOption": level_options(variable, texts)}
    number = "Integer" if variable.kind is Kind.COUNT else "Decimal"
    extensions = _range_extensions(variable, f"value{number}")
    if unit := texts.unit(variable):
        extensions.append({"url": UNIT, "valueCoding": {"display": unit}})
    return {"type": number.lower(), **({"extension": extensions} if extensions else {})}


def level_options(variable: Variable, texts: Texts) -> list[Item]:
    """Return the levels of a variable as answer options, and the two ways to give no answer."""
    codings = [level_coding(variable, level, texts) for level in variable.levels]
    return [{"valueCoding": coding} for coding in (*codings, *no_answer_codings(texts))]


def level_coding(variable: Variable, level: Level, texts: Texts) -> Item:
    """Return a level as a code with its label."""
    code = level_codes(variable)[variable.levels.index(level)]
    return {"system": code_system(variable), "code": code, "display": texts.level(variable, level)}


def no_answer_codings(texts: Texts) -> tuple[Item, Item]:
    """Return "I don’t know" and "Prefer not to say" as codes."""
    unknown = texts.language.gettext("I don’t know")  # noqa: RUF001
    declined = texts.language.gettext("Prefer not to say")
    return (
        {"system": DATA_ABSENT_REASONS, "code": "asked-unknown", "display": unknown},
        {"system": DATA_ABSENT_REASONS, "code": "asked-declined", "display": declined},
    )


def level_codes(variable: Variable) -> list[str]:
    """Return the code of each level: its text if that is a valid code, else its number."""
    texts = [str(level) for level in variable.levels]
    return [
        text if CODE_SHAPE.fullmatch(text) else f"level-{n}" for n, text in enumerate(texts, start=1)
    ]


def code_system(variable: Variable) -> str:
    """Return the name of the code system of a variable's levels."""
    return f"urn:eddi:variable:{quote(variable.name, safe='')}"


def is_boolean(variable: Variable, texts: Texts) -> bool:
    """Whether a variable is answered with true or false: yes and no, without other labels."""
    labels = variable.in_language(texts.language.code).labels or texts.settings.labels.get(variable.name)
    if variable.kind is not Kind.BINARY or labels:
        return False
    return tuple(str(level).lower() for level in variable.levels) in BOOLEAN_LEVELS


def read_value(
    variable: Variable, answers: Sequence[ItemAnswerIn], texts: Texts, *, path: str
) -> Level | NoAnswer:
    """Return the value of a variable, or why there is none.

    Args:
        variable: the variable.
        answers: those of its item.
        texts: of the questionnaire.
        path: the FHIRPath of the item, for errors.

    Raises:
        ResourceError: the answer does not suit the variable.
    """
    if len(answers) != 1:
        raise _required(variable, len(answers), path)
    (answer,), path = answers, f"{path}.answer[0]"
    reason = read_reason(answer, path)
    if reason is not None:
        return reason
    if is_boolean(variable, texts):
        return variable.levels[int(_take(variable, answer, "value_boolean", path))]
    if variable.kind.has_levels:
        return _read_level(variable, _take(variable, answer, "value_coding", path), path)
    if variable.kind is Kind.COUNT:
        return int(_take(variable, answer, "value_integer", path))
    return _read_quantity(variable, answer, texts, path)


def read_reason(answer: ItemAnswerIn, path: str) -> NoAnswer | None:
    """Return why an answer has no value; None if it has one."""
    elements = (answer.value_boolean_element, answer.value_integer_element, answer.value_decimal_element)
    parts = (answer, *elements, answer.value_coding, answer.value_quantity)
    extensions = [extension for part in parts if part is not None for extension in part.extension]
    codes = [code for extension in extensions if (code := _reason_code(extension)) is not None]
    coding = answer.value_coding
    if coding is not None and coding.system == DATA_ABSENT_REASONS:
        codes.append(coding.code or "")
    if not codes:
        return None
    if codes[0] not in REASONS:
        raise ResourceError(
            f"the data-absent-reason {codes[0][:40]!r} is not supported. Use asked-unknown if the "
            "respondent does not know, or asked-declined.",
            code="code-invalid",
            expression=path,
        )
    return REASONS[codes[0]]


def _reason_code(extension: ExtensionIn) -> str | None:
    return (extension.value_code or "") if extension.url == DATA_ABSENT else None


def _read_level(variable: Variable, coding: CodingIn, path: str) -> Level:
    codes, system = level_codes(variable), code_system(variable)
    if coding.system in (None, system) and coding.code in codes:
        return variable.levels[codes.index(coding.code)]
    raise ResourceError(
        f"{variable.name!r} must be one of the codes {format_list(codes)} of {system}, got "
        f"{str(coding.code)[:40]!r}.",
        code="code-invalid",
        expression=path,
    )


def _read_quantity(variable: Variable, answer: ItemAnswerIn, texts: Texts, path: str) -> float:
    if answer.value_quantity is None:
        is_integer = answer.value_integer is not None
        return float(_take(variable, answer, "value_integer" if is_integer else "value_decimal", path))
    quantity: QuantityIn = _take(variable, answer, "value_quantity", path)
    units = {unit.casefold() for unit in (quantity.unit, quantity.code) if unit}
    own = {variable.unit.casefold(), texts.unit(variable).casefold()}
    if quantity.value is None or (units and own.isdisjoint(units)):
        raise ResourceError(
            f"{variable.name!r} must be a number{f' in {variable.unit}' if variable.unit else ''}, got "
            f"{quantity.value} {quantity.unit or quantity.code or ''}.",
            code="value",
            expression=path,
        )
    return quantity.value


def _take(variable: Variable, answer: ItemAnswerIn, field: str, path: str) -> Any:
    """Return the only value of an answer; an error if it is of another type."""
    given = [name for name in answer.model_fields_set if name.startswith("value")]
    value = getattr(answer, field)
    if value is None or len(given) > 1:
        names = ", ".join(sorted(type(answer).model_fields[name].alias or name for name in given))
        expected = type(answer).model_fields[field].alias
        raise ResourceError(
            f"{variable.name!r} takes one {expected}, got {names or 'no value'}. If there is no value, "
            "give an extension data-absent-reason.",
            code="value",
            expression=path,
        )
    return value


def _required(variable: Variable, n_answers: int, path: str) -> ResourceError:
    return ResourceError(
        f"{variable.name!r} takes one answer, got {n_answers}. If the respondent does not know or does "
        "not want to say, give an answer with an extension data-absent-reason.",
        code="required" if n_answers == 0 else "structure",
        expression=path,
    )


def _range_extensions(variable: Variable, value: str) -> list[Item]:
    is_count = variable.kind is Kind.COUNT
    low = max(variable.low or 0, 0) if is_count else variable.low
    limits = ((MIN_VALUE, low), (MAX_VALUE, variable.high))
    return [
        {"url": url, value: int(limit) if is_count else limit}
        for url, limit in limits
        if limit is not None
    ]
