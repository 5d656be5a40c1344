"""Every text of the pages is in the catalogue of every language."""

import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

import eddi
import eddi.service.app  # defines all errors
from eddi.service.errors import RespondentError
from eddi.service.web.languages.language import ENGLISH, LANGUAGES

ROOT = Path(__file__).parents[4]
SERVICE = Path(eddi.__file__).parent / "service"
TEMPLATES = SERVICE / "web" / "templates"
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")
KEYWORDS = {"N_": None, "_": None, "gettext": None, "ngettext": (1, 2)}
# Text between tags or in an attribute that is read aloud, with at least one word.
MARKUP = re.compile(r"<!--.*?-->|{#.*?#}|{%.*?%}|{{.*?}}", re.DOTALL)
READ_TEXT = re.compile(r">([^<>]*[A-Za-z]{2,}[^<>]*)<|(?:aria-label|alt|placeholder|title)=\"([^\"]+)\"")


def extract_messages():
    """The English texts in the code and the templates; a pair for a text with a plural."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    mappings = document["tool"]["babel"]["mappings"]
    methods = [(entry["pattern"], entry["method"]) for entry in mappings]
    options = {
        entry["pattern"]: {k: v for k, v in entry.items() if k not in ("pattern", "method")}
        for entry in mappings
    }
    found = extract_from_dir(SERVICE, methods, options, KEYWORDS)
    return {message for _, _, message, _, _ in found}


def read_catalogue(code):
    path = SERVICE / "web" / "locale" / code / "LC_MESSAGES" / "eddi.po"
    with path.open("rb") as file:
        return {message.id: message for message in read_po(file) if message.id}


def flatten(text):
    """A text, or its forms as a tuple."""
    return tuple(text) if isinstance(text, list) else text


@pytest.fixture(scope="module")
def messages():
    return extract_messages()


TRANSLATED = sorted(set(LANGUAGES) - {"en"})


@pytest.mark.parametrize("code", TRANSLATED)
def test_every_text_is_translated(messages, code):
    """After adding a text, run `make catalogue` and translate it."""
    catalogue = read_catalogue(code)
    translated = {
        key
        for key, message in catalogue.items()
        if message.string and (isinstance(message.string, str) or all(message.string))
    }
    assert messages - translated == set()
    assert set(catalogue) - messages == set(), "these texts are no longer used"


@pytest.mark.parametrize("code", TRANSLATED)
def test_translations_have_the_placeholders_of_the_text(code):
    for key, message in read_catalogue(code).items():
        if isinstance(key, str):
            expected = sorted(PLACEHOLDER.findall(key))
            assert sorted(PLACEHOLDER.findall(message.string)) == expected, key
        else:
            allowed = set(PLACEHOLDER.findall(key[1]))
            for text in message.string:
                assert set(PLACEHOLDER.findall(text)) <= allowed, key


@pytest.mark.parametrize("code", TRANSLATED)
def test_the_compiled_catalogue_is_up_to_date(code):
    """`make catalogue` compiles it."""
    path = SERVICE / "web" / "locale" / code / "LC_MESSAGES" / "eddi.mo"
    with path.open("rb") as file:
        compiled = {flatten(message.id): message.string for message in read_mo(file) if message.id}
    expected = {key: message.string for key, message in read_catalogue(code).items()}
    assert {key: flatten(text) for key, text in compiled.items()} == expected


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_templates_have_no_text_outside_the_catalogue(template):
    text = MARKUP.sub("", template.read_text(encoding="utf-8"))
    found = [part.strip() for pair in READ_TEXT.findall(text) for part in pair if part.strip()]
    assert found == []


def test_english_texts_stay_as_they_are():
    assert ENGLISH.gettext("under 1%%") == "under 1%"
    assert ENGLISH.ngettext("one answer", "%(num)s answers", 3) == "3 answers"


@pytest.mark.parametrize(("n_answers", "text"), [(1, "eine Antwort"), (2, "2 Antworten")])
def test_plurals_follow_the_language(n_answers, text):
    assert LANGUAGES["de"].ngettext("one answer", "%(num)s answers", n_answers) == text


@pytest.mark.parametrize(("code", "text"), [("en", "1 March 2030"), ("de", "1. März 2030")])
def test_dates_are_written_as_in_the_language(code, text):
    assert LANGUAGES[code].format_date(date(2030, 3, 1)) == text


def test_every_error_page_is_in_the_catalogue(messages):
    errors = RespondentError.__subclasses__()
    assert len(errors) > 5
    assert {text for error in errors for text in (error.title, error.explanation)} <= messages
