"""`eddi export`: write a model in a format that runs without Python."""

from pathlib import Path
from typing import Annotated

import typer

from eddi.cli import terminal
from eddi.cli.options import Json, ModelPath
from eddi.errors import EddiError


def export(
    model: ModelPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the exported files.")
    ],
    onnx: Annotated[
        bool, typer.Option("--onnx", help="Export as ONNX files: term, posterior, decoder.")
    ] = False,
    json: Json = False,
) -> None:
    """Export a model to files that run without Python, for example in a browser or on a phone.

    For example: eddi export --onnx people.eddi -o people-onnx

    The outputs of each file are compared with those of PyTorch. See
    docs/how-to/onnx.md for how to interview with the exported files.
    """
    if not onnx:
        raise EddiError("no export format was given. Use --onnx, the only supported format.")
    if output.exists() and not output.is_dir():
        raise EddiError(f"the output {str(output)!r} is a file. Name a folder.")
    from eddi.model.files.archive import load_network
    from eddi.model.files.onnx_export import TOLERANCE, export_onnx

    files = export_onnx(load_network(model, device="cpu"), output)
    for file in files:
        terminal.print_message(f"wrote {file} ({terminal.format_size(file.stat().st_size)})")
    terminal.print_message(
        f"the outputs of all files match PyTorch to within {TOLERANCE:g}.", style="green"
    )
    if json:
        terminal.print_data(terminal.to_json({"files": [str(file) for file in files]}))
