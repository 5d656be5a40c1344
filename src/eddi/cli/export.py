"""`eddi export`: a model in parts that run where Python does not."""

from pathlib import Path

from eddi.cli import terminal
from eddi.errors import EddiError
from eddi.model.files.archive import load
from eddi.model.files.onnx_export import TOLERANCE, export_onnx


def write(model: Path, folder: Path, *, onnx: bool, json: bool) -> None:
    """Write the model at ``model`` to ``folder`` and say what was written."""
    if not onnx:
        raise EddiError("an export needs a format. Say --onnx; it is the only one so far.")
    if folder.exists() and not folder.is_dir():
        raise EddiError(f"the output {str(folder)!r} is a file. Name a folder.")
    files = export_onnx(load(model, device="cpu"), folder)
    for file in files:
        terminal.say(f"wrote {file} ({terminal.size(file.stat().st_size)})")
    terminal.say(f"each part computes what PyTorch does, to {TOLERANCE:g}.", style="green")
    if json:
        terminal.put(terminal.as_json({"files": [str(file) for file in files]}))
