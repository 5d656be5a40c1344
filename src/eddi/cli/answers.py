"""`eddi store answers`: export collected answers for REDCap, XLSForm and FHIR."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.open_store import StoreUrl, WorkshopOption, find_workshop, open_store
from eddi.errors import EddiError
from eddi.interview.exports.answer_format import AnswerFormat

if TYPE_CHECKING:
    from eddi.service.analyst.questionnaires.collected_answers import Person
    from eddi.store.sql import SqlStore
    from eddi.table.schema import Schema


def answers(
    url: StoreUrl,
    questionnaire: Annotated[
        str, typer.Option("--questionnaire", "-q", metavar="NAME", help="What the people answered.")
    ],
    answer_format: Annotated[
        AnswerFormat, typer.Option("--format", "-f", help="The program that reads the file.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file. Default: standard output.")
    ] = None,
    workshop: WorkshopOption = None,
) -> None:
    """Export the answers to a questionnaire for REDCap, XLSForm or FHIR.

    For example: eddi store answers sqlite:///answers.db -q people -f redcap -o people.csv

    A person is named by a hash; private links are never exported. The formats are
    CSV for REDCap's Data Import Tool, CSV with the columns of submissions to an
    XLSForm, and a FHIR Bundle of QuestionnaireResponses.
    """
    from eddi.interview.exports.answer_file import write_answers

    folder = workshop or find_workshop(url)
    if folder is None:
        raise EddiError("the store has no workshop. Name the folder of its models: --workshop")
    with open_store(url) as store:
        people, schema = _collect(store, folder, questionnaire)
    text = write_answers(people, schema, answer_format, questionnaire=questionnaire)
    if output is None:
        return terminal.print_data(text.rstrip("\n"))
    _write_file(output, text)
    return terminal.print_message(f"wrote {output}: {len(people):,} people", style="green")


def _collect(store: "SqlStore", folder: Path, name: str) -> tuple[list["Person"], "Schema"]:
    from eddi.service.analyst.questionnaires.collected_answers import Filters, collect
    from eddi.service.analyst.workshop import Workshop

    workshop = Workshop(store, folder)
    item = workshop.publisher.get(name)
    return collect(store, item, Filters()), workshop.catalogue.load(item).model.schema


def _write_file(path: Path, text: str) -> None:
    from eddi.store.backup import create_atomically

    check_writable(path)
    with create_atomically(path) as partial:
        partial.write_text(text, encoding="utf-8")
