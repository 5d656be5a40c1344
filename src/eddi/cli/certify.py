"""`eddi certify`: measure the error rate of early stopping on held-out rows."""

from pathlib import Path
from typing import Annotated

import typer

from eddi.cli import terminal
from eddi.cli.errors import check_writable
from eddi.cli.options import Json, ModelPath, Targets

CONFIDENCE = 0.95  # of the smallest risk that is reported


def certify(
    model: ModelPath,
    table: Annotated[Path, typer.Argument(help="A table of rows that were not used for training.")],
    target: Targets = None,
    within: Annotated[
        float | None,
        typer.Option(metavar="X", help="Largest error of a numeric prediction that counts as correct."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The model file to write. Default: MODEL.")
    ] = None,
    json: Json = False,
) -> None:
    """Interview held-out rows so that `eddi interview --risk` can guarantee its error rate.

    For example: eddi certify people.eddi held_out.csv --target risk --within 2.5

    The resulting certificate is saved in the model file.
    """
    path = output or model
    check_writable(path)
    from eddi.interview import risk_control
    from eddi.partial_vae import load

    fitted = load(model)
    certificate = risk_control.certify(fitted, table, target, within=within)
    fitted.save(path)
    smallest_risk = certificate.smallest_risk(CONFIDENCE)
    terminal.print_message(
        f"{path}: certified on {certificate.n_rows:,} rows. The smallest risk that can be guaranteed "
        f"with {CONFIDENCE:.0%} confidence is {smallest_risk:.2g}.",
        style="green",
    )
    if json:
        terminal.print_data(terminal.to_json(certificate.to_document()))
