"""Answers as a file for REDCap's Data Import Tool: one row per person, with codes."""

import re
from collections.abc import Sequence

import pyarrow as pa

from eddi.interview.exports.respondent import Respondent, format_answer, read_values
from eddi.interview.record import NoAnswer
from eddi.table.codebooks.redcap import RECORD_ID
from eddi.table.schema import Schema
from eddi.table.variable import Level, Variable

DEFAULT_NAME = "record_id"  # of the first column, if the schema does not come from REDCap
MAX_NAME = 100  # characters of the name of a field


def to_redcap(respondents: Sequence[Respondent], schema: Schema) -> pa.Table:
    """Return one row per respondent, with the columns that REDCap expects.

    The first column is the record ID, with the name that it has in REDCap's codebook. A multi-select
    question has a column with 0 or 1 for each option. Variables that nobody answered are left out.
    """
    identifiers = (column.name for column in schema.set_aside if column.reason == RECORD_ID)
    names = [_make_name(next(identifiers, DEFAULT_NAME))]
    columns = [[respondent.name for respondent in respondents]]
    values = [read_values(respondent.record) for respondent in respondents]
    for variable in schema.variables:
        cells = [_format_cell(variable, row.get(variable.name)) for row in values]
        if any(cells):
            names.append(_make_unique(_make_name(_find_name(variable)), names))
            columns.append(cells)
    return pa.table(dict(zip(names, columns, strict=True)))


def _format_cell(variable: Variable, value: Level | NoAnswer | None) -> str:
    is_list = variable.source is not None and variable.source.is_list
    if not is_list or value is None or isinstance(value, NoAnswer):
        return format_answer(variable, value)
    return "1" if value == variable.levels[1] else "0"


def _find_name(variable: Variable) -> str:
    source = variable.source
    if source is None or not source.is_list:
        return variable.column
    return f"{source.column}___{source.option.replace('-', '_')}"


def _make_name(text: str) -> str:
    """Return a name of a field: lower case letters, digits and underscores, a letter first."""
    name = re.sub(r"[^a-z0-9_]", "_", text.lower())
    return (name if re.match("[a-z]", name) else f"x_{name}")[:MAX_NAME]


def _make_unique(name: str, names: Sequence[str]) -> str:
    number, unique = 2, name
    while unique in names:
        unique, number = f"{name}_{number}", number + 1
    return unique
