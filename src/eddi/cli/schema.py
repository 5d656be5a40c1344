"""`eddi schema`: infer a schema from a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from eddi.cli import terminal
from eddi.cli.options import Json, TablePath, Targets

if TYPE_CHECKING:
    from eddi.table.cells.levels import Level
    from eddi.table.schema import Schema

Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE", help="Code for a missing value, such as -99. May be repeated."),
]
Declined = Annotated[
    list[str] | None,
    typer.Option(metavar="CODE", help="Code for a declined answer, such as refused. May be repeated."),
]
Person = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Repeated measurements: the column that names the person."),
]
Time = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column with the time of a measurement.")
]
LongColumns = Annotated[
    str | None,
    typer.Option(
        metavar="VARIABLE:VALUE",
        help="Of a long table: the columns with the name of the variable and its value.",
    ),
]
CodebookPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A REDCap data dictionary, an XLSForm, a FHIR Questionnaire, or a table of variables, labels "
        "and codes.",
    ),
]

SurvivalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--survival",
        metavar="NAME=TIME:EVENT",
        help="A target that is the time until an event, from two columns, such as death=days:died.",
    ),
]


def parse_survival(texts: list[str] | None) -> dict[str, tuple[str, str]]:
    """Return the columns of survival variables by name, from texts such as "death=days:died"."""
    variables = {}
    for text in texts or ():
        name, _, columns = text.rpartition("=")
        time, _, event = columns.partition(":")
        if not (time and event):
            raise typer.BadParameter(f"--survival must be NAME=TIME:EVENT, got {text!r:.80}.")
        variables[name or event] = (time, event)
    return variables


def schema(
    table: TablePath,
    target: Targets = None,
    missing: Missing = None,
    declined: Declined = None,
    codebook: CodebookPath = None,
    survival: SurvivalOption = None,
    person: Person = None,
    time: Time = None,
    long: LongColumns = None,
    json: Json = False,
) -> None:
    """Infer the kind of each column of a table and print a schema as TOML to edit by hand.

    Uncertain guesses are listed first, each with the line to use instead. With a codebook, texts, labels,
    ranges and conditions come from it, and what cannot be represented is listed, too.

    For example: eddi schema people.csv --codebook dictionary.csv > people.toml
    or, for the time until an event: eddi schema patients.csv --survival death=days:died > patients.toml

    With --person and --time, the table has repeated measurements; see [time] in the schema.
    """
    from eddi.table.text import parse_scalar

    codes = [tuple(map(parse_scalar, given or ())) for given in (missing, declined)]
    if person is None and time is None:
        inferred = _infer_static(table, target, codes, codebook, survival)
    elif person is None or time is None or codebook is not None:
        raise typer.BadParameter("repeated measurements need --person and --time, and no --codebook.")
    else:
        from eddi.table.series.infer_series import infer_series

        variable, _, value = (long or "").partition(":")
        inferred = infer_series(
            table,
            person=person,
            time=time,
            variable=variable,
            value=value,
            targets=target or (),
            missing=codes[0],
            declined=codes[1],
            survival=parse_survival(survival),
        )
    terminal.print_data(terminal.to_json(inferred.to_document()) if json else inferred.to_toml())
    console = terminal.open_console(stderr=True)
    if inferred.notes:
        console.print(_build_notes_table(inferred))
    console.print(terminal.build_schema_table(inferred))


def _infer_static(
    table: Path,
    target: list[str] | None,
    codes: "list[tuple[Level, ...]]",
    codebook: Path | None,
    survival: list[str] | None,
) -> "Schema":
    from eddi.table.schema import Schema

    missing, declined = codes
    return Schema.infer(
        table,
        targets=target or (),
        missing=missing,
        declined=declined,
        codebook=codebook,
        survival=parse_survival(survival),
    )


def _build_notes_table(schema: "Schema") -> Table:
    """Return what to check: the column, the doubt, and the line to use instead."""
    from eddi.table.schema_file import format_variable_line

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), title_justify="left")
    for note in schema.notes:
        text = Text(note.message)
        if note.alternative is not None:
            text.append(f"\n{format_variable_line(note.alternative)}", "dim")
        table.add_row(Text("check", "bold yellow"), Text(note.column or "codebook"), text)
    return table
