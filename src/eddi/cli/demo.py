"""`eddi demo`: train on an embedded table, interview a held-out person, and compare strategies."""

from pathlib import Path
from typing import Annotated

import typer

from eddi.cli import terminal
from eddi.cli.serve import read_settings, run_server, with_free_port


def demo(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder for the model, tables and figure."),
    ] = Path("demo"),
    person: Annotated[
        int, typer.Option(metavar="N", min=1, help="Which of the held-out people is interviewed.")
    ] = 8,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the questionnaire to a browser instead.")
    ] = False,
) -> None:
    """Could your blood sugar be raised without you knowing it? Train, interview, and compare.

    The model is trained the first time, in about a minute, and kept in DIR. The
    table is a public health survey. This is a demonstration, not medical advice.
    """
    from eddi.cli import demo_comparison, demo_interview, demo_model

    out = terminal.open_console(stderr=serve)
    if serve:
        settings = demo_model.build_settings(output, read_settings())  # reports errors before training
        demo_model.prepare_model(output, out)
        return run_server(with_free_port(settings))
    demo_interview.check_person(person)
    model = demo_model.prepare_model(output, out)
    demo_interview.interview_person(out, model, person)
    demo_comparison.compare_strategies(out, model, output)
    return demo_model.print_files(out, output)
