"""Values of a TOML file: how they are written, and checks of those that are read."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from eddi.errors import SchemaError
from eddi.table.cells.levels import Level

BARE_KEY = re.compile("[A-Za-z0-9_-]+")
MAX_WHOLE = 1e15  # a larger whole number is more readable as 1e+20 than as many digits


def format_inline_table(**entries: Any) -> str:
    """Return entries as an inline table; those that are None are left out."""
    pairs = [f"{key} = {format_value(value)}" for key, value in entries.items() if value is not None]
    return "{ " + ", ".join(pairs) + " }" if pairs else "{}"


def to_int_if_whole(number: float | None) -> float | int | None:
    """Return 18 for 18.0, unless that would change the number."""
    if number is None or not math.isfinite(number) or abs(number) >= MAX_WHOLE:
        return number
    is_negative_zero = number == 0 and math.copysign(1, number) < 0
    return int(number) if number == int(number) and not is_negative_zero else float(number)


def format_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(format_value, value)) + "]"
    if isinstance(value, dict):
        entries = (f"{format_key(k)} = {format_value(v)}" for k, v in value.items())
        return "{ " + ", ".join(entries) + " }"
    scalar = value.item() if hasattr(value, "item") else value  # converts NumPy scalars
    if isinstance(scalar, bool):
        return "true" if scalar else "false"
    return _quote(scalar) if isinstance(scalar, str) else repr(scalar)


def format_key(name: str) -> str:
    """Return a key, in quotation marks where TOML needs them."""
    return name if BARE_KEY.fullmatch(name) else _quote(name)


def _quote(text: str) -> str:
    # A JSON string is a TOML basic string, except that TOML also requires DEL to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def parse_section(document: dict[str, Any], section: str) -> dict[str, Any]:
    """Return the entries of a section; none if it is absent."""
    entries = document.get(section, {})
    check_type(section, entries, dict, f"a section headed [{section}]")
    return dict(entries)


def parse_names(where: str, value: Any) -> tuple[str, ...]:
    """Return a list of texts."""
    check_type(where, value, list, 'a list of names such as ["age", "ldl"]')
    return tuple(parse_text(where, name) for name in value)


def parse_levels(where: str, value: Any) -> tuple[Level, ...]:
    """Return a list of levels."""
    check_type(where, value, list, 'a list such as ["no", "yes"]')
    for level in value:
        check_type(f"{where}: each level", level, str | int | float, "text, a number, true or false")
    return tuple(value)


def parse_bool(where: str, value: Any) -> bool:
    """Return true or false."""
    check_type(where, value, bool, "true or false")
    return bool(value)


def parse_text(where: str, value: Any) -> str:
    """Return a text."""
    check_type(where, value, str, 'text in quotes such as "age"')
    return str(value)


def parse_number(where: str, value: Any) -> float:
    """Return a number."""
    is_bool = isinstance(value, bool)  # bool is a subclass of int
    check_type(where, value, () if is_bool else int | float, "a number")
    return float(value)


def check_type(where: str, value: Any, types: Any, expected: str) -> None:
    """Raise a `SchemaError` if a value does not have one of these types."""
    if not isinstance(value, types):
        raise SchemaError(f"{where} must be {expected}, got {value!r}.")


def check_keys(where: str, entry: dict[str, Any], allowed: Iterable[str]) -> None:
    """Raise a `SchemaError` if a table has another key than these."""
    for key in entry:
        if key not in allowed:
            raise SchemaError(f"{where} has the unknown key {key!r}. Keys are: {', '.join(allowed)}.")
