"""Answers in the columns of submissions to an XLSForm, as ODK and KoboToolbox export them."""

import uuid
from collections.abc import Mapping, Sequence

import pyarrow as pa

from eddi.interview.exports.respondent import Respondent, format_answer, read_values
from eddi.interview.record import NoAnswer
from eddi.table.cells.multi_select import join_options
from eddi.table.question import Question
from eddi.table.schema import Schema
from eddi.table.variable import Level

Values = Mapping[str, Level | NoAnswer]


def to_submissions(respondents: Sequence[Respondent], schema: Schema) -> pa.Table:
    """Return one row per respondent, with the columns of a submission.

    A question has a column with the code of its answer. A multi-select question lists the codes of the
    options that apply. Variables that nobody answered are left out.
    """
    columns = {
        "start": [respondent.began_at for respondent in respondents],
        "end": [respondent.ended_at for respondent in respondents],
    }
    values = [read_values(respondent.record) for respondent in respondents]
    for name, cells in _answer_columns(schema, values):
        if any(cells):
            columns[name if name not in columns else f"{name}_"] = cells
    columns["KEY"] = [f"uuid:{_make_uuid(respondent.name)}" for respondent in respondents]
    return pa.table(columns)


def _answer_columns(schema: Schema, values: Sequence[Values]) -> list[tuple[str, list[str]]]:
    listed: set[str] = set()
    columns = []
    for question in schema.questions:
        if options := schema.options(question):
            listed.update(options)
            name = _find_list_column(schema, question)
            columns.append((name, [_list_options(schema, options, row) for row in values]))
    for variable in schema.variables:
        if variable.name not in listed:
            cells = [format_answer(variable, row.get(variable.name)) for row in values]
            columns.append((variable.name, cells))
    return columns


def _find_list_column(schema: Schema, question: Question) -> str:
    source = schema[question.reveals[0]].source
    return source.column if source is not None and source.is_list else question.name


def _list_options(schema: Schema, options: Mapping[str, str], row: Values) -> str:
    """Return the selected options, or the code for a missing value."""
    given = {name: row[name] for name in options if name in row}
    selected = [options[name] for name, value in given.items() if value == schema[name].levels[1]]
    if selected or not given:
        source = schema[next(iter(options))].source
        return join_options(
            selected, source.separator if source is not None and source.separator else " "
        )
    first = next(iter(given))
    return format_answer(schema[first], given[first]) if isinstance(given[first], NoAnswer) else ""


def _make_uuid(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"urn:eddi:person:{name}"))
