"""Collected answers as a file: tables, and the formats of REDCap, XLSForm and FHIR."""

import tempfile
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
from fastapi import Response

from eddi.interview.exports.answer_file import write_answers
from eddi.interview.exports.answer_format import AnswerFormat
from eddi.service.analyst.models.published_questionnaire import PublishedQuestionnaire
from eddi.service.analyst.questionnaires.collected_answers import Filters, collect, make_table
from eddi.service.analyst.workshop import Workshop
from eddi.store.base import Store
from eddi.table import formats

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/fhir+json",
}


class ExportFormat(StrEnum):
    """A format of exported answers; the value is the end of the name of the file."""

    CSV = "csv"
    PARQUET = "parquet"
    REDCAP = "redcap.csv"
    XLSFORM = "xlsform.csv"
    FHIR = "fhir.json"

    @property
    def extension(self) -> str:
        """The last part of the name of a file."""
        return self.value.rpartition(".")[2]


def export_answers(
    workshop: Workshop,
    item: PublishedQuestionnaire,
    export_format: ExportFormat,
    *,
    filters: Filters,
    by: str,
) -> Response:
    """Return the answers to a questionnaire as a file, and note who exported them."""
    people = collect(_store(workshop), item, filters)
    name = f"answers.{export_format}"
    workshop.activity.record(item.key, "exported", {"file": name, "people": len(people)}, by=by)
    schema = workshop.catalogue.load(item).model.schema
    if export_format in (ExportFormat.CSV, ExportFormat.PARQUET):
        return make_file(make_table(people, schema), "answers", export_format.extension)
    answer_format = AnswerFormat(export_format.value.partition(".")[0])
    text = write_answers(people, schema, answer_format, questionnaire=item.name)
    return _make_attachment(text.encode(), name, MEDIA_TYPES[export_format.extension])


def make_file(table: pa.Table, name: str, kind: str) -> Response:
    """Return a table as a CSV or Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{kind}"
        formats.write(table, path)
        content = path.read_bytes()
    return _make_attachment(content, f"{name}.{kind}", MEDIA_TYPES[kind])


def _store(workshop: Workshop) -> Store:
    return workshop.publisher.store


def _make_attachment(content: bytes, name: str, media_type: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type=media_type)
