"""`eddi store outcomes`: import the true values of targets that became known after the interviews."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import EXIT_ERROR
from eddi.cli.open_store import StoreUrl, WorkshopOption, find_workshop, open_store
from eddi.cli.options import Json
from eddi.errors import EddiError

if TYPE_CHECKING:
    from eddi.service.interviews.outcomes.outcome_file import ImportReport


def outcomes(
    url: StoreUrl,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV with the columns interview and value.")
    ],
    questionnaire: Annotated[
        str, typer.Option("--questionnaire", "-q", metavar="NAME", help="What the people answered.")
    ],
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Accept values outside their range.")
    ] = False,
    workshop: WorkshopOption = None,
    json: Json = False,
) -> None:
    """Import outcomes: the true values of the target, such as lab results.

    For example: eddi store outcomes sqlite:///answers.db lab.csv -q people

    The column "interview" (or "person") has the names of the exported answers, and
    the column "value" (or "outcome") the values. Every line that cannot be used is
    reported with its number, and all others are stored. A line with another value
    corrects the outcome. Importing a file again changes nothing. The exit code is 1
    if a line was not stored.
    """
    content = file.read_bytes()
    report = _import(url, questionnaire, content, folder=workshop or find_workshop(url), confirm=confirm)
    for error in report.errors:
        terminal.print_message(f" {error.message}", style="red", label=f"line {error.line}:")
    terminal.print_message(
        f"stored {report.n_stored:,} outcomes; {report.n_unchanged:,} were known, "
        f"{report.n_empty:,} lines have no value, {len(report.errors):,} were not stored.",
        style="yellow" if report.errors else "green",
    )
    if json:
        terminal.print_data(terminal.to_json(_to_document(report)))
    if report.errors:
        raise typer.Exit(EXIT_ERROR)


def _import(
    url: str, questionnaire: str, content: bytes, *, folder: Path | None, confirm: bool
) -> "ImportReport":
    if folder is None:
        raise EddiError("the store has no workshop. Name the folder of its models: --workshop")
    with open_store(url) as store:
        from eddi.service.analyst.questionnaires.outcome_records import OutcomeRecords
        from eddi.service.analyst.workshop import Workshop
        from eddi.service.web.api_keys import COMMAND_LINE

        records = OutcomeRecords(Workshop(store, folder))
        return records.import_file(questionnaire, content, by=COMMAND_LINE, confirm=confirm)


def _to_document(report: "ImportReport") -> dict[str, object]:
    return {
        "stored": report.n_stored,
        "unchanged": report.n_unchanged,
        "empty": report.n_empty,
        "errors": [{"line": error.line, "message": error.message} for error in report.errors],
    }
