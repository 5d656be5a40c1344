"""Texts of codebooks: without markup, with units found, and choices split into codes and labels."""

import html
import math
import re

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import MAX_CHOICES, MAX_TEXT, Choice, check_count

_TAG = re.compile(r"<(?:!--|/?[A-Za-z])[^<>]{0,2000}>")
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/h\d|/tr)\b[^<>]{0,100}>", re.IGNORECASE)
_MARKDOWN = re.compile(r"(\*\*|__|^#{1,6}\s)(?=\S)|(?<=\S)(\*\*|__)", re.MULTILINE)
_UNIT = re.compile(
    r"%|\u00b0 ?[CF]|(?:mm|c|k|m|\u00b5|u)?(?:g|m|l|L|mol|Hg|s)|mmHg|years?|yrs?|months?|weeks?|days?"
    r"|hours?|hrs?"
    r"|h|min|minutes?|sec|seconds?|bpm|beats|breaths|mEq|IU|U|kcal|kJ|feet|ft|inches|in|lbs?|pounds|oz|mV|ms"
    r"|cigarettes|drinks|units?|times|points?|USD|EUR|\$|\u20ac|km|mph",
)
_COMPOUND = re.compile(r"\s*(?:/|per)\s*")
_IN_BRACKETS = re.compile(r"[(\[]\s*(?:in\s+)?(?P<unit>[^()\[\]]{1,20}?)\s*[)\]]\s*[:?.]?\s*$")
_PAIR = re.compile(r"\s*(?P<code>[^=:\s][^=:]{0,99}?)\s*[=:]\s*(?P<label>.+)", re.DOTALL)
_JSON_PAIR = re.compile(r"[\"'](?P<code>[^\"']*)[\"']\s*:\s*[\"'](?P<label>[^\"']*)[\"']")
_PIPED = re.compile(r"\[[a-z][a-z0-9_:-]*\]|\$\{[^{}]+\}")


def clean_text(text: str) -> str:
    """Return a text without markup, on one line per paragraph, at most `MAX_TEXT` characters long."""
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text[: 10 * MAX_TEXT]))
    text = html.unescape(_MARKDOWN.sub("", text[: 10 * MAX_TEXT]))
    lines = (" ".join(line.split()) for line in text.replace("\u00a0", " ").splitlines())
    return "\n".join(filter(None, lines))[:MAX_TEXT]


def has_piping(text: str) -> bool:
    """Whether a text contains the answer to another question."""
    return _PIPED.search(text) is not None


def find_unit(text: str) -> str:
    """Return the unit in brackets at the end of a text such as "Weight (kg)"; empty if there is none."""
    match = _IN_BRACKETS.search(text)
    return match["unit"] if match and is_unit(match["unit"]) else ""


def is_unit(text: str) -> bool:
    """Whether a text is a unit such as kg, mg/dL or beats per minute."""
    parts = _COMPOUND.split(text.strip())
    return 1 <= len(parts) <= 3 and all(_is_simple_unit(part) for part in parts)


def _is_simple_unit(text: str) -> bool:
    base = re.sub(r"\s*(?:\^?[23]|\u00b2|\u00b3)$", "", text.strip())
    return _UNIT.fullmatch(base) is not None or base in ("dL", "dl", "mL", "ml", "pg", "ng", "1.73m")


def split_choices(text: str) -> tuple[list[Choice], list[str]]:
    """Return the choices of "1, Yes | 2, No", and the parts that are not choices.

    A label may contain commas. Line breaks may take the place of bars, as in a form that is being edited.
    """
    separator = "|" if "|" in text else "\n"
    parts = [part.strip() for part in text.split(separator)]
    check_count("choices of one variable", len(parts), MAX_CHOICES)
    found, unclear = [], []
    for part in filter(None, parts):
        code, comma, label = (piece.strip() for piece in part.partition(","))
        if comma and code:
            found.append(Choice(code, clean_text(label) or code))
        elif not math.isnan(parse_number(code)):
            found.append(Choice(code, code))
        else:
            unclear.append(part)
    return found, unclear


def split_codes(text: str) -> list[Choice]:
    """Return the choices of a plain codebook: "1 = Yes; 2 = No", "1, Yes | 2, No" or one per line.

    The result is empty if the text is not a list of codes with labels.
    """
    if pairs := _JSON_PAIR.findall(text):
        return [Choice(code, label) for code, label in pairs[:MAX_CHOICES]]
    for separator in ("|", "\n", ";", ","):
        parts = [part for part in text.split(separator) if part.strip()]
        check_count("choices of one variable", len(parts), MAX_CHOICES)
        matches = [_PAIR.fullmatch(part) for part in parts]
        if len(parts) > 1 and all(matches):
            return [Choice(m["code"].strip(), clean_text(m["label"])) for m in matches if m]
        if separator in "|\n" and len(parts) > 1 and all("," in part for part in parts):
            return split_choices(text)[0]
    return []
