"""Logs as lines of JSON on standard error: what happened, never what was answered."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

FACTS = "facts"  # the attribute of a log record that carries what is to be logged


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
            **getattr(record, FACTS, {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = where(record.exc_info[1])
        return json.dumps(facts, ensure_ascii=False)


def where(error: BaseException) -> dict[str, Any]:
    """What sort of error happened, and where; its words may quote an answer, and are left out."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "type": type(error).__name__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def configure(level: str) -> None:
    """Have the service and its web server log lines of JSON to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for name in ("eddi.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
    logging.getLogger("uvicorn.error").setLevel("WARNING")
    logging.getLogger("uvicorn.access").disabled = True  # its lines carry interviews' secret addresses
