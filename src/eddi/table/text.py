"""Values and lists of values as text for people, and text that people type as values."""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from html import escape

MAX_LISTED = 12  # names or levels in an error message: enough to recognise, few enough to read
MAX_HTML_ROWS = 40  # of a table in a notebook


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


def suggest_name(name: str, names: Sequence[str]) -> str:
    """Return a hint for a misspelled name, such as " Did you mean 'age'?", or an empty text."""
    by_folded = {str(known).casefold(): str(known) for known in names}
    found = get_close_matches(name.casefold(), by_folded, n=1)
    return f" Did you mean {by_folded[found[0]]!r}?" if found else ""


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, or those of pandas (NA, NaT)."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )


def format_html_table(caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as HTML for notebooks. All texts are escaped; the first column names the row."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    lines = [
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in others)
        + "</tr>"
        for first, *others in rows[:MAX_HTML_ROWS]
    ]
    if len(rows) > MAX_HTML_ROWS:
        n_more = len(rows) - MAX_HTML_ROWS
        lines.append(f'<tr><td colspan="{len(header)}">and {n_more:,} more</td></tr>')
    title = f"<caption>{escape(caption.strip('<>'))}</caption>"
    body = "\n".join(lines)
    return f"<table>{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def note_count(n: int, what: str) -> str:
    """A note such as " (3 such rows)"; empty for a single one."""
    return f" ({n:,} such {what})" if n > 1 else ""
