"""`eddi demo`: train on an embedded table, interview a held-out person, and evaluate the result."""

from pathlib import Path
from typing import Annotated

import typer

from eddi.cli import terminal
from eddi.cli.options import MAX_SEED
from eddi.cli.serve import read_settings, run_server, with_free_port


def demo(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for the model, table and figure."),
    ] = Path("demo"),
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=MAX_SEED, help="Random seed; it also selects the person."),
    ] = 0,
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve the questionnaire; train only if there is no model yet."),
    ] = False,
) -> None:
    """Train on an embedded table, interview a held-out person, and compare three strategies."""
    from eddi.cli import demo_run

    out = terminal.open_console(stderr=serve)
    if not serve:
        return demo_run.run_demo(output, out, seed=seed)
    demo_run.prepare_model(output, out, seed=seed)
    return run_server(with_free_port(demo_run.build_settings(output, read_settings())))
