"""Answers as the content of a file, in one of the formats of other programs."""

import csv
import io
import json
from collections.abc import Sequence

import pyarrow as pa

from eddi.interview.exports.answer_format import AnswerFormat
from eddi.interview.exports.fhir import to_bundle
from eddi.interview.exports.redcap import to_redcap
from eddi.interview.exports.respondent import Respondent
from eddi.interview.exports.xlsform import to_submissions
from eddi.table.cells.formulas import neutralize
from eddi.table.schema import Schema


def write_answers(
    respondents: Sequence[Respondent],
    schema: Schema,
    answer_format: AnswerFormat,
    *,
    questionnaire: str = "",
) -> str:
    """Return the answers as text: CSV, or a FHIR Bundle as JSON.

    Args:
        respondents: in the order of the file.
        schema: of the model that asked.
        answer_format: of the text.
        questionnaire: its name, if it has one.
    """
    if answer_format is AnswerFormat.FHIR:
        bundle = to_bundle(respondents, schema, questionnaire=questionnaire)
        return json.dumps(bundle, ensure_ascii=False, indent=1) + "\n"
    convert = to_redcap if answer_format is AnswerFormat.REDCAP else to_submissions
    return _to_csv(convert(respondents, schema))


def _to_csv(table: pa.Table) -> str:
    """Return a table of texts as CSV that no spreadsheet evaluates."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([neutralize(name) for name in table.column_names])
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow([neutralize(cell) for cell in row])
    return text.getvalue()
