"""Text that a spreadsheet would evaluate as a formula.

A cell such as ``=HYPERLINK(...)`` may come from anybody who filled in a table. In a CSV file, a leading
apostrophe makes spreadsheets show it as text. `neutralize` adds the apostrophe, and `restore` removes it, so
a table that is written and read again is the same. Numbers such as -5 or +1.2e3 stay as they are.
"""

import re

import pyarrow as pa
import pyarrow.compute as pc

# Both are patterns of Python and of Arrow (RE2). Some spreadsheets accept the wide characters, too.
START = r"^'*[=+\-@\t\r\n＝＋－＠]"  # noqa: RUF001
NUMBER = r"^[+\-][\s$€£¥]*[\d.,'’\s]*\d[\d.,'’\s]*([eE][+\-]?\d+)?[\s%‰$€£¥]*$"  # noqa: RUF001
WORD = r"[A-Za-z0-9]|[^\x00-\x7f]"  # without a letter or digit there is nothing to evaluate
_START, _NUMBER, _WORD = re.compile(START), re.compile(NUMBER), re.compile(WORD)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might evaluate a cell; also if apostrophes already prevent it."""
    return bool(_START.search(text) and _WORD.search(text) and not _NUMBER.search(text))


def neutralize(text: str) -> str:
    """Return the text of a cell so that no spreadsheet evaluates it."""
    return f"'{text}" if is_formula(text) else text


def restore(text: str) -> str:
    """Return the text of a cell that `neutralize` may have changed."""
    return text[1:] if text.startswith("'") and is_formula(text[1:]) else text


def neutralize_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column so that no spreadsheet evaluates its text; other types stay as they are."""
    if not _is_text(column):
        return column
    mask = _find_formulas(column)
    if not pc.any(mask).as_py():
        return column
    return pc.if_else(mask, pc.binary_join_element_wise("'", column, ""), column)


def restore_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of text that `neutralize_column` may have changed."""
    starts = pc.starts_with(column, "'")
    if not pc.any(starts).as_py():
        return column
    rest = pc.utf8_slice_codeunits(column, 1)
    return pc.if_else(pc.and_(starts, _find_formulas(rest)), rest, column)


def _is_text(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _find_formulas(column: pa.ChunkedArray) -> pa.ChunkedArray:
    starts = pc.match_substring_regex(column, START)
    has_word = pc.match_substring_regex(column, WORD)
    is_number = pc.match_substring_regex(column, NUMBER)
    return pc.and_(pc.and_(starts, has_word), pc.invert(is_number))
