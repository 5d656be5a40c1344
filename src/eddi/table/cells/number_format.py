"""Number formats: how a column writes its numbers, such as $1,234.50, 33.123,45 or 36.6 °C.

This is the only place where the text of a cell becomes a number. A format is detected once, from the
values of a column, and stored with the variable. Later rows and answers are then read in the same way,
and imputed numbers are written like the observed ones.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from eddi.errors import SchemaError

MAX_DIGITS = 6  # decimals of imputed numbers
MIN_NUMBER_SHARE = 0.5  # of the values of a column; with fewer, no format is looked for
N_PROBED = 200  # values that decide quickly whether a column can hold numbers
INCHES_PER_FOOT = 12
MULTIPLIERS = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9}  # after an amount: $350K, €1.2M

_CURRENCY = (
    r"(?:US|AU|CA|NZ|HK|R|C|A)?\$|[€£¥₹₽₩₺₴₦₫₱฿₪]|zł|kr\.?|Kč|Rs\.?|Fr\.?"
    r"|USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|CNY|BRL|MXN|ZAR|TRY|KRW|ILS"
)
# Units that may follow a number without a space. Other words are units only after a space: 5a is a code.
_UNIT = (
    r"%|‰|°[CF]?|º[CF]?|[KFC]|[kmcnµμ]?[gmlL]|mg|kg|lbs?|oz|st|ft|in|yd|mi|km|cm|mm|m[²³23]|km[²2]|ha|sqft"
    r"|sec|s|min|mins|h|hr|hrs|d|days?|wks?|mo|yrs?|y|years?|months?|weeks?|hours?|minutes?"
    r"|[kMG]?Hz|[kM]?W|[kM]?Wh|V|A|[kMGT]?B|hPa|kPa|mmHg|bpm|cc|hp|PS|kcal|cal|kJ|J|mph|km/h|mpg"
    r"|m?g/[dm]?[lL]|[mµn]?mol/[lL]|U/[lL]"
)
_SPACES = "[ \u00a0\u202f\u2009]"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+\u2212])?{_SPACES}*(?P<prefix>{_CURRENCY})?{_SPACES}*(?P<inner_sign>[-+\u2212])?"
    rf"(?P<body>(?:\d|[.,](?=\d))(?:[\d.,]|['\u2019](?=\d{{3}})|{_SPACES}(?=\d{{3}}))*(?:[eE][+-]?\d+)?)"
    rf"(?P<suffix>{_SPACES}*(?:{_CURRENCY}|{_UNIT}|M|[mb]n|B)|{_SPACES}+[^\W\d_][^\d,;|()]*)?(?P<close>\))?"
)
_FEET = re.compile(
    r"(?P<feet>\d{1,2})\s*(?:['\u2019\u2032]|ft\.?|feet)\s*(?:(?P<inches>\d{1,2}(?:\.\d+)?)\s*(?:\"|\u201d|\u2033|''|in\.?|inches)?)?"
)
_ORDINAL_WORD = re.compile(r"(?:st|nd|rd|th|and|or|to|or more|and over|plus)\b", re.IGNORECASE)
# Decimal mark and separator of thousands, in order of preference.
_MARKS = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'"))
_WHOLE_AMOUNT = re.compile(r"\d{1,3}(?:\.\d{3})*")  # as in 1.200 €
_THOUSANDS_OR_DECIMALS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_TEMPLATE = re.compile(
    r"(?P<prefix>\D*)1(?P<thousands>[.,' ]?)234(?:(?P<decimal>[.,])(?P<digits>\d+))?(?P<suffix>\D.*)?"
)


@dataclass(frozen=True)
class NumberFormat:
    """The marks and affixes of a column's numbers.

    Args:
        decimal: the decimal mark, "." or ",".
        thousands: the separator of thousands: "", ",", ".", "'" or a space.
        prefix: what precedes a number, such as "$". A cell may lack it.
        suffix: what follows a number, such as "%" or " kg". A cell may lack it.
        digits: the number of decimals of imputed numbers.
        is_feet: whether numbers are feet and inches, as in 5'11". They are read as inches.
    """

    decimal: str = "."
    thousands: str = ""
    prefix: str = ""
    suffix: str = ""
    digits: int = MAX_DIGITS
    is_feet: bool = False

    @classmethod
    def from_example(cls, example: str) -> "NumberFormat":
        """Return the format of an example such as "$1,234.56", "1.234,5 €" or "36.6 °C".

        In an example that starts with 1234, a mark after the 1 separates thousands.
        """
        match = _TEMPLATE.fullmatch(example)
        if match is None or _FEET.fullmatch(example):
            detected = detect_format([example])
            if detected is None:
                raise SchemaError(
                    f"the format {example!r} is not an example of a number. Write a number as the column "
                    'writes it, such as "$1,234.56" or "1234,5 kg".'
                )
            return detected
        thousands = match["thousands"]
        return cls(
            match["decimal"] or ("," if thousands == "." else "."),
            thousands,
            match["prefix"],
            match["suffix"] or "",
            len(match["digits"] or ""),
        )

    @property
    def example(self) -> str:
        """The number 1234.56 in this format, with as many decimals as the format has."""
        if self.is_feet:
            return "5'11\""
        decimals = self.decimal + "567891"[: self.digits] if self.digits else ""
        return f"{self.prefix}1{self.thousands}234{decimals}{self.suffix}"

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as in Python: 1234.5."""
        return replace(self, digits=0) == NumberFormat(digits=0)

    @property
    def unit(self) -> str:
        """The unit of the numbers, for respondents."""
        return "in" if self.is_feet else self.suffix.strip() or self.prefix.strip()

    def parse(self, text: str) -> float:
        """Return the number that a text stands for, or NaN if it is not a number in this format."""
        text = text.strip()
        if self.is_feet and (match := _FEET.fullmatch(text)):
            return INCHES_PER_FOOT * float(match["feet"]) + float(match["inches"] or 0)
        match = _NUMBER.fullmatch(text)
        if match is None or not self._has_known_affixes(match):
            return math.nan
        body = _normalize_spaces(match["body"])
        if self._body.fullmatch(body):  # otherwise a plain number such as 36.6 is still unambiguous
            body = body.replace(self.thousands, "") if self.thousands else body
            body = body.replace(self.decimal, ".")
        number = parse_number(body) * _multiplier(match)
        n_minus = sum((match[group] or "+") in "-\u2212" for group in ("sign", "inner_sign"))
        is_negative = n_minus == 1 or bool(match["open"] and match["close"])
        return -number if is_negative else number

    def write(self, number: float) -> str:
        """Return a number as text in this format: the inverse of `parse`, up to rounding."""
        if self.is_feet:
            feet, inches = divmod(round(number), INCHES_PER_FOOT)
            return f"{feet}'{inches}\""
        text = f"{abs(number):,.{self.digits}f}"
        marks = {",": self.thousands, ".": self.decimal}
        text = "".join(marks.get(character, character) for character in text)
        is_negative = number < 0 and any(character not in "0.,' " for character in text)
        return f"{'-' if is_negative else ''}{self.prefix}{text}{self.suffix}"

    def _has_known_affixes(self, match: re.Match[str]) -> bool:
        if bool(match["open"]) != bool(match["close"]):
            return False
        return _find_affixes(match) <= {"", *map(_normalize_affix, (self.prefix, self.suffix))}

    @cached_property
    def _body(self) -> re.Pattern[str]:
        return _body_pattern(self.decimal, self.thousands)


def parse_number(value: object, number_format: NumberFormat | None = None) -> float:
    """Return a value as a number, or NaN if it is not a number.

    Text is read in the given format, or as in Python if there is none.
    """
    if number_format is not None and isinstance(value, str):
        return number_format.parse(value)
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


@dataclass(frozen=True)
class PartialFormat:
    """The format of those values of a column that are numbers, and the values that are not."""

    format: NumberFormat
    others: tuple[str, ...]


def detect_format(values: Sequence[str]) -> NumberFormat | None:
    """Return the format in which all values are numbers, or None if there is none."""
    partial = detect_partial_format(values)
    return partial.format if partial is not None and not partial.others else None


def detect_partial_format(values: Sequence[str]) -> PartialFormat | None:
    """Return the format of most of the distinct values, or None if most of them are not numbers."""
    probe = values[:: max(1, len(values) // N_PROBED)]
    for is_feet in (True, False):
        n_matches = sum(_match(value, is_feet=is_feet) is not None for value in probe)
        if not n_matches or n_matches < MIN_NUMBER_SHARE * len(probe):
            continue
        candidate = NumberFormat(digits=0, is_feet=True) if is_feet else _detect_marks(values)
        if candidate is None:
            continue
        others = tuple(value for value in values if math.isnan(candidate.parse(value)))
        if len(others) <= (1 - MIN_NUMBER_SHARE) * len(values):
            return PartialFormat(candidate, others)
    return None


def _match(value: str, *, is_feet: bool) -> re.Match[str] | None:
    match = (_FEET if is_feet else _NUMBER).fullmatch(value.strip())
    if match is None or is_feet:
        return match
    return None if _ORDINAL_WORD.match(_normalize_affix(match["suffix"])) else match


def find_other_reading(values: Sequence[str], number_format: NumberFormat) -> NumberFormat | None:
    """Return a format in which the values are other numbers, or None if there is only one reading.

    If every number is like 1.200 or 1,200, its mark may separate decimals or thousands. It separates
    thousands in amounts, which do not have three decimals.
    """
    if _is_amount(number_format.prefix, number_format.suffix):
        return None
    bodies = [match["body"] for value in values if (match := _match(value, is_feet=False)) is not None]
    if not bodies or not all(_THOUSANDS_OR_DECIMALS.fullmatch(body) for body in bodies):
        return None
    mark = "." if "." in bodies[0] else ","
    if number_format.thousands:
        return replace(number_format, decimal=mark, thousands="", digits=3)
    return replace(number_format, decimal="," if mark == "." else ".", thousands=mark, digits=0)


def _detect_marks(values: Sequence[str]) -> NumberFormat | None:
    matches = [match for value in values if (match := _match(value, is_feet=False)) is not None]
    prefix = _most_frequent(match["prefix"] for match in matches)
    suffix = _most_frequent(match["suffix"] for match in matches if _multiplier(match) == 1)
    own = {"", _normalize_affix(prefix), _normalize_affix(suffix)}
    bodies = [_normalize_spaces(match["body"]) for match in matches if _find_affixes(match) <= own]
    separator = _prefix_separator(matches) if prefix else ""
    are_whole = any("." in body for body in bodies) and all(map(_WHOLE_AMOUNT.fullmatch, bodies))
    for decimal, thousands in (
        ((",", "."), *_MARKS) if are_whole and _is_amount(prefix, suffix) else _MARKS
    ):
        pattern = _body_pattern(decimal, thousands)
        if bodies and all(pattern.fullmatch(body) for body in bodies):
            n_digits = max(len(body.partition(decimal)[2]) for body in bodies)
            is_scientific = any("e" in body.lower() for body in bodies)
            digits = MAX_DIGITS if is_scientific else min(MAX_DIGITS, n_digits)
            return NumberFormat(decimal, thousands, prefix + separator, suffix, digits)
    return None


def _is_amount(*affixes: str) -> bool:
    return any(re.fullmatch(_CURRENCY, affix.strip()) for affix in affixes)


def _prefix_separator(matches: Iterable[re.Match[str]]) -> str:
    """Return the space between a currency and its number, if most cells have one."""
    gaps = [match.string.strip()[match.end("prefix")] == " " for match in matches if match["prefix"]]
    return " " if sum(gaps) * 2 > len(gaps) else ""


def _most_frequent(affixes: Iterable[str | None]) -> str:
    counts = Counter(affix for affix in affixes if affix)
    return counts.most_common(1)[0][0] if counts else ""


def _find_affixes(match: re.Match[str]) -> set[str]:
    suffix = "" if _multiplier(match) > 1 else _normalize_affix(match["suffix"])
    return {_normalize_affix(match["prefix"]), suffix}


def _multiplier(match: re.Match[str]) -> float:
    return MULTIPLIERS.get(_normalize_affix(match["suffix"]), 1.0) if match["prefix"] else 1.0


def _normalize_affix(affix: str | None) -> str:
    """Return an affix without spaces and case, in the singular: 1 year and 2 years have the same unit."""
    text = (affix or "").strip().casefold()
    return text.removesuffix("s") if len(text) > 2 else text


def _normalize_spaces(text: str) -> str:
    return re.sub("[\u00a0\u202f\u2009]", " ", text).replace("\u2019", "'")


def _body_pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    mark, separator = re.escape(decimal), re.escape(thousands)
    whole = (
        rf"(?:[1-9]\d{{0,2}}(?:{separator}\d{{2,3}})*{separator}\d{{3}}|\d+)" if thousands else r"\d+"
    )
    return re.compile(rf"(?:{whole}(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?")
