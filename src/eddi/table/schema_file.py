"""Schemas as TOML files for editing by hand, with one line per variable."""

import codecs
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from eddi.errors import SchemaError
from eddi.table.beliefs.statements import Belief, parse_beliefs, parse_relations
from eddi.table.cells.multi_select import OptionSource
from eddi.table.cells.number_format import NumberFormat
from eddi.table.languages.schema_section import Translations, format_languages, parse_languages
from eddi.table.question import Question, parse_requires_value, requires_to_value
from eddi.table.schema import Schema, SetAside
from eddi.table.section import Section, parse_groups
from eddi.table.series.age_windows import add_windows
from eddi.table.series.time_section import TimeSection
from eddi.table.survival import schema_entry
from eddi.table.text import format_names
from eddi.table.toml_values import (
    check_keys,
    check_type,
    format_inline_table,
    format_key,
    format_value,
    parse_bool,
    parse_levels,
    parse_names,
    parse_number,
    parse_section,
    parse_text,
    to_int_if_whole,
)
from eddi.table.variable import Kind, Variable

# The fingerprint of a training table is a hash that includes these comments. Changing one of them
# would make the checkpoints of earlier versions unusable.
HEADING = "# What EDDI knows about this table. Edit freely; `eddi fit --schema this.toml` reads it."
SECTIONS = {
    "variables": "# Kinds: real, count, binary (its 'no' first), ordinal (in order), category.",
    "questions": "# What is asked at once, what it costs, how it is worded.",
    "stop": "# When an interview ends, for example: after = 5. See eddi.Stop.",
    "sections": "# How many questions of each section are asked: share, minimum, maximum.",
    "exploration": "# How much interviews explore. See eddi.strategy.Exploration.",
    "beliefs": "# What is believed about values, for a start without data.",
    "identifiers": "# Columns that name a row, and how we know. Never modelled.",
    "ignored": "# Columns left out, and why. To model one, move it to [variables] with a kind.",
    "languages": "# The same texts in other languages.",
    "time": "# Repeated measurements: person, time, unit, windows of age, decision times.",
}
WITHOUT_NOTES = ("stop", "exploration", "beliefs", "sections", "time")  # their keys are no columns
RELATIONS = "# How variables are related: raises or lowers; weak, moderate or strong."

_OPTION_KEYS = ("column", "option", "separator")
_VARIABLE_KEYS = (
    "kind",
    "levels",
    "low",
    "high",
    "unit",
    "format",
    "missing",
    "declined",
    *_OPTION_KEYS,
    "indicates",
    "title",
    "labels",
    "help",
    *schema_entry.KEYS,
    "repeats",
)
_QUESTION_KEYS = ("reveals", "cost", "text", "help", "always", "requires", "never", "section")
_TOP_KEYS = ("targets", "missing", "declined", "exclusive", "language", "relations")


def write(schema: Schema, path: str | PathLike[str] | None = None) -> str:
    """Return the schema as TOML text, and write it to ``path`` if one is given."""
    text = "\n".join(_format_schema(schema)) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def read(source: str | PathLike[str]) -> Schema:
    """Read a schema from a TOML file, or from TOML text (any string with a line break).

    Raises:
        SchemaError: the file does not exist, is not TOML, or does not describe a schema.
    """
    if isinstance(source, str) and "\n" in source:
        return _parse_toml(source)
    try:
        return _parse_toml(_decode(Path(source).read_bytes()))
    except OSError as error:
        reason = error.strerror or error
        raise SchemaError(
            f"cannot read the schema file {fspath(source)!r}: {reason}. "
            "Write one with `eddi schema table.csv > schema.toml`."
        ) from None
    except UnicodeDecodeError:
        raise SchemaError(
            f"the schema file {fspath(source)!r} is not UTF-8 text. Save it as UTF-8."
        ) from None
    except SchemaError as error:
        raise SchemaError(f"{fspath(source)}: {error}") from None


def _decode(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte-order mark, which PowerShell writes for ``>``."""
    is_utf16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if is_utf16 else "utf-8-sig").replace("\r\n", "\n")


def to_document(schema: Schema) -> dict[str, Any]:
    """Return the schema as plain dictionaries, lists and scalars, structured like the TOML file."""
    return tomllib.loads(write(schema))


def from_document(document: dict[str, Any]) -> Schema:
    """Return the schema that `to_document` describes."""
    check_keys("the schema", document, (*_TOP_KEYS, *SECTIONS))
    variables = parse_section(document, "variables")
    language = parse_text("language", document.get("language", ""))
    translations = parse_languages(parse_section(document, "languages"), language)
    questions = _add_translated(parse_section(document, "questions"), variables, translations)
    translations.check_names(variables, questions)
    parsed_variables = tuple(
        replace(_parse_variable(name, entry), translations=translations.variables.get(name, {}))
        for name, entry in variables.items()
    )
    parsed_questions = tuple(
        replace(
            _parse_question(name, entry, variables),
            translations=translations.questions.get(name, {}),
        )
        for name, entry in questions.items()
    )
    time = _parse_time(document, variables)
    if time is not None:
        parsed_variables, parsed_questions = add_windows(time, parsed_variables, parsed_questions)
    return Schema(
        variables=parsed_variables,
        explicit_questions=parsed_questions,
        time=time,
        targets=parse_names("targets", document.get("targets", [])),
        set_aside=(*_parse_set_aside(document, "identifiers"), *_parse_set_aside(document, "ignored")),
        missing=parse_levels("missing", document.get("missing", [])),
        declined=parse_levels("declined", document.get("declined", [])),
        stop=_parse_numbers(document, "stop"),
        exploration=_parse_numbers(document, "exploration"),
        beliefs=parse_beliefs(parse_section(document, "beliefs")),
        relations=parse_relations(document.get("relations", [])),
        language=language,
        sections=tuple(
            Section.from_document(*item) for item in parse_section(document, "sections").items()
        ),
        exclusive=parse_groups(document.get("exclusive", [])),
    )


def format_variable_line(variable: Variable) -> str:
    """Return the line of a variable in a schema file, for a message that proposes it."""
    return f"{format_key(variable.name)} = {_format_variable(variable)}"


def _format_schema(schema: Schema) -> Iterator[str]:
    yield HEADING
    if schema.notes:
        names = format_names(list(dict.fromkeys(filter(None, (note.column for note in schema.notes)))))
        yield f"# Check these guesses; the comments below say what to change: {names}."
    yield from _format_other_notes(schema)
    yield f"targets = {format_value(schema.targets)}"
    for name in ("language", "missing", "declined", "exclusive"):
        if value := getattr(schema, name):
            yield f"{name} = {format_value(value)}"
    derived = () if schema.time is None else schema.time.derived_names()
    variables = (
        (v.name, _format_variable(v, schema)) for v in schema.variables if v.name not in derived
    )
    yield from _format_section("variables", variables, schema)
    asked = (question for question in schema.explicit_questions if question.name not in derived)
    questions = ((question.name, _format_question(question, schema)) for question in asked)
    yield from _format_section("questions", questions, schema)
    time = {} if schema.time is None else schema.time.to_document()
    yield from _format_section("time", ((k, format_value(v)) for k, v in time.items()), schema)
    for section in ("stop", "exploration"):
        numbers = getattr(schema, section).items()
        entries = ((name, f"{to_int_if_whole(value)!r}") for name, value in numbers)
        yield from _format_section(section, entries, schema)
    beliefs = ((b.variable, _format_belief(b)) for b in schema.beliefs)
    yield from _format_section("beliefs", beliefs, schema)
    sections = ((section.name, format_value(section.to_document())) for section in schema.sections)
    yield from _format_section("sections", sections, schema)
    for section, role in (("identifiers", "identifier"), ("ignored", "ignored")):
        columns = (column for column in schema.set_aside if column.role == role)
        reasons = ((column.name, format_value(column.reason)) for column in columns)
        yield from _format_section(section, reasons, schema)
    if lines := list(format_languages(schema)):
        yield from ("", SECTIONS["languages"], *lines)
    if schema.relations:
        yield from ("", RELATIONS)
    for relation in schema.relations:
        yield "[[relations]]"
        yield from (f"{key} = {format_value(value)}" for key, value in relation.to_document().items())


def _format_belief(belief: Belief) -> str:
    shares = tuple(map(to_int_if_whole, belief.shares)) or None
    typical, spread = to_int_if_whole(belief.typical), to_int_if_whole(belief.spread)
    return format_inline_table(typical=typical, spread=spread, shares=shares)


def _format_section(name: str, entries: Iterable[tuple[str, str]], schema: Schema) -> Iterator[str]:
    lines: list[str] = []
    for key, value in entries:
        if name not in WITHOUT_NOTES and (name != "questions" or key not in schema.names):
            lines.extend(_format_notes(key, schema))
        lines.append(f"{format_key(key)} = {value}")
    if lines or name == "variables":
        yield from ("", SECTIONS[name], f"[{name}]", *lines)


def _format_other_notes(schema: Schema) -> Iterator[str]:
    """Yield what to check about the whole table, and about what has no line in the file."""
    names = {*schema.names, *(q.name for q in schema.questions), *(c.name for c in schema.set_aside)}
    for note in schema.notes:
        if note.column not in names:
            about = f"Check {format_key(note.column)}" if note.column else "Note"
            yield f"# {about}: {' '.join(note.message.split())}"


def _format_notes(column: str, schema: Schema) -> Iterator[str]:
    """Yield what to check about a column as comments, with the line to use instead."""
    for note in schema.notes:
        if note.column == column:
            yield f"# Check {format_key(column)}: {' '.join(note.message.split())}"
            if note.alternative is not None:
                yield f"#   {format_variable_line(note.alternative)}"


def _format_variable(variable: Variable, schema: Schema | None = None) -> str:
    missing, declined = (schema.missing, schema.declined) if schema is not None else ((), ())
    time = None if schema is None else schema.time
    summary = None if time is None else time.repeats.get(variable.name)
    source = variable.source
    return format_inline_table(
        kind=str(variable.kind),
        **schema_entry.survival_to_values(variable.survival),
        levels=variable.levels or None,
        low=to_int_if_whole(variable.low),
        high=to_int_if_whole(variable.high),
        unit=variable.unit or None,
        format=None if variable.format is None else variable.format.example,
        missing=tuple(code for code in variable.missing if code not in missing) or None,
        declined=tuple(code for code in variable.declined if code not in declined) or None,
        column=None if source is None else source.column,
        option=None if source is None else source.option,
        separator=None if source is None else source.separator,
        indicates=variable.indicates or None,
        title=variable.title or None,
        labels=variable.labels or None,
        help=variable.help or None,
        repeats=True if summary == "last" else summary,
    )


def _format_question(question: Question, schema: Schema) -> str:
    reveals_namesake = question.reveals == (question.name,) and question.name in schema.names
    return format_inline_table(
        reveals=None if reveals_namesake else question.reveals,
        cost=None if question.cost == 1 else to_int_if_whole(question.cost),
        text=None if question.text == question.name else question.text,
        help=question.help or None,
        always=True if question.always else None,
        requires=requires_to_value(question) or None,
        never=True if question.never else None,
        section=question.section or None,
    )


def _parse_toml(text: str) -> Schema:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"the schema is not valid TOML: {error}. Correct that line.") from None
    return from_document(document)


def _parse_variable(name: str, entry: Any) -> Variable:
    where = f"variable {name!r}"
    check_type(where, entry, dict, 'a table such as { kind = "real", low = 0 }')
    check_keys(where, entry, _VARIABLE_KEYS)
    if "kind" not in entry:
        raise SchemaError(f"{where} has no kind. Give it one of {', '.join(Kind)}.")
    return Variable(
        name,
        parse_text(f"{where}: kind", entry["kind"]),  # type: ignore[arg-type]  # Variable checks it
        levels=parse_levels(f"{where}: levels", entry.get("levels", [])),
        low=parse_number(f"{where}: low", entry["low"]) if "low" in entry else None,
        high=parse_number(f"{where}: high", entry["high"]) if "high" in entry else None,
        unit=parse_text(f"{where}: unit", entry.get("unit", "")),
        format=_parse_format(f"{where}: format", entry["format"]) if "format" in entry else None,
        missing=parse_levels(f"{where}: missing", entry.get("missing", [])),
        declined=parse_levels(f"{where}: declined", entry.get("declined", [])),
        source=_parse_source(where, entry),
        indicates=parse_text(f"{where}: indicates", entry.get("indicates", "")),
        title=parse_text(f"{where}: title", entry.get("title", "")),
        labels=parse_names(f"{where}: labels", entry.get("labels", [])),
        help=parse_text(f"{where}: help", entry.get("help", "")),
        survival=schema_entry.parse_survival(where, entry),
    )


def _parse_time(document: dict[str, Any], variables: dict[str, Any]) -> TimeSection | None:
    repeats = {name: entry["repeats"] for name, entry in variables.items() if "repeats" in entry}
    if "time" in document:
        return TimeSection.from_document(parse_section(document, "time"), repeats)
    if repeats:
        raise SchemaError(
            f"{format_names(list(repeats))} repeats, but the schema has no section [time]. Add it with "
            "the columns of the person and of the time."
        )
    return None


def _parse_format(where: str, value: Any) -> NumberFormat:
    return NumberFormat.from_example(parse_text(where, value))


def _parse_source(where: str, entry: dict[str, Any]) -> OptionSource | None:
    given = {key: parse_text(f"{where}: {key}", entry[key]) for key in _OPTION_KEYS if key in entry}
    if not given:
        return None
    if not {"column", "option"} <= given.keys():
        raise SchemaError(
            f"{where} must have both a column and an option, got {', '.join(given)}. They name a column "
            "whose cells list several options, and one of these."
        )
    return OptionSource(**given)


def _parse_question(name: str, entry: Any, variables: dict[str, Any]) -> Question:
    where = f"question {name!r}"
    check_type(where, entry, dict, 'a table such as { reveals = ["ldl", "hdl"], cost = 40 }')
    check_keys(where, entry, _QUESTION_KEYS)
    if "reveals" not in entry and name not in variables:
        raise SchemaError(
            f"{where} has no reveals, and there is no variable of that name. "
            'Name the variables it reveals, for example: reveals = ["ldl", "hdl"].'
        )
    return Question(
        name,
        parse_names(f"{where}: reveals", entry.get("reveals", [name])),
        text=parse_text(f"{where}: text", entry.get("text", "")),
        cost=parse_number(f"{where}: cost", entry.get("cost", 1)),
        always=parse_bool(f"{where}: always", entry.get("always", False)),
        requires=parse_requires_value(f"{where}: requires", entry.get("requires", {})),
        never=parse_bool(f"{where}: never", entry.get("never", False)),
        help=parse_text(f"{where}: help", entry.get("help", "")),
        section=parse_text(f"{where}: section", entry.get("section", "")),
    )


def _add_translated(
    questions: dict[str, Any], variables: dict[str, Any], translations: Translations
) -> dict[str, Any]:
    """Return the questions, and those of variables that have only a text in another language."""
    revealed = {
        name
        for entry in questions.values()
        if isinstance(entry, dict) and isinstance(entry.get("reveals"), list)
        for name in entry["reveals"]
        if isinstance(name, str)
    }
    names = (name for name in translations.questions if name in variables and name not in revealed)
    return questions | {name: {} for name in names if name not in questions}


def _parse_numbers(document: dict[str, Any], section: str) -> dict[str, float]:
    return {
        name: parse_number(f"{section}: {name}", value)
        for name, value in parse_section(document, section).items()
    }


def _parse_set_aside(document: dict[str, Any], section: str) -> Iterator[SetAside]:
    for name, reason in parse_section(document, section).items():
        text = parse_text(f"{section}: {name!r}", reason)
        yield SetAside(name, text, "identifier" if section == "identifiers" else "ignored")
