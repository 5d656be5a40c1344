"""Messages of the library are translated; a message without a template stays English."""

import pytest

from eddi.service.analyst.models.publishing import PublishingError, check_name
from eddi.service.web.languages.current import use_language
from eddi.service.web.languages.language import ENGLISH, LANGUAGES
from eddi.service.web.languages.messages import describe_error, translate_message
from eddi.strategy.stopping import Stop

GERMAN = LANGUAGES["de"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "6 rows are left for training; at least 10 are needed. Hold out fewer rows, or upload a larger "
            "table.",
            "6 Zeilen bleiben für das Training; mindestens 10 sind nötig.",
        ),
        ("53% of the cells are missing.", "53% der Zellen fehlen."),
        (
            "'pounds': Holds the same values as 'weight'. Leave it out.",
            "'pounds': Enthält dieselben Werte wie 'weight'. Lassen Sie die Spalte weg.",
        ),
        (
            "Left out: named like an identifier; every value is different.",
            "Weggelassen: benannt wie eine Kennung; jeder Wert ist anders.",
        ),
        (
            "Check: whole numbers, read as codes without an order. If they are steps of a scale, use: "
            'kind = "ordinal"',
            "Prüfen Sie: ganze Zahlen, gelesen als Codes ohne Ordnung. Wenn es Stufen einer Skala sind, "
            'verwenden Sie: kind = "ordinal"',
        ),
    ],
)
def test_a_message_is_recognised_with_its_values(text: str, expected: str) -> None:
    assert translate_message(text, GERMAN).startswith(expected)


def test_an_unknown_message_stays_as_it_is() -> None:
    for text in ("", "something else happened", "x" * 5000):
        assert translate_message(text, GERMAN) == text


def test_messages_stay_english_on_english_pages() -> None:
    text = "53% of the cells are missing."
    assert translate_message(text, ENGLISH) == text
    assert translate_message(text) == text


def test_an_error_is_described_in_the_language_of_the_request() -> None:
    with pytest.raises(PublishingError) as caught:
        check_name("???")
    with use_language(GERMAN):
        assert describe_error(caught.value).startswith(
            "'???' ist kein gültiger Name eines Fragebogens. Verwenden Sie bis zu 80 Buchstaben"
        )


def test_values_with_percent_signs_are_safe() -> None:
    with pytest.raises(ValueError, match="must be above 0") as caught:
        Stop(sd_below=-1)
    assert "muss über 0 sein, nicht -1" in translate_message(str(caught.value), GERMAN)
    odd = "'%(x)s 100%' is not a whole number. Leave a field empty to switch it off."
    assert translate_message(odd, GERMAN).startswith("'%(x)s 100%' ist keine ganze Zahl.")
