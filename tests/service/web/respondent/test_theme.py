"""The colour of a questionnaire can be read on light and dark pages, and logos cannot contain scripts."""

import pytest

from eddi.service.interviews.questionnaire_settings import MIN_CONTRAST, contrast
from eddi.service.web.respondent.theme import DARK_CARD, find_logo_type, lighten, make_style


@pytest.mark.parametrize("colour", ["#000000", "#0b6b60", "#7a0016"])
def test_a_dark_colour_is_lightened_until_it_can_be_read_on_dark_cards(colour):
    assert contrast(colour, DARK_CARD) < MIN_CONTRAST <= contrast(lighten(colour), DARK_CARD)


def test_a_colour_that_can_be_read_stays():
    assert lighten("#ffffff") == "#ffffff"


def test_the_style_sheet_has_the_colour_and_the_lighter_one():
    style = make_style("#0b6b60")
    assert "--accent: #0b6b60" in style
    assert f"--accent: {lighten('#0b6b60')}" in style


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"", None),
    ],
)
def test_the_type_of_a_logo_follows_from_its_first_bytes(content, kind):
    assert find_logo_type(content) == kind
