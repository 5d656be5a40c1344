"""Missing values: texts that always mean "missing", and codes that a schema declares for a variable."""

import math
import re
from collections.abc import Iterable

from eddi.table.cells.levels import Level, level_position

# Neither "none" nor "-" (a negative test), "unknown" (an answer people give) or codes such as 99 are in
# the list. They are proposed as codes, and a schema declares them.
MISSING_MARKERS = frozenset(
    [
        *["", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NaT"],
        *["null", "NULL", "Null", "?", "<NA>", "#N/A", "#NA", "#N/A N/A"],
        *["1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"],  # how old Windows programs print NaN
        ".",  # how SAS and Stata write a missing value
    ]
)

NONE_MARKER = "None"
"""Missing unless it is a level of the variable.

pandas reads this word as missing, so a table must have the same schema without it. It is kept in tables,
because it is a real level in some of them (no eye response).
"""

_MISSING_WORDS = re.compile(
    r"unknown|unk|unkn|not known|missing|not (?:available|applicable|stated|reported|recorded|asked)"
    r"|not (?:specified|provided|given|sure)|don['\u2019]?t know|do not know|dk|dk/na|n\.?a\.?"
    r"|no (?:answer|response|data|information)|-+|\u2014|\u2013|tbd|unspecified|undisclosed"
    r"|undefined|#(?:value!|div/0!|ref!|name\?|num!|null!)",
    re.IGNORECASE,
)
_DECLINED_WORDS = re.compile(
    r"refused?|refusal|declined?|prefer(?:red|s)? not to (?:say|answer|disclose)|rather not (?:say|answer)"
    r"|no comment|withheld",
    re.IGNORECASE,
)
_MISSING_NUMBER = re.compile(r"-?(?:9{2,6}|9{1,5}(?:\.0)|8{2,5}|7{2,5}|9{1,4}[78])|-[1-9]|[789]")


def is_missing_word(text: str) -> bool:
    """Whether a text such as "unknown" is likely to mean "missing"."""
    return _MISSING_WORDS.fullmatch(text.strip()) is not None


def is_declined_word(text: str) -> bool:
    """Whether a text such as "refused" is likely to mean that a person declined to answer."""
    return _DECLINED_WORDS.fullmatch(text.strip()) is not None


def is_missing_number(number: float) -> bool:
    """Whether a number such as -99 or 999 is often used as a code for a missing value."""
    is_whole = math.isfinite(number) and number == int(number)
    return is_whole and _MISSING_NUMBER.fullmatch(str(int(number))) is not None


def has_code(codes: Iterable[Level], value: object) -> bool:
    """Whether a value is one of these codes, however it is spelled."""
    return level_position(tuple(codes), value) is not None
