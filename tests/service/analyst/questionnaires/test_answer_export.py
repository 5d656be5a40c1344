"""Every format of exported answers has a name and a media type."""

import pytest

from eddi.interview.exports.answer_format import AnswerFormat
from eddi.service.analyst.questionnaires.answer_export import MEDIA_TYPES, ExportFormat


@pytest.mark.parametrize("name", ExportFormat)
def test_every_format_has_a_media_type(name):
    assert name.extension in MEDIA_TYPES


def test_the_formats_of_other_programs_are_offered():
    assert {f"{item}.{item.extension}" for item in AnswerFormat} <= set(ExportFormat)
