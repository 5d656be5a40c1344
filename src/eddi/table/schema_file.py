"""The schema as a TOML file that people edit by hand: one line a variable."""

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from eddi.errors import SchemaError
from eddi.table.question import Question
from eddi.table.schema import Schema, SetAside
from eddi.table.variable import Kind, Level, Variable

HEADING = "# What EDDI knows about this table. Edit freely; `eddi fit --schema this.toml` reads it."
SECTIONS = {
    "variables": "# Kinds: real, count, binary (its 'no' first), ordinal (in order), category.",
    "questions": "# What is asked at once, what it costs, how it is worded.",
    "identifiers": "# Columns that name a row, and how we know. Never modelled.",
    "ignored": "# Columns left out, and why. To model one, move it to [variables] with a kind.",
}
BARE_KEY = re.compile("[A-Za-z0-9_-]+")
MAX_WHOLE = 1e15  # beyond it a whole float is clearer as 1e+20 than as a row of digits

_VARIABLE_KEYS = ("kind", "levels", "low", "high", "unit")
_QUESTION_KEYS = ("reveals", "cost", "text", "always", "requires", "never")


def write(schema: Schema, path: str | PathLike[str] | None = None) -> str:
    """The schema as TOML text; written to ``path`` if one is given."""
    text = "\n".join(_lines(schema)) + "\n"
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def read(source: str | PathLike[str]) -> Schema:
    """The schema in a TOML file, or in TOML text (anything with a line break in it).

    Raises:
        SchemaError: the file is absent, is not TOML, or does not describe a schema.
    """
    if isinstance(source, str) and "\n" in source:
        return _parse(source)
    try:
        return _parse(Path(source).read_text(encoding="utf-8"))
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


def _lines(schema: Schema) -> Iterator[str]:
    yield HEADING
    yield f"targets = {_value(schema.targets)}"
    yield from _section("variables", ((v.name, _variable_line(v)) for v in schema.variables))
    asked = ((q.name, _question_line(q, schema)) for q in schema.explicit_questions)
    yield from _section("questions", asked)
    for section, role in (("identifiers", "identifier"), ("ignored", "ignored")):
        aside = (one for one in schema.set_aside if one.role == role)
        yield from _section(section, ((one.name, _value(one.reason)) for one in aside))


def _section(name: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [f"{_key(key)} = {value}" for key, value in entries]
    if lines or name == "variables":
        yield from ("", SECTIONS[name], f"[{name}]", *lines)


def _variable_line(variable: Variable) -> str:
    return _inline(
        kind=str(variable.kind),
        levels=variable.levels or None,
        low=_tidy_number(variable.low),
        high=_tidy_number(variable.high),
        unit=variable.unit or None,
    )


def _question_line(question: Question, schema: Schema) -> str:
    own = question.reveals == (question.name,) and question.name in schema.names
    return _inline(
        reveals=None if own else question.reveals,
        cost=None if question.cost == 1 else _tidy_number(question.cost),
        text=None if question.text == question.name else question.text,
        always=True if question.always else None,
        requires=dict(question.requires) or None,
        never=True if question.never else None,
    )


def _inline(**entries: Any) -> str:
    pairs = [f"{key} = {_value(value)}" for key, value in entries.items() if value is not None]
    return "{ " + ", ".join(pairs) + " }" if pairs else "{}"


def _tidy_number(number: float | None) -> float | int | None:
    """18 rather than 18.0, but never at the price of a bit."""
    if number is None or not math.isfinite(number) or abs(number) >= MAX_WHOLE:
        return number
    negative_zero = number == 0 and math.copysign(1, number) < 0
    return int(number) if number == int(number) and not negative_zero else float(number)


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    plain = value.item() if hasattr(value, "item") else value  # a NumPy scalar as Python's own
    if isinstance(plain, bool):
        return "true" if plain else "false"
    return _quoted(plain) if isinstance(plain, str) else repr(plain)


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON's strings are TOML's basic strings, but for one character that TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parse(text: str) -> Schema:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"the schema is not valid TOML: {error}. Correct that line.") from None
    return from_document(document)


def to_document(schema: Schema) -> dict[str, Any]:
    """The schema as plain dictionaries, lists and scalars, laid out as in the TOML file."""
    return tomllib.loads(write(schema))


def from_document(document: dict[str, Any]) -> Schema:
    """The schema that `to_document` described."""
    _refuse_unknown("the schema", document, ("targets", *SECTIONS))
    variables = _entries(document, "variables")
    questions = _entries(document, "questions")
    return Schema(
        variables=tuple(_variable(name, entry) for name, entry in variables.items()),
        explicit_questions=tuple(_question(name, entry, variables) for name, entry in questions.items()),
        targets=_words("targets", document.get("targets", [])),
        set_aside=(*_set_aside(document, "identifiers"), *_set_aside(document, "ignored")),
    )


def _variable(name: str, entry: Any) -> Variable:
    where = f"variable {name!r}"
    _require(where, entry, dict, 'a table such as { kind = "real", low = 0 }')
    _refuse_unknown(where, entry, _VARIABLE_KEYS)
    if "kind" not in entry:
        raise SchemaError(f"{where} has no kind. Give it one of {', '.join(Kind)}.")
    return Variable(
        name,
        _text(f"{where}: kind", entry["kind"]),  # type: ignore[arg-type]  # Variable checks it
        levels=_levels(f"{where}: levels", entry.get("levels", [])),
        low=_number(f"{where}: low", entry["low"]) if "low" in entry else None,
        high=_number(f"{where}: high", entry["high"]) if "high" in entry else None,
        unit=_text(f"{where}: unit", entry.get("unit", "")),
    )


def _question(name: str, entry: Any, variables: dict[str, Any]) -> Question:
    where = f"question {name!r}"
    _require(where, entry, dict, 'a table such as { reveals = ["ldl", "hdl"], cost = 40 }')
    _refuse_unknown(where, entry, _QUESTION_KEYS)
    if "reveals" not in entry and name not in variables:
        raise SchemaError(
            f"{where} has no reveals, and there is no variable of that name. "
            'Name the variables it reveals: reveals = ["ldl", "hdl"].'
        )
    return Question(
        name,
        _words(f"{where}: reveals", entry.get("reveals", [name])),
        text=_text(f"{where}: text", entry.get("text", "")),
        cost=_number(f"{where}: cost", entry.get("cost", 1)),
        always=_yes_or_no(f"{where}: always", entry.get("always", False)),
        requires=_requires(f"{where}: requires", entry.get("requires", {})),
        never=_yes_or_no(f"{where}: never", entry.get("never", False)),
    )


def _set_aside(document: dict[str, Any], section: str) -> Iterator[SetAside]:
    for name, reason in _entries(document, section).items():
        text = _text(f"{section}: {name!r}", reason)
        yield SetAside(name, text, "identifier" if section == "identifiers" else "ignored")


def _entries(document: dict[str, Any], section: str) -> dict[str, Any]:
    entries = document.get(section, {})
    _require(section, entries, dict, f"a section headed [{section}]")
    return dict(entries)


def _words(where: str, value: Any) -> tuple[str, ...]:
    _require(where, value, list, 'a list of names such as ["age", "ldl"]')
    return tuple(_text(where, one) for one in value)


def _levels(where: str, value: Any) -> tuple[Level, ...]:
    _require(where, value, list, 'a list such as ["no", "yes"]')
    for level in value:
        _require(where, level, str | int | float, "made of texts, numbers or true and false")
    return tuple(value)


def _requires(where: str, value: Any) -> dict[str, tuple[Level, ...]]:
    _require(where, value, dict, 'a table such as { smoker = "yes" }')
    several = {name: one if isinstance(one, list) else [one] for name, one in value.items()}
    return {name: _levels(f"{where}: {name!r}", levels) for name, levels in several.items()}


def _yes_or_no(where: str, value: Any) -> bool:
    _require(where, value, bool, "true or false")
    return bool(value)


def _text(where: str, value: Any) -> str:
    _require(where, value, str, 'text in quotes such as "age"')
    return str(value)


def _number(where: str, value: Any) -> float:
    _require(where, "true or false" if isinstance(value, bool) else value, int | float, "a number")
    return float(value)


def _require(where: str, value: Any, kind: Any, expected: str) -> None:
    if not isinstance(value, kind):
        raise SchemaError(f"{where} must be {expected}, got {value!r}.")


def _refuse_unknown(where: str, entry: dict[str, Any], allowed: Iterable[str]) -> None:
    for key in entry:
        if key not in allowed:
            raise SchemaError(f"{where} has the unknown key {key!r}. Keys are: {', '.join(allowed)}.")
