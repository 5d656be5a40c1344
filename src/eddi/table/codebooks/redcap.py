"""REDCap data dictionaries: the file that REDCap's pages export, and the metadata of its API."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import (
    Choice,
    Codebook,
    CodebookError,
    Entry,
    EntryType,
    Loss,
    count_losses,
)
from eddi.table.codebooks.condition import Condition, Opaque
from eddi.table.codebooks.expression import ExpressionError, parse_redcap
from eddi.table.codebooks.rows import Row, to_rows
from eddi.table.codebooks.texts import clean_text, find_unit, has_piping, is_unit, split_choices

FORMAT = "REDCap data dictionary"
RECORD_ID = "the record ID of REDCap"  # the reason why the first field is not modelled
OWN_COLUMNS = (
    r"redcap_(?:event_name|repeat_instrument|repeat_instance|data_access_group|survey_identifier)"
    r"|.+_complete|.+_timestamp"
)
COLUMNS = {  # by the name of the API: how the exported file begins it, in lower case
    "field_name": "variable / field name",
    "form_name": "form name",
    "section_header": "section header",
    "field_type": "field type",
    "field_label": "field label",
    "select_choices_or_calculations": "choices",
    "field_note": "field note",
    "text_validation_type_or_show_slider_number": "text validation type",
    "text_validation_min": "text validation min",
    "text_validation_max": "text validation max",
    "identifier": "identifier",
    "branching_logic": "branching logic",
    "required_field": "required field",
    "custom_alignment": "custom alignment",
    "question_number": "question number",
    "matrix_group_name": "matrix group name",
    "matrix_ranking": "matrix ranking",
    "field_annotation": "field annotation",
}
YES_NO = (Choice("0", "No"), Choice("1", "Yes"))
TRUE_FALSE = (Choice("0", "False"), Choice("1", "True"))
NOT_MODELLED = {
    "notes": "long text",
    "file": "an uploaded file",
    "descriptive": "a text without an answer",
    "calc": "calculated from other answers",
}
IDENTIFYING = ("email", "phone", "ssn", "mrn", "vmrn", "zipcode", "postalcode", "alpha_only")
_TAG = re.compile(r"@[A-Z][A-Z0-9_-]*")
_ANNOTATED_UNIT = re.compile(r"units?\s*=\s*\{?\s*[\"']?(?P<unit>[^\"'}\s]{1,20})", re.IGNORECASE)
_HIDING = {"@HIDDEN", "@HIDDEN-SURVEY", "@HIDDEN-FORM", "@READONLY", "@READONLY-SURVEY"}
_CALCULATING = {
    "@CALCTEXT",
    "@CALCDATE",
    "@TODAY",
    "@NOW",
    "@USERNAME",
    "@SETVALUE",
    "@LATITUDE",
    "@LONGITUDE",
}


def find_columns(header: Sequence[str]) -> list[str] | None:
    """Return the name of each column in the API; None if this is not a data dictionary."""
    names = [_find_column(name) for name in header]
    return names if {"field_name", "field_type"} <= set(names) else None


def read(header: Sequence[str], lines: Iterable[Sequence[object]]) -> Codebook:
    """Return the codebook of a data dictionary.

    Raises:
        CodebookError: it is not one, or it describes no variables.
    """
    columns = find_columns(header)
    if columns is None:
        raise CodebookError(f"this is not a {FORMAT}: it has no columns for names and types of fields.")
    reader = _Reader()
    entries = [entry for row in to_rows(columns, lines) if (entry := reader.read_row(row)) is not None]
    losses = (*reader.losses, *count_losses(reader.counts))
    return Codebook(FORMAT, tuple(entries), losses, OWN_COLUMNS)


def _find_column(name: str) -> str:
    text = " ".join(name.strip().lower().split())
    for column, start in COLUMNS.items():
        if text == column or text.startswith(start):
            return column
    return ""


@dataclass
class _Reader:
    """Reads the rows in order: a section begins at one row and continues."""

    losses: list[Loss] = field(default_factory=list)
    counts: dict[str, list[str]] = field(default_factory=dict)
    form: str = ""
    header: str = ""
    n_rows: int = 0

    def read_row(self, row: Row) -> Entry | None:
        name = row.get("field_name", "").lower()
        if not name:
            return None
        self.n_rows += 1
        if row.get("form_name", "") != self.form:
            self.form, self.header = row.get("form_name", ""), ""
        if row.get("section_header"):
            self.header = clean_text(row["section_header"])
        self._count_presentation(name, row)
        entry = self._make_entry(name, row)
        if self.n_rows == 1:
            return _as_identifier(entry, RECORD_ID)
        return entry

    def _make_entry(self, name: str, row: Row) -> Entry:
        kind = row.get("field_type", "").strip().lower()
        tags = set(_TAG.findall(row.get("field_annotation", "")))
        text, note = clean_text(row.get("field_label", "")), clean_text(row.get("field_note", ""))
        entry = Entry(
            name,
            EntryType.OTHER,
            text,
            note,
            section=self.header or self.form.replace("_", " "),
            is_hidden=bool(tags & _HIDING),
            condition=_read_condition(row.get("branching_logic", "")),
        )
        if kind in ("radio", "dropdown", "checkbox", "yesno", "truefalse"):
            entry = self._read_choices(entry, kind, row)
        elif kind in ("text", "slider"):
            entry = _read_text(entry, kind, row)
        else:
            entry = replace(entry, reason=NOT_MODELLED.get(kind, f"a field of the type {kind!r}"))
        self._note_tags(name, tags)
        if tags & _CALCULATING:
            entry = replace(entry, reason=NOT_MODELLED["calc"])
        if row.get("identifier", "").lower() in ("y", "yes", "1", "true"):
            entry = _as_identifier(entry, "marked as an identifier in REDCap")
        return entry

    def _read_choices(self, entry: Entry, kind: str, row: Row) -> Entry:
        fixed = {"yesno": YES_NO, "truefalse": TRUE_FALSE}
        if kind in fixed:
            return replace(entry, type=EntryType.CHOICE, choices=fixed[kind])
        found, unclear = split_choices(row.get("select_choices_or_calculations", ""))
        choices = _drop_repeated(found)
        if unclear or len(choices) < len(found):
            self.losses.append(Loss(entry.name, "some of its choices have no code or repeat one"))
        if kind == "checkbox":
            columns = {choice.code: _option_columns(entry, choice) for choice in choices}
            return replace(entry, type=EntryType.CHOICES, choices=choices, option_columns=columns)
        is_matrix = bool(row.get("matrix_group_name"))
        return replace(entry, type=EntryType.CHOICE, choices=choices, is_ordered=is_matrix)

    def _count_presentation(self, name: str, row: Row) -> None:
        """Count properties that have no place in a schema."""
        for column, what in (
            ("custom_alignment", "custom alignment is not part of a schema"),
            ("question_number", "question numbers are not part of a schema"),
            ("matrix_ranking", "a ranking allows each answer once, which a schema cannot require"),
            (
                "required_field",
                "required fields: an adaptive interview need not ask them; "
                "set always = true for those that it must",
            ),
        ):
            if row.get(column, "").lower() not in ("", "n", "no", "0"):
                self.counts.setdefault(what, []).append(name)
        if has_piping(row.get("field_label", "")):
            self.losses.append(Loss(name, "its text contains the answer to another question"))

    def _note_tags(self, name: str, tags: set[str]) -> None:
        for tag in sorted(tags - _CALCULATING):
            effect = ", so it is never asked" if tag in _HIDING else " has no equivalent in a schema"
            self.losses.append(Loss(name, f"the action tag {tag}{effect}"))


def _read_condition(text: str) -> Condition | None:
    if not text.strip():
        return None
    try:
        return parse_redcap(text)
    except ExpressionError as error:
        return Opaque(text.strip()[:200], str(error))


def _read_text(entry: Entry, kind: str, row: Row) -> Entry:
    validation = row.get("text_validation_type_or_show_slider_number", "").lower()
    low, high = _read_bound(row, "text_validation_min"), _read_bound(row, "text_validation_max")
    if kind == "slider":
        labels = [part.strip() for part in row.get("select_choices_or_calculations", "").split("|")]
        low, high = (0.0 if low is None else low), (100.0 if high is None else high)
        note = _join_texts(entry.help, _describe_slider(labels, low, high))
        return replace(entry, type=EntryType.DECIMAL, low=low, high=high, help=note)
    if validation.startswith(("int", "number", "float")):
        integer = EntryType.INTEGER if validation.startswith("int") else EntryType.DECIMAL
        return _read_unit(replace(entry, type=integer, low=low, high=high), row)
    if validation.startswith(IDENTIFYING):
        return _as_identifier(entry, f"text of the type {validation}")
    if validation.startswith(("date", "time")):
        return replace(entry, reason="dates and times are not modelled")
    return replace(entry, type=EntryType.TEXT)


def _read_bound(row: Row, column: str) -> float | None:
    number = parse_number(row.get(column, ""))
    return number if math.isfinite(number) else None


def _read_unit(entry: Entry, row: Row) -> Entry:
    """Return the entry with the unit that its annotation, its note or its label has."""
    annotated = _ANNOTATED_UNIT.search(row.get("field_annotation", ""))
    if annotated:
        return replace(entry, unit=annotated["unit"])
    if is_unit(entry.help):
        return replace(entry, unit=entry.help, help="")
    return replace(entry, unit=find_unit(entry.text))


def _describe_slider(labels: Sequence[str], low: float, high: float) -> str:
    """Return what the ends and the middle of a slider mean."""
    places = {1: (low,), 2: (low, high), 3: (low, (low + high) / 2, high)}.get(len(labels), ())
    named = zip(places, labels, strict=False)
    return ", ".join(f"{place:g} = {clean_text(label)}" for place, label in named if label)


def _option_columns(entry: Entry, choice: Choice) -> tuple[str, ...]:
    """Return the columns of a checkbox in exports of raw data and of labels."""
    code = choice.code.lower().replace("-", "_").replace(".", "_")
    return (f"{entry.name}___{code}", f"{entry.text} (choice={choice.label})")


def _drop_repeated(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    return tuple({choice.code: choice for choice in reversed(choices)}.values())[::-1]


def _join_texts(*texts: str) -> str:
    return " ".join(filter(None, texts))


def _as_identifier(entry: Entry, reason: str) -> Entry:
    return replace(entry, identifier=reason)
