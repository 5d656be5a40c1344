"""The log of the service."""

import io
import logging
import time

import pytest

from eddi.service.logs import JsonFormatter


class CapturedLog:
    """Everything that the service logs."""

    def __init__(self):
        self.stream = io.StringIO()

    @property
    def text(self):
        return self.stream.getvalue()

    def wait_for_lines(self, n_lines):
        """Return the text once it has this many lines: a line is written after its response is sent."""
        deadline = time.monotonic() + 10
        while self.text.count("\n") < n_lines and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.text


@pytest.fixture
def log():
    captured = CapturedLog()
    handler = logging.StreamHandler(captured.stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger("eddi.service")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel("DEBUG")
    yield captured
    logger.setLevel(level)
    logger.removeHandler(handler)
