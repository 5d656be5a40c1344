"""Plain codebooks: a table with one row per variable, or one row per variable and code."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import (
    Choice,
    Codebook,
    CodebookError,
    Entry,
    EntryType,
    Loss,
)
from eddi.table.codebooks.rows import Row, to_rows
from eddi.table.codebooks.texts import clean_text, find_unit, split_codes

FORMAT = "codebook"
SPELLINGS = {
    "variable": ("variable", "variable name", "var", "var name", "varname", "name", "field", "field name",
                 "column", "column name", "item", "question id", "variable / field name"),
    "label": ("label", "variable label", "description", "question", "question text", "text", "wording",
              "definition", "field label", "meaning", "variable description"),
    "codes": ("codes", "code", "values", "value labels", "value label", "choices", "levels", "categories",
              "coding", "options", "response options", "responses", "answers", "allowed values",
              "permissible values", "value"),
    "level": ("level", "category"),
    "level label": ("level label", "code label", "value description", "value meaning", "code description"),
    "kind": ("kind", "type", "data type", "datatype", "variable type", "measure", "field type", "format"),
    "unit": ("unit", "units", "unit of measurement", "measurement unit"),
    "low": ("low", "min", "minimum", "lower", "lower bound", "range min"),
    "high": ("high", "max", "maximum", "upper", "upper bound", "range max"),
    "missing": ("missing", "missing codes", "missing values", "missing code", "na codes"),
    "section": ("section", "group", "domain", "form", "form name", "instrument", "topic", "module"),
    "help": ("help", "note", "notes", "hint", "comment", "comments", "instruction", "instructions"),
    "identifier": ("identifier", "is identifier", "phi", "pii"),
}  # fmt: skip
_NAMES = {spelling: name for name, spellings in SPELLINGS.items() for spelling in spellings}
_KINDS = {
    EntryType.INTEGER: ("integer", "int", "count", "whole number", "discrete"),
    EntryType.DECIMAL: ("real", "float", "decimal", "number", "numeric", "continuous", "double", "scale"),
    EntryType.CHOICE: ("binary", "ordinal", "category", "categorical", "nominal", "factor", "boolean",
                       "bool", "logical", "dichotomous", "single choice", "likert"),
    EntryType.TEXT: ("text", "string", "character", "char", "free text", "str"),
}  # fmt: skip
_ORDERED = ("ordinal", "likert")
_NOT_MODELLED = {
    "date": "dates and times are not modelled",
    "datetime": "dates and times are not modelled",
}
_RANGE = re.compile(r"\s*(-?[\d.]+)\s*(?:-|\u2013|\.\.+|to|:)\s*(-?[\d.]+)\s*(?P<unit>.{0,20})")


def find_columns(header: Sequence[str]) -> list[str] | None:
    """Return what each column contains; None if this is not a codebook."""
    names: list[str] = []
    for cell in header:
        text = " ".join(re.sub(r"[_-]", " ", cell.lower()).split()).strip("?: ")
        name = _NAMES.get(text, "")
        names.append(name if name not in names else "")
    is_long = "level" in names or ("codes" in names and "level label" in names)
    if is_long and "label" in names and "level label" not in names:
        names = _separate_labels(header, names)
    described = set(names) & {"label", "codes", "level", "kind", "low"}
    return names if "variable" in names and described else None


def _separate_labels(header: Sequence[str], names: list[str]) -> list[str]:
    """Return the names with "label" for the question and "level label" for the meaning of a code.

    In a codebook with one row per code, a column called "label" that comes after the code is about the code.
    """
    lower = [cell.strip().lower() for cell in header]
    question = next(
        (place for place, text in enumerate(lower) if text in ("question", "question text")), -1
    )
    label = lower.index("label") if "label" in lower else -1
    if label < 0 or label < names.index("level"):
        return names
    changed = ["" if name == "label" else name for name in names]
    changed[label] = "level label"
    if question >= 0:
        changed[question] = "label"
    return changed


def read(header: Sequence[str], lines: Iterable[Sequence[object]]) -> Codebook:
    """Return the codebook of a table of variables.

    Raises:
        CodebookError: it is not one, or it describes no variables.
    """
    columns = find_columns(header)
    if columns is None:
        raise CodebookError(
            "this is not a codebook: it needs a column with the names of variables, and one with "
            "labels, codes or types."
        )
    groups: dict[str, list[Row]] = {}
    for row in to_rows(columns, lines):
        if row.get("variable"):
            groups.setdefault(row["variable"], []).append(row)
    losses: list[Loss] = [
        Loss("", f"the column {name!r} has no equivalent in a schema")
        for name, column in zip(header, columns, strict=True)
        if name and not column
    ]
    entries = tuple(_make_entry(name, rows, losses) for name, rows in groups.items())
    return Codebook(FORMAT, entries, tuple(losses))


def _make_entry(name: str, rows: Sequence[Row], losses: list[Loss]) -> Entry:
    first: Row = {}
    for row in rows:
        first = {**row, **{key: text for key, text in first.items() if text}}
    entry = Entry(
        name,
        EntryType.TEXT,
        clean_text(first.get("label", "")),
        clean_text(first.get("help", "")),
        section=clean_text(first.get("section", "")),
        unit=first.get("unit", "")[:40],
        missing=tuple(
            code.strip() for code in re.split(r"[,;|]", first.get("missing", "")) if code.strip()
        ),
        identifier=_read_identifier(first),
    )
    return _read_values(entry, rows, first, losses)


def _read_identifier(row: Row) -> str:
    is_marked = row.get("identifier", "").lower() in ("y", "yes", "1", "true", "x")
    is_type = row.get("kind", "").lower() in ("id", "identifier", "key")
    return "marked as an identifier in the codebook" if is_marked or is_type else ""


def _read_values(entry: Entry, rows: Sequence[Row], first: Row, losses: list[Loss]) -> Entry:
    kind = first.get("kind", "").lower().strip()
    if kind in _NOT_MODELLED:
        return replace(entry, reason=_NOT_MODELLED[kind])
    choices = _read_levels(rows) or split_codes(first.get("codes", ""))
    unique = tuple({choice.code: choice for choice in choices}.values())
    if unique:
        is_ordered = kind in _ORDERED
        return replace(entry, type=EntryType.CHOICE, choices=unique, is_ordered=is_ordered)
    entry = replace(
        entry, type=next((t for t, names in _KINDS.items() if kind in names), EntryType.TEXT)
    )
    if kind and entry.type is EntryType.TEXT and kind not in _KINDS[EntryType.TEXT]:
        losses.append(Loss(entry.name, f"the type {kind!r} is not known; the kind is inferred"))
    if entry.type is EntryType.CHOICE:
        return replace(entry, type=EntryType.TEXT)  # without codes, the levels are those of the table
    return _read_range(entry, first, losses)


def _read_levels(rows: Sequence[Row]) -> list[Choice]:
    """Return the codes of a codebook with one row per code."""
    key = "level" if any(row.get("level") for row in rows) else "codes"
    if key == "codes" and not any(row.get("level label") for row in rows):
        return []
    pairs = ((row.get(key, ""), row.get("level label", "")) for row in rows)
    return [Choice(code, clean_text(label) or code) for code, label in pairs if code]


def _read_range(entry: Entry, row: Row, losses: list[Loss]) -> Entry:
    low, high, unit = _number(row.get("low", "")), _number(row.get("high", "")), entry.unit
    codes = row.get("codes", "")
    if match := _RANGE.fullmatch(codes):
        low, high = _number(match[1]), _number(match[2])
        unit = unit or match["unit"].strip()
    elif codes:
        losses.append(Loss(entry.name, f"the values {codes[:100]!r} are neither codes nor a range"))
    if low is not None and high is not None and low > high:
        losses.append(Loss(entry.name, f"its range from {low:g} to {high:g} is empty"))
        low = high = None
    has_numbers = low is not None or high is not None
    if entry.type is EntryType.TEXT and has_numbers:
        entry = replace(entry, type=EntryType.DECIMAL)
    if entry.type is EntryType.TEXT:
        return entry
    return replace(entry, low=low, high=high, unit=unit or find_unit(entry.text))


def _number(text: str) -> float | None:
    number = parse_number(text)
    return number if math.isfinite(number) else None
