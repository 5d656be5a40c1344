"""Structured logs: one JSON object per line on standard error. Answers are never logged."""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

FIELDS = "fields"  # attribute of a log record with additional fields: extra={FIELDS: {...}}


class JsonFormatter(logging.Formatter):
    """Formats a log record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = describe_error(record.exc_info[1])
        return json.dumps(fields, ensure_ascii=False)


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return the type and the stack trace of an error.

    The message is left out, because it may quote an answer.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "type": type(error).__name__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


def configure(level: str) -> None:
    """Log the service and its web server as JSON to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    for name in ("eddi.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
    logging.getLogger("uvicorn.error").setLevel("ERROR")  # malformed requests must not fill the log
    logging.getLogger(
        "uvicorn.access"
    ).disabled = True  # its lines contain the secret keys of interviews
