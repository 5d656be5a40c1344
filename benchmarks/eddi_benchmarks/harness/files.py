"""Files that are written completely or not at all."""

import json
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> None:
    """Write a text file; after a kill either the old or the new content is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a JSON file; after a kill either the old or the new content is there."""
    write_text(path, json.dumps(document, indent=1) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON object, or return None if there is no readable one."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
