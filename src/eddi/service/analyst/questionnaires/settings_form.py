"""The form of a questionnaire's settings: its fields, and how they become settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eddi.errors import SchemaError
from eddi.service.analyst.questionnaires.raw_names import asked_questions
from eddi.service.interviews.questionnaire_settings import (
    LANGUAGE_CODES,
    QuestionnaireSettings,
    QuestionnaireSettingsError,
)
from eddi.service.web.formatting import format_level
from eddi.service.web.texts import EVERY_RESULT, parse_condition
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Variable

MAX_LEVELS = 60  # a variable with more levels, such as a postcode, gets no fields for them
N_CONDITIONS = 3  # closing texts of a quantity

TEXTS = ("title", "introduction", "consent", "contact", "colour", "closes_on", "redirect")
SWITCHES = (*("show_estimate", "show_result", "submit_on_choice", "is_listed", "needs_invitation"),)


@dataclass(frozen=True)
class LevelRow:
    """The fields of one level: its label, and the text that is shown after it was chosen."""

    level: str
    label_field: str
    label: str
    placeholder: str
    safety_field: str
    safety: str


@dataclass(frozen=True)
class VariableRow:
    """The fields of one variable.

    Args:
        name: of the column.
        field: of its display name; empty if respondents do not read it.
        title: the display name.
        placeholder: the name without one.
        help_field: of a help text; empty if there is none.
        help: the help text.
        help_placeholder: the help text of the schema.
        levels: the fields of its levels.
        condition_field: of the comparison for the safety text of a quantity; empty for levels.
        condition: the comparison.
        safety_field: of that text.
        safety: the text.
    """

    name: str
    field: str
    title: str
    placeholder: str
    help_field: str
    help: str
    help_placeholder: str
    levels: tuple[LevelRow, ...]
    condition_field: str = ""
    condition: str = ""
    safety_field: str = ""
    safety: str = ""


@dataclass(frozen=True)
class QuestionRow:
    """The fields of one question."""

    name: str
    field: str
    text: str
    placeholder: str
    help_field: str
    help: str
    help_placeholder: str
    variables: tuple[VariableRow, ...]


@dataclass(frozen=True)
class ClosingRow:
    """The fields of one closing text: for a level, or for a comparison that the publisher types."""

    label: str
    condition_field: str
    condition: str
    field: str
    text: str


def question_rows(
    schema: Schema, target: Sequence[str], settings: QuestionnaireSettings
) -> list[QuestionRow]:
    """Return the fields of all questions."""
    return [
        _question_row(number, question, schema, settings)
        for number, question in enumerate(asked_questions(schema, target))
    ]


def target_rows(
    schema: Schema, target: Sequence[str], settings: QuestionnaireSettings
) -> list[VariableRow]:
    """Return the fields of the targets."""
    return [_variable_row(schema, name, settings, has_name=True, is_asked=False) for name in target]


def closing_rows(target: Variable, settings: QuestionnaireSettings) -> list[ClosingRow]:
    """Return the fields of the closing texts that depend on the result."""
    if target.kind.has_levels:
        labels = settings.labels.get(target.name, {})
        return [
            ClosingRow(
                labels.get(level) or format_level(level),
                "",
                level,
                f"closing-{number}",
                settings.closing.get(level, ""),
            )
            for number, level in enumerate(map(str, target.levels[:MAX_LEVELS]))
        ]
    given = [(key, text) for key, text in settings.closing.items() if key != EVERY_RESULT]
    rows = [*given, *[("", "")] * N_CONDITIONS][: max(N_CONDITIONS, len(given))]
    return [
        ClosingRow("", f"closing-if-{number}", key, f"closing-{number}", text)
        for number, (key, text) in enumerate(rows)
    ]


def parse_settings(
    form: Mapping[str, str], schema: Schema, target: Sequence[str], *, previous: QuestionnaireSettings
) -> QuestionnaireSettings:
    """Return the settings of a submitted form; texts of other models' variables stay as they were.

    Raises:
        QuestionnaireSettingsError: a field is not valid.
    """
    values: dict[str, Any] = {name: form.get(name, "").strip() for name in TEXTS}
    values |= {name: bool(form.get(name)) for name in SWITCHES}
    values["max_respondents"] = _parse_count(form.get("max_respondents", ""))
    values["embed_on"] = tuple(form.get("embed_on", "").replace(",", " ").split())
    values["languages"] = _parse_languages(form, previous)
    values |= _parse_texts(form, schema, target, previous)
    values["closing"] = _parse_closing(form, schema[target[0]], previous)
    return replace(previous, **values)


def _question_row(
    number: int, question: Question, schema: Schema, settings: QuestionnaireSettings
) -> QuestionRow:
    is_single = len(question.reveals) == 1
    return QuestionRow(
        name=question.name,
        field=f"text-{number}",
        text=settings.questions.get(question.name, ""),
        placeholder=question.text,
        help_field=f"help-{number}",
        help=settings.help.get(question.name, ""),
        help_placeholder=question.help,
        variables=tuple(
            _variable_row(schema, name, settings, has_name=not is_single, is_asked=True)
            for name in question.reveals
        ),
    )


def _variable_row(
    schema: Schema, name: str, settings: QuestionnaireSettings, *, has_name: bool, is_asked: bool
) -> VariableRow:
    variable, number = schema[name], schema.position(name)
    safety = settings.safety.get(name, {})
    condition = "" if variable.kind.has_levels or not safety else next(iter(safety))
    is_quantity = is_asked and not variable.kind.has_levels
    option = "" if variable.source is None else variable.source.option
    return VariableRow(
        name=name,
        field=f"name-{number}" if has_name else "",
        title=settings.names.get(name, ""),
        placeholder=variable.title or option or name,
        help_field=f"part-help-{number}" if has_name and is_asked else "",
        help=settings.help.get(name, ""),
        help_placeholder=variable.help,
        levels=_level_rows(variable, number, settings, is_asked=is_asked),
        condition_field=f"safety-if-{number}" if is_quantity else "",
        condition=condition,
        safety_field=f"safety-{number}" if is_quantity else "",
        safety=safety.get(condition, "") if is_quantity else "",
    )


def _level_rows(
    variable: Variable, number: int, settings: QuestionnaireSettings, *, is_asked: bool
) -> tuple[LevelRow, ...]:
    if variable.n_levels > MAX_LEVELS or variable.source is not None:
        return ()
    labels = settings.labels.get(variable.name, {})
    safety = settings.safety.get(variable.name, {})
    return tuple(
        LevelRow(
            level=str(level),
            label_field=f"label-{number}-{place}",
            label=labels.get(str(level), ""),
            placeholder=variable.labels[place] if variable.labels else format_level(level),
            safety_field=f"safety-{number}-{place}" if is_asked else "",
            safety=safety.get(str(level), ""),
        )
        for place, level in enumerate(variable.levels)
    )


def _parse_texts(
    form: Mapping[str, str], schema: Schema, target: Sequence[str], previous: QuestionnaireSettings
) -> dict[str, Any]:
    """Return the texts of questions, variables and levels."""
    names, questions, help_ = dict(previous.names), dict(previous.questions), dict(previous.help)
    labels, safety = dict(previous.labels), dict(previous.safety)
    rows = question_rows(schema, target, previous)
    for row in rows:
        _set(questions, row.name, form.get(row.field))
        _set(help_, row.name, form.get(row.help_field))
    variables = [row for question in rows for row in question.variables]
    for variable in (*variables, *target_rows(schema, target, previous)):
        if variable.field:
            _set(names, variable.name, form.get(variable.field))
        if variable.help_field:
            _set(help_, variable.name, form.get(variable.help_field))
        if variable.levels:
            labels[variable.name] = {
                row.level: text for row in variable.levels if (text := _clean(form.get(row.label_field)))
            }
        safety[variable.name] = _parse_safety(form, variable, schema[variable.name])
    return {
        "names": names,
        "questions": questions,
        "help": help_,
        "labels": {name: texts for name, texts in labels.items() if texts},
        "safety": {name: texts for name, texts in safety.items() if texts},
    }


def _parse_safety(form: Mapping[str, str], row: VariableRow, variable: Variable) -> dict[str, str]:
    if row.condition_field:
        text = _clean(form.get(row.safety_field))
        key = _clean(form.get(row.condition_field))
        return {_check_condition(variable, key): text} if text else {}
    by_level = {level.level: _clean(form.get(level.safety_field)) for level in row.levels}
    return {level: text for level, text in by_level.items() if text}


def _parse_closing(
    form: Mapping[str, str], target: Variable, previous: QuestionnaireSettings
) -> dict[str, str]:
    texts = {EVERY_RESULT: _clean(form.get("closing-all"))}
    for row in closing_rows(target, previous):
        text = _clean(form.get(row.field))
        if text:
            key = row.condition if not row.condition_field else _clean(form.get(row.condition_field))
            texts[_check_condition(target, key)] = text
    return {key: text for key, text in texts.items() if text}


def _check_condition(variable: Variable, key: str) -> str:
    try:
        parse_condition(variable, key)
    except SchemaError as error:
        raise QuestionnaireSettingsError(f"{variable.name!r}: {error}") from None
    return key


def _parse_languages(form: Mapping[str, str], previous: QuestionnaireSettings) -> tuple[str, ...]:
    """Return the language of the texts, then the others that are checked."""
    first = form.get("language", "")
    if not first:
        return previous.languages
    others = (code for code in LANGUAGE_CODES if code != first and form.get(f"language-{code}"))
    return (first, *others)


def _parse_count(text: str) -> int:
    digits = text.strip().replace(",", "")
    if not digits:
        return 0
    if not (digits.isascii() and digits.isdecimal() and len(digits) < 12):
        raise QuestionnaireSettingsError(
            f"the maximum number of respondents must be a whole number, got {text[:40]!r}."
        )
    return int(digits)


def _set(texts: dict[str, str], name: str, text: str | None) -> None:
    """Set a text, or remove it if it is empty."""
    texts.pop(name, None)
    if cleaned := _clean(text):
        texts[name] = cleaned


def _clean(text: str | None) -> str:
    return (text or "").replace("\r\n", "\n").strip()
