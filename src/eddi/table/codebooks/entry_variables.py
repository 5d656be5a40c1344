"""The variables of an entry of a codebook, checked against the values of the table."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from eddi.errors import SchemaError, TableError
from eddi.table.cells.levels import level_position
from eddi.table.cells.missing import is_declined_word, is_missing_number, is_missing_word
from eddi.table.cells.multi_select import NO, YES, OptionSource
from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import Choice, Entry, EntryType
from eddi.table.codebooks.table_columns import Match, TableColumns
from eddi.table.codebooks.texts import find_unit
from eddi.table.columns import column_to_numbers
from eddi.table.kinds.guess import MAX_STEPS
from eddi.table.kinds.scales import find_order
from eddi.table.kinds.vocabulary import NEGATION_PREFIXES, OPPOSITES
from eddi.table.languages.translations import VariableTexts
from eddi.table.schema import Note
from eddi.table.text import format_list
from eddi.table.variable import Kind, Level, Variable

MAX_TITLE = 60  # characters of a label that serves as the name of a variable
CHECKED = (("0", "1"), ("unchecked", "checked"), ("false", "true"), ("no", "yes"))


@dataclass(frozen=True)
class EntryVariables:
    """The variables of an entry.

    Args:
        variables: none if the inferred ones are to be kept.
        levels: the level of each code.
        options: the variable of each code, if the entry takes several choices.
        notes: what to check.
    """

    variables: tuple[Variable, ...] = ()
    levels: Mapping[str, Level] = field(default_factory=dict)
    options: Mapping[str, Variable] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def make_variables(
    entry: Entry, match: Match, columns: TableColumns, inferred: Variable | None
) -> EntryVariables:
    """Return the variables of an entry.

    Args:
        entry: of the codebook; it is modelled.
        match: its columns.
        columns: the values of the table.
        inferred: the variable that the values of its column suggest.
    """
    try:
        if entry.type is EntryType.CHOICE and len(entry.choices) > 1:
            return _make_choice(entry, match.column, columns)
        if entry.type is EntryType.CHOICES and entry.choices:
            return _make_choices(entry, match, columns)
        if entry.type in (EntryType.INTEGER, EntryType.DECIMAL):
            return _make_quantity(entry, match.column, columns, inferred)
    except (SchemaError, TableError) as error:
        message = f"the codebook does not fit the values of the table, which are kept. {error}"
        return EntryVariables(notes=(Note(match.column or entry.name, message),))
    return EntryVariables()


def make_title(entry: Entry) -> str:
    """Return the label of an entry if it is short enough for the name of a variable."""
    title = _shorten(entry.text)
    return "" if title.casefold() == entry.name.casefold() else title


def _shorten(label: str) -> str:
    text = label.strip().rstrip(":").strip()
    if unit := find_unit(text):
        text = text[: text.rindex(unit)].rstrip(" ([").removesuffix(" (in").removesuffix(" [in")
    is_name = len(text) <= MAX_TITLE and not text.endswith(("?", ".")) and "\n" not in text
    return text if is_name else ""


def _translate(entry: Entry, choices: Sequence[Choice] = ()) -> dict[str, VariableTexts]:
    """Return the name of a variable and the labels of its levels in other languages."""
    texts = {}
    codes = {*entry.translations, *(code for choice in choices for code in choice.translations)}
    for code in sorted(codes):
        translated = entry.translations.get(code)
        title = _shorten(translated.text) if translated is not None and make_title(entry) else ""
        has_labels = any(code in choice.translations for choice in choices)
        labels = tuple(choice.translations.get(code, choice.label) for choice in choices)
        if title or has_labels:
            texts[code] = VariableTexts(title, labels if has_labels else ())
    return texts


def _make_choice(entry: Entry, column: str, columns: TableColumns) -> EntryVariables:
    missing, declined, levels = _split_missing(entry)
    values = columns.list_values(column, [*entry.missing])
    has_labels = _uses_labels(entry.choices, values)

    def to_level(choice: Choice) -> Level:
        return choice.label if has_labels else _parse_code(choice.code)

    known = tuple(to_level(choice) for choice in entry.choices)
    unknown = [value for value in values if level_position(known, value) is None]
    if len(unknown) > max(3, len(known)):
        raise SchemaError(f"{len(unknown)} values are not in the codebook, such as {unknown[0]!r}.")
    ordered, kind = _sort_choices(entry, levels)
    extra = tuple(_parse_code(value) for value in unknown)
    labels = (*(choice.label for choice in ordered), *map(str, extra))
    all_levels = (*map(to_level, ordered), *extra)
    variable = Variable(
        column,
        Kind.CATEGORY if extra and kind is Kind.BINARY else kind,
        all_levels,
        missing=(*map(to_level, missing), *(_parse_code(code) for code in entry.missing)),
        declined=tuple(map(to_level, declined)),
        title=make_title(entry),
        labels=labels if labels != tuple(map(str, all_levels)) else (),
        translations=_translate(entry, [*ordered, *(Choice(str(level), str(level)) for level in extra)]),
    )
    column_to_numbers(columns.values[column], variable)  # raises if a value does not fit
    notes = (*_note_unknown(column, extra), *_note_missing(column, missing, declined))
    return EntryVariables(
        (variable,), {choice.code: to_level(choice) for choice in entry.choices}, notes=notes
    )


def _split_missing(entry: Entry) -> tuple[list[Choice], list[Choice], list[Choice]]:
    """Return the choices that mean "missing", "declined", and the others."""
    declined = [choice for choice in entry.choices if is_declined_word(choice.label)]
    missing = [choice for choice in entry.choices if is_missing_word(choice.label)]
    others = [choice for choice in entry.choices if choice not in (*declined, *missing)]
    return (missing, declined, others) if len(others) > 1 else ([], [], list(entry.choices))


def _uses_labels(choices: Sequence[Choice], values: Sequence[str]) -> bool:
    """Whether a column holds the labels of choices rather than their codes."""
    codes = tuple(choice.code for choice in choices)
    labels = tuple(choice.label for choice in choices)
    if len(set(labels)) < len(labels):
        return False
    n_codes = sum(level_position(codes, value) is not None for value in values)
    n_labels = sum(level_position(labels, value) is not None for value in values)
    return n_labels > n_codes


def _sort_choices(entry: Entry, choices: Sequence[Choice]) -> tuple[list[Choice], Kind]:
    """Return the choices as levels of a variable, and its kind."""
    if len(choices) == 2:
        no, yes = (choice.label.casefold() for choice in choices)
        is_reversed = (yes, no) in OPPOSITES or any(yes == prefix + no for prefix in NEGATION_PREFIXES)
        return list(choices[::-1] if is_reversed else choices), Kind.BINARY
    by_label = {choice.label: choice for choice in choices}
    order = find_order(list(by_label)) if len(by_label) == len(choices) else None
    if order is not None and not order.is_numbered:
        return [by_label[label] for label in order.sort(by_label)], Kind.ORDINAL
    if entry.is_ordered:
        return _sort_by_code(choices), Kind.ORDINAL
    return list(choices), Kind.CATEGORY


def _sort_by_code(choices: Sequence[Choice]) -> list[Choice]:
    """Return choices with numbers as codes in ascending order, others in the order of the codebook."""
    numbers = [parse_number(choice.code) for choice in choices]
    if any(map(math.isnan, numbers)):
        return list(choices)
    return [choice for _, choice in sorted(zip(numbers, choices, strict=True), key=lambda pair: pair[0])]


def _note_unknown(column: str, extra: Sequence[Level]) -> list[Note]:
    if not extra:
        return []
    listed = format_list(extra)
    message = f"the table has values that the codebook does not list: {listed}. They are levels, too."
    return [Note(column, message)]


def _note_missing(column: str, missing: Sequence[Choice], declined: Sequence[Choice]) -> list[Note]:
    if not (missing or declined):
        return []
    listed = format_list([f"{choice.code} ({choice.label})" for choice in (*missing, *declined)])
    return [Note(column, f"read as a missing value or a declined answer, not as a level: {listed}.")]


def _make_choices(entry: Entry, match: Match, columns: TableColumns) -> EntryVariables:
    """Return one binary variable for each choice, from one column or from a column each."""
    variables: dict[str, Variable] = {}
    levels: tuple[Level, Level]
    for choice in entry.choices:
        if match.column:
            source = OptionSource(match.column, choice.code, entry.separator)
            name, levels = f"{match.column}: {choice.code}", (NO, YES)
        elif choice.code in match.options:
            name = match.options[choice.code]
            source = OptionSource(name, choice.code, "")
            levels = _find_checked(columns.list_values(name))
        else:
            continue
        title = "" if choice.label == choice.code else choice.label
        texts = {code: VariableTexts(title=text) for code, text in choice.translations.items()}
        variables[choice.code] = Variable(
            name, Kind.BINARY, levels, source=source, title=title, translations=texts
        )
    for variable in variables.values():
        column_to_numbers(columns.values[variable.column], variable)  # raises if a value does not fit
    if match.column:
        _check_options(entry, columns.list_values(match.column))
    absent = [choice.code for choice in entry.choices if choice.code not in variables]
    message = f"the table has no column for the choices {format_list(absent)}."
    notes = (Note(next(iter(variables.values())).column, message),) if absent and variables else ()
    return EntryVariables(tuple(variables.values()), options=variables, notes=notes)


def _find_checked(values: Sequence[str]) -> tuple[Level, Level]:
    """Return the levels of a column that says whether a choice is selected."""
    found = {value.casefold() for value in values}
    for no, yes in CHECKED:
        if found and found <= {no, yes}:
            spellings = {value.casefold(): value for value in values}
            return (0, 1) if no == "0" else (spellings.get(no, no), spellings.get(yes, yes))
    if len(values) == 1:
        return ("", values[0])
    return (0, 1)


def _check_options(entry: Entry, values: Sequence[str]) -> None:
    """Raise an error if most cells do not list the codes of the choices."""
    codes = {choice.code.casefold() for choice in entry.choices}
    listed = [part.strip().casefold() for value in values for part in value.split(entry.separator)]
    unknown = [code for code in filter(None, listed) if code not in codes]
    if len(unknown) * 2 > len(listed):
        raise SchemaError(f"its cells list {unknown[0]!r}, which is not a choice of the codebook.")


def _make_quantity(
    entry: Entry, column: str, columns: TableColumns, inferred: Variable | None
) -> EntryVariables:
    missing = tuple(_parse_code(code) for code in entry.missing)
    steps = _find_steps(entry, inferred)
    is_quantity = inferred is not None and not inferred.kind.has_levels
    kept = inferred if is_quantity and inferred is not None else Variable(column, _choose_kind(entry))
    variable = replace(
        kept,
        low=entry.low if entry.low is not None else kept.low if entry.high is None else None,
        high=entry.high if entry.high is not None else kept.high if entry.low is None else None,
        unit=entry.unit or kept.unit,
        missing=missing,
        title=make_title(entry),
        translations=_translate(entry),
    )
    if variable.kind is Kind.COUNT and variable.low is not None and variable.low < 0:
        variable = replace(variable, kind=Kind.REAL)
    if steps:
        variable = Variable(
            column, Kind.ORDINAL, steps, unit=entry.unit, missing=missing, title=make_title(entry)
        )
    numbers = column_to_numbers(columns.values[column], variable)
    note = None if steps else _note_range(variable, [float(n) for n in numbers if not math.isnan(n)])
    return EntryVariables((variable,), notes=() if note is None else (note,))


def _find_steps(entry: Entry, inferred: Variable | None) -> tuple[Level, ...]:
    """Return the levels of a short scale of whole numbers, such as 0 to 10; none if it is not one."""
    if entry.type is not EntryType.INTEGER or entry.low is None or entry.high is None:
        return ()
    is_scale = inferred is not None and inferred.kind is Kind.ORDINAL
    n_steps = entry.high - entry.low + 1
    if not is_scale or not 2 < n_steps <= MAX_STEPS or n_steps != int(n_steps):
        return ()
    return tuple(range(int(entry.low), int(entry.high) + 1))


def _choose_kind(entry: Entry) -> Kind:
    is_count = entry.type is EntryType.INTEGER and entry.low is not None and entry.low >= 0
    return Kind.COUNT if is_count else Kind.REAL


def _note_range(variable: Variable, numbers: Sequence[float]) -> Note | None:
    """Return a note about values outside the range of the codebook, which may be codes."""
    beyond = sorted(
        {n for n in numbers if not variable.low_or_infinite <= n <= variable.high_or_infinite}
    )
    if not beyond:
        return None
    message = f"the table has values outside the range of the codebook: {format_list(beyond)}."
    codes = tuple(int(number) for number in beyond if is_missing_number(number))
    if not codes:
        return Note(variable.name, message)
    alternative = replace(variable, missing=(*variable.missing, *codes))
    return Note(variable.name, f"{message} If they are codes for missing values, use:", alternative)


def _parse_code(code: str) -> Level:
    """Return a code as a whole number if it is written as one: 1, but not 01."""
    return int(code) if re.fullmatch(r"0|-?[1-9]\d{0,14}", code) else code
