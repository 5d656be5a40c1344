"""Log records are lines of JSON without the message of an error."""

import json
import logging

import pytest

from eddi.service.logs import FIELDS, JsonFormatter, describe_error


def format_record(message, *, fields=None, exc_info=None):
    record = logging.LogRecord("eddi.service", logging.INFO, "", 0, message, (), exc_info)
    if fields is not None:
        setattr(record, FIELDS, fields)
    return json.loads(JsonFormatter().format(record))


def test_a_record_has_time_level_message_and_additional_fields():
    line = format_record("started", fields={"port": 8000})
    assert (line["level"], line["what"], line["port"]) == ("info", "started", 8000)
    assert line["at"].endswith("+00:00")


def answer():
    raise ValueError("my secret answer")


def test_the_message_of_an_error_is_not_logged_since_it_may_quote_an_answer():
    with pytest.raises(ValueError, match="secret") as raised:
        answer()
    error = raised.value
    line = format_record("failed", exc_info=(type(error), error, error.__traceback__))
    assert line["error"] == describe_error(error)
    assert line["error"]["type"] == "ValueError"
    assert line["error"]["trace"][-1].endswith(" answer")
    assert "secret answer" not in json.dumps(line)
