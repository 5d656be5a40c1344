"""The language of a request reaches the texts and numbers of the analyst's pages."""

import anyio

from eddi.service.web.languages.current import (
    current_language,
    format_integer,
    format_percent,
    gettext,
    localize,
    ngettext,
    use_language,
)
from eddi.service.web.languages.language import ENGLISH, LANGUAGES

GERMAN = LANGUAGES["de"]


def test_texts_are_english_outside_of_a_request():
    assert (current_language(), gettext("Workshop")) == (ENGLISH, "Workshop")
    assert (localize("1,234.5"), format_percent(0.125, 1)) == ("1,234.5", "12.5%")


def test_texts_and_numbers_are_in_the_language_of_the_request():
    with use_language(GERMAN):
        assert gettext("Workshop") == "Werkstatt"
        assert ngettext("one row", "%(number)s rows", 2, number=format_integer(2000)) == "2.000 Zeilen"
        assert (localize("1,234.5"), format_percent(0.125, 1)) == ("1.234,5", "12,5\xa0%")
    assert gettext("Workshop") == "Workshop"


def test_a_thread_that_the_request_waits_for_has_its_language():
    async def respond():
        with use_language(GERMAN):
            return await anyio.to_thread.run_sync(current_language)

    assert anyio.run(respond) is GERMAN
