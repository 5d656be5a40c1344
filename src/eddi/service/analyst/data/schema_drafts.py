"""Schema drafts: a schema as a grid of text fields, one row per column, that an analyst edits in a form."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pyarrow as pa

from eddi.errors import EddiError, SchemaError, TableError
from eddi.service.analyst.data.tables import UploadedTable
from eddi.service.errors import N_
from eddi.table.cell_arrays import is_text
from eddi.table.cells.number_format import NumberFormat, detect_format
from eddi.table.columns import clean, column_to_numbers
from eddi.table.kinds.vocabulary import natural_sort_key
from eddi.table.languages.translations import VariableTexts
from eddi.table.question import Question, Requirement, format_requires, parse_requires
from eddi.table.schema import Schema, SetAside
from eddi.table.text import format_value, parse_scalar
from eddi.table.variable import Kind, Level, Variable

ROLES = {
    "ask": N_("Ask"),
    "always": N_("Always ask"),
    "never": N_("Never ask"),
    "target": N_("Target"),
    "out": N_("Leave out"),
}
FIELDS = (
    *("role", "kind", "levels", "low", "high", "unit", "missing", "declined"),
    *("question", "text", "cost", "requires"),
)
MAX_INFERRED_LEVELS = 64  # that are read from the table if none are given
LEFT_OUT_BY_HAND = "left out by hand"

Errors = dict[tuple[int, str], str]  # by row number and field; row 0 is the schema as a whole


class DraftError(EddiError, ValueError):
    """A draft is not a valid schema."""

    status: ClassVar[int] = 422
    title: ClassVar[str] = N_("This schema is not valid")

    def __init__(self, errors: Errors) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


@dataclass(frozen=True)
class DraftRow:
    """The text fields of one column, or of one option of a column whose cells list several.

    ``number`` counts the rows of the draft from 1, and ``column`` is the column of the table.
    """

    number: int
    name: str
    column: str
    role: str = "ask"
    kind: str = "real"
    levels: str = ""  # one per line
    low: str = ""
    high: str = ""
    unit: str = ""
    missing: str = ""  # codes, separated by commas
    declined: str = ""
    question: str = ""  # empty if the column has its own question
    text: str = ""
    cost: str = ""
    requires: str = ""  # smoker = yes, sometimes; years > 3

    @property
    def is_modelled(self) -> bool:
        """Whether the column is a variable of the schema."""
        return self.role != "out"

    @property
    def question_name(self) -> str:
        """The name of the question that reveals the column."""
        return self.question or self.name


Draft = list[DraftRow]


def make_draft(table: UploadedTable) -> Draft:
    """The draft of a table's present schema."""
    options: dict[str, list[str]] = {}
    for variable in table.schema.variables:
        if variable.source is not None:
            options.setdefault(variable.column, []).append(variable.name)
    names = [(name, column) for column in table.columns for name in options.get(column, [column])]
    return [
        _make_row(number, name, column, table.schema)
        for number, (name, column) in enumerate(names, start=1)
    ]


def apply_form(draft: Iterable[DraftRow], form: Mapping[str, str]) -> Draft:
    """The draft with the fields of a form; fields that the form does not contain stay as they are."""
    return [replace(row, **_form_fields(row.number, form)) for row in draft]  # type: ignore[arg-type]


def parse_draft(table: UploadedTable, draft: Draft, rows: pa.Table) -> Schema:
    """The schema that a draft describes, checked against the rows of the table.

    Raises:
        DraftError: the draft is not valid; its ``errors`` say what is wrong in which field.
    """
    # Survival variables have several columns. They are kept: the form does not change them.
    outcomes = tuple(v for v in table.schema.variables if v.survival is not None)
    draft = [row for row in draft if row.name not in {variable.name for variable in outcomes}]
    parser = _DraftParser(table, draft, rows)
    parsed = [parser.variable(row) for row in draft if row.is_modelled]
    questions = parser.questions()
    if parser.errors:
        raise DraftError(parser.errors)
    try:
        return Schema(
            (*(variable for variable in parsed if variable is not None), *outcomes),
            questions,
            targets=(*(row.name for row in draft if row.role == "target"), *_kept_targets(table)),
            set_aside=tuple(parser.set_aside(row) for row in draft if not row.is_modelled),
            missing=table.schema.missing,
            declined=table.schema.declined,
            stop=table.schema.stop,
            language=table.schema.language,
            exploration=table.schema.exploration,
            **_keep_rules(table.schema, parsed, questions),
        )
    except SchemaError as error:
        raise DraftError({(0, ""): f"{error}"}) from None


def _kept_targets(table: UploadedTable) -> tuple[str, ...]:
    """The targets that are survival variables."""
    schema = table.schema
    return tuple(name for name in schema.targets if schema[name].survival is not None)


def _make_row(number: int, name: str, column: str, schema: Schema) -> DraftRow:
    if name not in schema.names:
        return DraftRow(number, name, column, role="out", kind="")
    variable = schema[name]
    if variable.survival is not None:
        return DraftRow(number, name, column, role="target", kind="survival", unit=variable.unit)
    question = next(question for question in schema.questions if name in question.reveals)
    # The text, cost and prerequisites of a question appear once, at the first of its columns, so that
    # they need to be changed only there.
    is_first = name == question.reveals[0]
    shown = question if is_first else Question(question.name, question.reveals)
    return DraftRow(
        number,
        name,
        column,
        role=_find_role(name, question, schema),
        kind=str(variable.kind),
        levels="\n".join(map(str, variable.levels)),
        low=_format_number(variable.low),
        high=_format_number(variable.high),
        unit=variable.unit,
        missing=", ".join(map(format_value, variable.missing)),
        declined=", ".join(map(format_value, variable.declined)),
        question="" if question.name == name else question.name,
        text="" if shown.text == shown.name else shown.text,
        cost="" if shown.cost == 1 else _format_number(shown.cost),
        requires="; ".join(format_requires(shown.requires)),
    )


def _find_role(name: str, question: Question, schema: Schema) -> str:
    if name in schema.targets:
        return "target"
    if question.never:
        return "never"
    return "always" if question.always else "ask"


def _form_fields(number: int, form: Mapping[str, str]) -> dict[str, str]:
    values = {name: form[f"{name}-{number}"] for name in FIELDS if f"{name}-{number}" in form}
    return {name: text.replace("\r\n", "\n").strip() for name, text in values.items()}


@dataclass
class _DraftParser:
    table: UploadedTable
    draft: Draft
    rows: pa.Table
    errors: Errors = field(default_factory=dict)

    def variable(self, row: DraftRow) -> Variable | None:
        """The variable of a row; None if the row has an error."""
        schema, column = self.table.schema, self.rows.column(row.column)
        previous = schema[row.name] if row.name in schema.names else None
        bounds = {name: self._number(row, name) for name in ("low", "high")}
        kinds = [kind for kind in Kind if kind is not Kind.SURVIVAL]
        if row.role not in ROLES or row.kind not in kinds:
            self._add_error(row, "kind", f"{row.name!r} needs a kind: one of {', '.join(kinds)}.")
            return None
        try:
            kind = Kind(row.kind)
            levels = _parse_levels(row, column, previous) if kind.has_levels else ()
            variable = Variable(
                row.name,
                kind,
                levels,
                unit=row.unit,
                format=None if kind.has_levels else _find_format(column, previous),
                missing=_parse_codes(row.missing),
                declined=_parse_codes(row.declined),
                source=None if previous is None else previous.source,
                title="" if previous is None else previous.title,
                labels=previous.labels if previous is not None and previous.levels == levels else (),
                help="" if previous is None else previous.help,
                translations={} if previous is None else _keep_translations(previous, levels, row.unit),
                low=None if kind.has_levels else bounds["low"],
                high=None if kind.has_levels else bounds["high"],
                indicates="" if previous is None else previous.indicates,
            )
            if variable != previous:
                column_to_numbers(column, variable)  # raises if a value does not fit
        except (SchemaError, TableError) as error:
            self._add_error(row, "levels" if "level" in str(error) else "kind", str(error))
            return None
        return variable

    def questions(self) -> tuple[Question, ...]:
        """The questions that differ from the default question of a variable."""
        groups: dict[str, list[DraftRow]] = {}
        for row in self.draft:
            if row.is_modelled:
                groups.setdefault(row.question_name, []).append(row)
        questions = [self._question(name, self._in_order(rows)) for name, rows in groups.items()]
        return tuple(q for q in questions if q is not None and not _is_default(q))

    def set_aside(self, row: DraftRow) -> SetAside:
        """The reason why a column is left out: the previous one, or the analyst's choice."""
        previous = {column.name: column for column in self.table.schema.set_aside}
        return previous.get(row.name, SetAside(row.name, LEFT_OUT_BY_HAND))

    def _in_order(self, group: list[DraftRow]) -> list[DraftRow]:
        """The rows of one question in the order in which it revealed them before, new rows last."""
        names = [name for question in self.table.schema.questions for name in question.reveals]
        order = {name: position for position, name in enumerate(names)}
        return sorted(group, key=lambda row: order.get(row.name, len(order)))

    def _question(self, name: str, group: list[DraftRow]) -> Question | None:
        roles = {row.role for row in group}
        if len(group) > 1 and roles & {"target", "never"} and len(roles) > 1:
            conflict = next(row for row in group if row.role in ("target", "never"))
            reason = "is a target" if conflict.role == "target" else "is never asked"
            message = f"{conflict.name!r} {reason}; it cannot be part of the question {name!r}."
            self._add_error(conflict, "question", message)
            return None
        cost = self._cost(name, group)
        previous = {question.name: question for question in self.table.schema.explicit_questions}
        texts = previous.get(name, Question(name, (name,)))
        try:
            return Question(
                name,
                tuple(row.name for row in group),
                self._common_value(group, "text", name),
                1.0 if cost is None else cost,
                always="always" in roles,
                requires=self._requires(group, name),
                never="never" in roles,
                help=texts.help,
                translations=texts.translations,
                section=texts.section,
            )
        except SchemaError as error:
            self._add_error(group[0], "cost" if "cost" in str(error) else "question", str(error))
            return None

    def _cost(self, name: str, group: list[DraftRow]) -> float | None:
        self._common_value(group, "cost", name)
        return next((self._number(row, "cost") for row in group if row.cost), None)

    def _common_value(self, group: list[DraftRow], column: str, name: str) -> str:
        """The value of a field for one question. Rows that fill it in must agree."""
        values = {text: row for row in reversed(group) if (text := getattr(row, column))}
        if len(values) > 1:
            listed = " and ".join(map(repr, sorted(values)))
            message = f"the question {name!r} has more than one {column}: {listed}. Keep one of them."
            self._add_error(next(iter(values.values())), column, message)
        return next(iter(values), "")

    def _requires(self, group: list[DraftRow], name: str) -> dict[str, Requirement]:
        names = {row.name for row in self.draft if row.is_modelled}
        conditions = []
        for part in filter(None, re.split(r"\s*[;\n]\s*", self._common_value(group, "requires", name))):
            try:
                is_valid = set(parse_requires(part)) <= names
            except SchemaError:
                is_valid = False
            if is_valid:
                conditions.append(part)
            else:
                message = f"{part!r} is not a condition. Write, for example: smoker = yes, or years > 3."
                self._add_error(group[0], "requires", message)
        return parse_requires(conditions)

    def _number(self, row: DraftRow, column: str) -> float | None:
        text = getattr(row, column).replace(",", ".").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            message = f"{column} of {row.name!r} must be a number, got {text[:40]!r}."
            self._add_error(row, column, message)
            return None
        return value

    def _add_error(self, row: DraftRow, column: str, message: str) -> None:
        self.errors.setdefault((row.number, column), message)


def _parse_levels(
    row: DraftRow, column: pa.ChunkedArray, previous: Variable | None
) -> tuple[Level, ...]:
    """The levels of a row: those entered, the previous ones, or the values of the table."""
    lines = tuple(text.strip() for text in row.levels.split("\n") if text.strip())
    if lines and previous is not None and lines == tuple(map(str, previous.levels)):
        return previous.levels  # levels that are numbers stay numbers
    if lines:
        return lines
    codes = (*_parse_codes(row.missing), *_parse_codes(row.declined))
    distinct = clean(column, codes=codes).unique().drop_null()
    if len(distinct) > MAX_INFERRED_LEVELS:
        raise SchemaError(
            f"{row.name!r} has {len(distinct):,} different values, too many to be levels. "
            "Choose the kind real or count, or enter the levels."
        )
    values = distinct.to_pylist()
    if is_text(distinct.type):
        return tuple(sorted(values, key=natural_sort_key))
    return tuple(int(value) if float(value).is_integer() else value for value in sorted(values))


def _parse_codes(text: str) -> tuple[Level, ...]:
    """The codes of a field: -99, refused."""
    codes = (code.strip() for code in re.split(r"[,;\n]", text))
    return tuple(dict.fromkeys(parse_scalar(code) for code in codes if code))


def _find_format(column: pa.ChunkedArray, previous: Variable | None) -> NumberFormat | None:
    """The number format of a column: the previous one, or the one that its texts have."""
    if previous is not None and previous.format is not None:
        return previous.format
    texts = clean(column).drop_null().unique()
    detected = detect_format(texts.to_pylist()) if is_text(texts.type) else None
    return None if detected is None or detected.is_plain else detected


def _keep_translations(
    previous: Variable, levels: tuple[Level, ...], unit: str
) -> dict[str, VariableTexts]:
    """The texts in other languages, without those of levels or of a unit that has changed."""
    return {
        code: replace(
            texts,
            labels=texts.labels if previous.levels == levels else (),
            unit=texts.unit if previous.unit == unit else "",
        )
        for code, texts in previous.translations.items()
    }


def _keep_rules(
    schema: Schema, variables: Sequence[Variable | None], questions: Sequence[Question]
) -> dict[str, Any]:
    """What the form does not show, as far as its questions and variables are still there."""
    modelled = [variable for variable in variables if variable is not None]
    kept = {variable.name for variable in modelled if variable in schema.variables}
    revealed = {name for question in questions for name in question.reveals}
    names = {variable.name for variable in modelled} - revealed
    names |= {question.name for question in questions}
    used = {question.section for question in questions}
    groups = (tuple(name for name in group if name in names) for group in schema.exclusive)
    return {
        "sections": tuple(section for section in schema.sections if section.name in used),
        "exclusive": tuple(group for group in groups if len(group) > 1),
        "beliefs": tuple(belief for belief in schema.beliefs if belief.variable in kept),
        "relations": tuple(r for r in schema.relations if {r.of, r.to} <= kept),
    }


def _is_default(question: Question) -> bool:
    """Whether a question asks one variable by its name, with default settings."""
    return question == Question(question.name, (question.name,))


def _format_number(value: float | None) -> str:
    return "" if value is None else format_value(float(f"{value:.12g}"))
