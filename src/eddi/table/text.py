"""Values and lists of values as text for people."""

from collections.abc import Sequence

MAX_LISTED = 12  # names or levels in an error message: enough to recognise, few enough to read


def format_value(value: object) -> str:
    """Return a value as a person would write it: 7 rather than 7.0."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if is_whole else str(value)  # type: ignore[call-overload]


def format_list(values: Sequence[object]) -> str:
    """Return the first few values and how many more there are, for an error message."""
    more = f" and {len(values) - MAX_LISTED} more" if len(values) > MAX_LISTED else ""
    return (", ".join(map(format_value, values[:MAX_LISTED])) or "none") + more


def format_names(names: Sequence[str]) -> str:
    """Return the first few names in quotes and how many more there are, for an error message."""
    return format_list([repr(name) for name in names])


def parse_scalar(text: str) -> str | int | float:
    """Return a text that a person typed as a whole number or a number, if it is one."""
    for parse in (int, float):
        try:
            return parse(text)
        except ValueError:
            continue
    return text
