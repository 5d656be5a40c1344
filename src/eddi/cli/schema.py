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
VariableColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Of a long table: the column that names the variable."),
]
ValueColumn = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Of a long table: the column with the value.")
]
CodebookPath = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A REDCap data dictionary, an XLSForm, a FHIR Questionnaire, or a table of variables, labels "
        "and codes.",
    ),
]


def schema(
    table: TablePath,
    target: Targets = None,
    missing: Missing = None,
    declined: Declined = None,
    codebook: CodebookPath = None,
    person: Person = None,
    time: Time = None,
    variable: VariableColumn = None,
    value: ValueColumn = None,
    json: Json = False,
) -> None:
    """Infer the kind of each column of a table and print a schema as TOML to edit by hand.

    Uncertain guesses are listed first, each with the line to use instead. With a codebook, texts, labels,
    ranges and conditions come from it, and what cannot be represented is listed, too.

    For example: eddi schema people.csv --codebook dictionary.csv > people.toml

    With --person and --time, the table has repeated measurements; see [time] in the schema.
    """
    from eddi.table.text import parse_scalar

    codes = [tuple(map(parse_scalar, given or ())) for given in (missing, declined)]
    if person is None and time is None:
        inferred = _infer_static(table, target, codes, codebook)
    elif person is None or time is None or codebook is not None:
        raise typer.BadParameter("repeated measurements need --person and --time, and no --codebook.")
    else:
        from eddi.table.series.infer_series import infer_series

        inferred = infer_series(
            table,
            person=person,
            time=time,
            variable=variable or "",
            value=value or "",
            targets=target or (),
            missing=codes[0],
            declined=codes[1],
        )
    terminal.print_data(terminal.to_json(inferred.to_document()) if json else inferred.to_toml())
    console = terminal.open_console(stderr=True)
    if inferred.notes:
        console.print(_build_notes_table(inferred))
    console.print(terminal.build_schema_table(inferred))


def _infer_static(
    table: Path, target: list[str] | None, codes: "list[tuple[Level, ...]]", codebook: Path | None
) -> "Schema":
    from eddi.table.schema import Schema

    missing, declined = codes
    return Schema.infer(
        table, targets=target or (), missing=missing, declined=declined, codebook=codebook
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
