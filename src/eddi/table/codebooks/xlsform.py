"""XLSForms: the sheets survey, choices and settings of a form for ODK, KoboToolbox and others."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import (
    Choice,
    Codebook,
    CodebookError,
    Entry,
    EntryType,
    Loss,
    Translation,
    count_losses,
)
from eddi.table.codebooks.condition import All, Condition, Opaque, Test, join_all
from eddi.table.codebooks.expression import ExpressionError, parse_xpath
from eddi.table.codebooks.rows import Row, to_rows
from eddi.table.codebooks.texts import clean_text, find_unit, has_piping

FORMAT = "XLSForm"
OWN_COLUMNS = (
    r"(?:meta[-/:._])?instance(?:ID|Name|id|name)|KEY|PARENT_KEY|SET-OF-.*|SubmissionDate|SubmitterI[Dd]|SubmitterName"
    r"|AttachmentsPresent|AttachmentsExpected|Status|ReviewState|DeviceI[Dd]|Edits|FormVersion"
    r"|_(?:id|uuid|submission_time|validation_status|notes|status|submitted_by|__version__|tags|index|version)"
    r"|__version__|formhub/uuid|start|end|today|deviceid|username|audit"
)
MAX_DEPTH = 50  # of groups
SPELLINGS = {  # of columns of all sheets
    "caption": "label",
    "relevance": "relevant",
    "bind:relevant": "relevant",
    "bind::relevant": "relevant",
    "bind:constraint": "constraint",
    "bind::constraint": "constraint",
    "read_only": "readonly",
    "list name": "list_name",
    "listname": "list_name",
    "value": "name",
    "required_message": "requiredmsg",
    "constraint_message": "constraintmsg",
    "calculate": "calculation",
    "repeat_count": "repeatcount",
}
NUMBERS = {"integer": EntryType.INTEGER, "int": EntryType.INTEGER, "decimal": EntryType.DECIMAL}
NOT_MODELLED = {
    **dict.fromkeys(("note",), "a text without an answer"),
    **dict.fromkeys(("calculate", "hidden", "csv-external", "xml-external"), "calculated, never asked"),
    **dict.fromkeys(("acknowledge", "trigger"), "an acknowledgement, which has one answer"),
    **dict.fromkeys(("date", "time", "datetime"), "dates and times are not modelled"),
    **dict.fromkeys(
        (
            *("start", "end", "today", "deviceid", "subscriberid", "simserial", "audit", "phonenumber"),
            *("username", "email", "start-geopoint", "background-audio", "imei"),
        ),
        "recorded by the program",
    ),
    **dict.fromkeys(("geopoint", "geotrace", "geoshape", "gps", "location"), "a place on a map"),
    **dict.fromkeys(("image", "photo", "audio", "video", "file", "barcode", "osm"), "a file or a scan"),
    "rank": "a ranking",
}
OTHER = Choice("other", "Other")
LANGUAGE_NAMES = {
    **{"english": "en", "french": "fr", "fran\u00e7ais": "fr", "francais": "fr", "spanish": "es"},
    **{"espa\u00f1ol": "es", "espanol": "es", "german": "de", "deutsch": "de", "portuguese": "pt"},
    **{"portugu\u00eas": "pt", "arabic": "ar", "chinese": "zh", "swahili": "sw", "hindi": "hi"},
    **{"italian": "it", "japanese": "ja", "russian": "ru", "dutch": "nl", "nepali": "ne"},
    **{"bengali": "bn", "bangla": "bn", "urdu": "ur", "turkish": "tr", "amharic": "am", "hausa": "ha"},
}
_TYPE = re.compile(
    r"(?P<kind>select[ _]one(?:[ _]from[ _]file|[ _]external)?|select[ _](?:multiple|all that apply)"
    r"(?:[ _]from[ _]file)?|rank)\s+(?:from\s+)?(?P<list>\S+)(?P<other>\s+or[ _](?:specify[ _])?other)?",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"(?P<column>[a-z_]+)::?\s*(?P<language>[^:].*)", re.IGNORECASE)
_CODE = re.compile(r".*\((?P<code>[A-Za-z]{2,3}(?:-[A-Za-z0-9]+)?)\)\s*")
_BEGIN = re.compile(r"begin[ _](?P<what>group|repeat|loop)(?: .*)?")
_END = re.compile(r"end[ _](?:group|repeat|loop)")
_PARAMETER = re.compile(r"(start|end|step)\s*=\s*(-?[\d.]+)")

Sheet = tuple[list[str], list[Row]]  # the names of its columns, and its rows


def find_sheets(sheets: Mapping[str, Sequence[Sequence[object]]]) -> dict[str, Sheet] | None:
    """Return the sheets of a form, by name; None if the sheets are not a form."""
    found = {}
    for name, rows in sheets.items():
        lines = [row for row in rows if any(cell is not None for cell in row)]
        if name.strip().lower() in ("survey", "choices", "settings") and lines:
            header = [_normalize(str(cell or "")) for cell in lines[0]]
            found[name.strip().lower()] = (header, to_rows(header, lines[1:]))
    if "survey" not in found or "type" not in found["survey"][0]:
        return None
    return found


def read(sheets: Mapping[str, Sheet]) -> Codebook:
    """Return the codebook of a form.

    Raises:
        CodebookError: its groups are not closed or too deep, or it describes no variables.
    """
    empty: Sheet = ([], [])
    settings = next(iter(sheets.get("settings", empty)[1]), {})
    language = settings.get("default_language", "")
    survey_columns, survey = sheets["survey"]
    choices_columns, choices = sheets.get("choices", empty)
    languages = _find_languages([*survey_columns, *choices_columns], language)
    reader = _Reader(_read_lists(choices, languages), languages)
    entries = [entry for row in survey if (entry := reader.read_row(row)) is not None]
    if reader.groups:
        raise CodebookError(
            f"the group {reader.groups[-1].name!r} has no end. Add a row with 'end group'."
        )
    unnamed = [name for name in languages[1:] if not _language_code(name)]
    unknown = [
        Loss("", f"texts in the language {name!r}: write its code, as in {name} (xx)")
        for name in unnamed
    ]
    losses = (*reader.losses, *count_losses(reader.counts), *unknown)
    first = languages[0] if languages else language
    return Codebook(FORMAT, tuple(entries), losses, OWN_COLUMNS, _language_code(first))


def _normalize(name: str) -> str:
    """Return the name of a column in the usual spelling, with a language in its own."""
    text = " ".join(name.split())
    lower = text.lower()
    if lower in SPELLINGS:
        return SPELLINGS[lower]
    match = _LANGUAGE.fullmatch(text)
    if match is not None and match["column"].lower() not in ("bind", "body", "instance"):
        column = match["column"].lower()
        return f"{SPELLINGS.get(column, column)}::{match['language'].strip()}"
    return lower.replace(" ", "_")


def _find_languages(columns: Sequence[str], default: str) -> list[str]:
    """Return the languages of the labels, the default first."""
    names = [name.partition("::")[2] for name in columns if name.startswith("label::")]
    languages = list(dict.fromkeys(names))
    return sorted(languages, key=lambda language: language != default)


def _language_code(language: str) -> str:
    """Return "de" for "German (de)" and "de", and an empty text for a language without a code."""
    match = _CODE.fullmatch(language)
    if match is not None:
        return match["code"].lower()
    name = language.strip().lower()
    return name if re.fullmatch("[a-z]{2}", name) else LANGUAGE_NAMES.get(name, "")


def _read_lists(rows: Sequence[Row], languages: Sequence[str]) -> dict[str, list[Choice]]:
    lists: dict[str, list[Choice]] = {}
    for row in rows:
        name = row.get("name", "")
        if row.get("list_name") and name:
            label, others = _read_texts(row, "label", languages)
            lists.setdefault(row["list_name"], []).append(Choice(name, label or name, others))
    return lists


def _read_texts(row: Row, column: str, languages: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return a text in the first language, and in the others by code."""
    plain = clean_text(row.get(column, ""))
    by_language = {name: clean_text(row.get(f"{column}::{name}", "")) for name in languages}
    first = plain or next(filter(None, by_language.values()), "")
    others = {
        code: text
        for name, text in by_language.items()
        if text and text != first and (code := _language_code(name))
    }
    return first, others


@dataclass(frozen=True)
class _Group:
    """A group or repeat that has begun."""

    name: str
    label: str
    condition: Condition | None
    is_repeat: bool


@dataclass
class _Reader:
    """Reads the rows of the survey in order: groups begin and end."""

    lists: Mapping[str, Sequence[Choice]]
    languages: Sequence[str]
    losses: list[Loss] = field(default_factory=list)
    counts: dict[str, list[str]] = field(default_factory=dict)
    groups: list[_Group] = field(default_factory=list)

    def read_row(self, row: Row) -> Entry | None:
        kind, name = " ".join(row.get("type", "").split()), row.get("name", "")
        lower = kind.lower()
        if begin := _BEGIN.fullmatch(lower):
            self._begin(row, is_repeat=begin["what"] != "group")
        elif _END.fullmatch(lower):
            if not self.groups:
                raise CodebookError(
                    f"a group ends that has not begun ({name or kind!r}). Remove that row."
                )
            self.groups.pop()
        elif kind and name:
            return self._make_entry(name, kind, row)
        return None

    def _begin(self, row: Row, *, is_repeat: bool) -> None:
        if len(self.groups) >= MAX_DEPTH:
            raise CodebookError(f"groups are nested more than {MAX_DEPTH} times.")
        name = row.get("name", "")
        label, _ = _read_texts(row, "label", self.languages)
        condition = _read_condition(row.get("relevant", ""))
        self.groups.append(_Group(name, label or name.replace("_", " "), condition, is_repeat))
        if is_repeat:
            self.losses.append(Loss(name, "a repeat: a schema has one value per person and variable"))

    def _make_entry(self, name: str, kind: str, row: Row) -> Entry:
        text, texts = _read_texts(row, "label", self.languages)
        note, notes = _read_texts(row, "hint", self.languages)
        conditions = [group.condition for group in self.groups]
        entry = Entry(
            name,
            EntryType.OTHER,
            text,
            note,
            section=next((group.label for group in reversed(self.groups) if group.label), ""),
            condition=join_all([*conditions, _read_condition(row.get("relevant", ""))]),
            is_hidden=row.get("readonly", "").lower() in ("yes", "true", "true()", "1"),
            translations={
                code: Translation(texts.get(code, ""), notes.get(code, ""))
                for code in {**texts, **notes}
            },
        )
        self._count_properties(entry, row)
        entry = self._read_type(entry, kind, row)
        if any(group.is_repeat for group in self.groups):
            entry = replace(entry, reason=entry.reason or "inside a repeat")
        return entry

    def _read_type(self, entry: Entry, kind: str, row: Row) -> Entry:
        lower = kind.lower()
        if match := _TYPE.fullmatch(kind):
            return self._read_select(entry, match)
        if lower in NUMBERS or lower == "range":
            return self._read_number(entry, lower, row)
        if lower in ("text", "string"):
            return replace(entry, type=EntryType.TEXT)
        return replace(entry, reason=NOT_MODELLED.get(lower, f"a question of the type {kind!r}"))

    def _read_select(self, entry: Entry, match: re.Match[str]) -> Entry:
        kind = match["kind"].lower().replace(" ", "_")
        if kind == "rank":
            return replace(entry, reason=NOT_MODELLED["rank"])
        choices = {choice.code: choice for choice in self.lists.get(match["list"], ())}
        if match["other"]:
            choices.setdefault(OTHER.code, OTHER)
            self.losses.append(Loss(entry.name, "the text of its choice 'other' is not modelled"))
        if not choices:
            reason = "its choices are in another file" if "file" in kind or "external" in kind else ""
            self.losses.append(Loss(entry.name, reason or f"the list {match['list']!r} has no choices"))
            return replace(entry, type=EntryType.TEXT)
        if "one" in kind:
            return replace(entry, type=EntryType.CHOICE, choices=tuple(choices.values()))
        columns = {code: _option_columns(entry.name, code) for code in choices}
        return replace(
            entry,
            type=EntryType.CHOICES,
            choices=tuple(choices.values()),
            option_columns=columns,
        )

    def _read_number(self, entry: Entry, kind: str, row: Row) -> Entry:
        parameters = {
            name: parse_number(value) for name, value in _PARAMETER.findall(row.get("parameters", ""))
        }
        low, high = parameters.get("start"), parameters.get("end")
        is_whole = all(math.isfinite(n) and n == int(n) for n in parameters.values())
        number = (
            EntryType.INTEGER if kind == "range" and is_whole else NUMBERS.get(kind, EntryType.DECIMAL)
        )
        if kind == "range":
            low, high = (1.0 if low is None else low), (10.0 if high is None else high)
        if low is not None and high is not None and low > high:
            low, high = high, low
        entry = replace(entry, type=number, low=low, high=high)
        entry = replace(entry, unit=row.get("unit", "")[:40] or find_unit(entry.text))
        return self._read_constraint(entry, row.get("constraint", ""))

    def _read_constraint(self, entry: Entry, text: str) -> Entry:
        if not text.strip():
            return entry
        condition = _read_condition(text, current=entry.name)
        parts = condition.parts if isinstance(condition, All) else (condition,)
        low, high = entry.low, entry.high
        for part in parts:
            bound = _find_bound(part, entry)
            if bound is None:
                self.losses.append(Loss(entry.name, f"the constraint {str(part)[:200]!r}"))
            elif bound[0] == "low":
                low = bound[1] if low is None else max(low, bound[1])
            else:
                high = bound[1] if high is None else min(high, bound[1])
        if low is not None and high is not None and low > high:
            self.losses.append(Loss(entry.name, f"the constraint {text[:200]!r} allows no value"))
            return entry
        return replace(entry, low=low, high=high)

    def _count_properties(self, entry: Entry, row: Row) -> None:
        """Count properties that have no place in a schema."""
        for column, what in (
            (
                "required",
                "required questions: an adaptive interview need not ask them; set always = true "
                "for those that it must",
            ),
            ("appearance", "the appearance is not part of a schema"),
            ("default", "default answers are not part of a schema"),
            ("constraintmsg", "messages of constraints are not part of a schema"),
            ("media::image", "pictures, sounds and videos are not part of a schema"),
            ("image", "pictures, sounds and videos are not part of a schema"),
        ):
            if row.get(column, "").lower() not in ("", "no", "false", "false()"):
                self.counts.setdefault(what, []).append(entry.name)
        if row.get("choice_filter"):
            self.losses.append(Loss(entry.name, "choices that depend on other answers: all are offered"))
        if has_piping(entry.text):
            self.losses.append(Loss(entry.name, "its text contains the answer to another question"))


def _option_columns(name: str, code: str) -> tuple[str, ...]:
    """Return the columns of one choice in exports with a column per choice."""
    return tuple(f"{name}{separator}{code}" for separator in ("/", ".", ":", "_", "__"))


def _read_condition(text: str, current: str = ".") -> Condition | None:
    if not text.strip():
        return None
    try:
        return parse_xpath(text, current=current)
    except ExpressionError as error:
        return Opaque(text.strip()[:200], str(error))


def _find_bound(condition: Condition | None, entry: Entry) -> tuple[str, float] | None:
    """Return the end of a range that a comparison of an answer with a number gives."""
    if not isinstance(condition, Test) or condition.name != entry.name:
        return None
    number = parse_number(condition.value)
    if not math.isfinite(number) or condition.operator in ("=", "!="):
        return None
    is_whole = entry.type is EntryType.INTEGER and number == int(number)
    if condition.operator in (">", ">="):
        return "low", number + 1 if condition.operator == ">" and is_whole else number
    return "high", number - 1 if condition.operator == "<" and is_whole else number
