"""Formats of exported answers."""

import pytest

from eddi.interview.exports.answer_format import AnswerFormat


@pytest.mark.parametrize(
    ("name", "extension"), [("redcap", "csv"), ("xlsform", "csv"), ("fhir", "json")]
)
def test_a_format_has_a_file_extension(name, extension):
    assert AnswerFormat(name).extension == extension
