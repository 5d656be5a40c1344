"""`eddi ask`: one step of an interview, JSON in and JSON out, nothing remembered."""

import json
import sys
from pathlib import Path
from typing import Any

from eddi.cli import terminal
from eddi.errors import AnswerError
from eddi.interview.documents import SHAPE, describe, resume
from eddi.model.files.archive import load
from eddi.strategy.stopping import StoppingRule


def step(model: Path, target: str | list[str] | None, stop: StoppingRule) -> dict[str, Any]:
    """Where the interview stands whose answers are on standard input."""
    document = _read()
    return describe(resume(load(model), document, target, stop=stop))


def _read() -> Any:
    if sys.stdin.isatty():
        terminal.say("reading answers as JSON from this terminal; end with Ctrl-D.")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig").strip()
        return json.loads(text) if text else {}
    except ValueError as error:
        raise AnswerError(f"standard input is not JSON ({error}). {SHAPE}") from None
