"""`eddi certify`: what a promise of few wrong decisions stands on, kept in the model's file."""

from pathlib import Path
from typing import Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_output, command_of

app = typer.Typer()  # without a name: its verb is one of `eddi` itself
_command = command_of(app)


@_command
def certify(
    model: Annotated[Path, typer.Argument(help="A model written by `eddi fit`.")],
    table: Annotated[Path, typer.Argument(help="Rows the model has never seen.")],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="NAME", help="What you want to know. May be repeated."),
    ] = None,
    within: Annotated[
        float | None, typer.Option(metavar="X", help="How far off a quantity may be and still be right.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Another model file; else MODEL itself.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> None:
    """Interview held-out rows, so that --risk of `eddi interview` can be promised, and keep the result.

    For example: eddi certify people.eddi held_out.csv --target risk --within 2.5
    """
    check_output(output or model)
    from eddi.interview.risk_control import certify
    from eddi.model.files.archive import load

    known = load(model)
    found = certify(known, table, target, within=within)
    known.save(output or model)
    terminal.say(
        f"{output or model}: certified by {found.n_rows:,} rows; the least risk that can be promised "
        f"with 95% confidence is {found.least_risk(0.95):.2g}.",
        style="green",
    )
    if json:
        terminal.put(terminal.as_json(found.to_document()))
