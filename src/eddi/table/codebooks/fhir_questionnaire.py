"""FHIR Questionnaires (R4, as JSON): items with answer options, units, ranges and conditions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.codebook import (
    MAX_CHOICES,
    MAX_ENTRIES,
    Choice,
    Codebook,
    CodebookError,
    Entry,
    EntryType,
    Loss,
    Translation,
    check_count,
    count_losses,
)
from eddi.table.codebooks.condition import AnyOf, Condition, Opaque, Test, join_all, negate
from eddi.table.codebooks.texts import clean_text

FORMAT = "FHIR Questionnaire"
EXTENSIONS = "http://hl7.org/fhir/StructureDefinition/"
SDC = "http://hl7.org/fhir/uv/sdc/StructureDefinition/"
MAX_DEPTH = 50  # of items
YES_NO = (Choice("false", "No"), Choice("true", "Yes"))
NUMBERS = {"integer": EntryType.INTEGER, "decimal": EntryType.DECIMAL, "quantity": EntryType.DECIMAL}
NOT_MODELLED = {
    "display": "a text without an answer",
    "group": "a group without an answer",
    **dict.fromkeys(("date", "dateTime", "time"), "dates and times are not modelled"),
    "attachment": "a file",
    "reference": "a reference to another resource",
    "url": "an address",
}
OPERATORS = ("=", "!=", ">", "<", ">=", "<=")

Item = Mapping[str, Any]


def is_questionnaire(document: Any) -> bool:
    """Whether a document is a FHIR Questionnaire."""
    return isinstance(document, Mapping) and document.get("resourceType") == "Questionnaire"


def read(document: Mapping[str, Any]) -> Codebook:
    """Return the codebook of a questionnaire.

    Raises:
        CodebookError: it is nested too deeply or has no items.
    """
    reader = _Reader(_read_value_sets(document))
    entries = tuple(reader.read_items(document, section="", condition=None, depth=0))
    losses = (*reader.losses, *count_losses(reader.counts))
    return Codebook(FORMAT, entries, losses, language=_text(document.get("language"))[:2].lower())


@dataclass
class _Reader:
    """Reads items in order; an item inherits the section and the condition of its group."""

    value_sets: Mapping[str, tuple[Choice, ...]]
    losses: list[Loss] = field(default_factory=list)
    counts: dict[str, list[str]] = field(default_factory=dict)
    n_items: int = 0

    def read_items(
        self, parent: Item, *, section: str, condition: Condition | None, depth: int
    ) -> Iterator[Entry]:
        if depth > MAX_DEPTH:
            raise CodebookError(
                f"the items of the questionnaire are nested more than {MAX_DEPTH} times."
            )
        for item in _objects(parent.get("item")):
            self.n_items += 1
            check_count("items", self.n_items, MAX_ENTRIES)
            name = _text(item.get("linkId"))
            if not name:
                self.losses.append(
                    Loss("", f"an item without a linkId: {_text(item.get('text'))[:60]!r}")
                )
                continue
            combined = join_all([condition, self._read_condition(item)])
            is_group = item.get("type") == "group"
            heading = clean_text(_text(item.get("text"))) if is_group else ""
            if is_group:
                self._note_repeats(name, item)
            else:
                yield self._make_entry(name, item, section, combined)
            yield from self.read_items(
                item, section=heading or section, condition=combined, depth=depth + 1
            )

    def _make_entry(self, name: str, item: Item, section: str, condition: Condition | None) -> Entry:
        text, texts = _read_text(item, "text")
        note, notes = self._read_help(item)
        entry = Entry(
            name,
            EntryType.OTHER,
            text,
            note,
            section=section,
            condition=condition,
            is_hidden=bool(item.get("readOnly")) or _extension(item, "questionnaire-hidden") is True,
            translations={
                code: Translation(texts.get(code, ""), notes.get(code, ""))
                for code in {**texts, **notes}
            },
        )
        self._count_properties(name, item)
        return self._read_type(entry, item)

    def _read_type(self, entry: Entry, item: Item) -> Entry:
        kind = _text(item.get("type"))
        if _find_extension(item, f"{SDC}sdc-questionnaire-calculatedExpression") is not None:
            return replace(entry, reason="calculated from other answers")
        if kind == "boolean":
            return replace(entry, type=EntryType.CHOICE, choices=YES_NO)
        if kind in ("choice", "open-choice", "coding"):
            return self._read_choices(entry, item)
        if kind in NUMBERS:
            entry = replace(entry, type=NUMBERS[kind], unit=_read_unit(item))
            low, high = _number(_extension(item, "minValue")), _number(_extension(item, "maxValue"))
            if low is not None and high is not None and low > high:
                self.losses.append(Loss(entry.name, f"its range from {low:g} to {high:g} is empty"))
                return entry
            return replace(entry, low=low, high=high)
        if kind in ("string", "text"):
            return replace(entry, type=EntryType.TEXT)
        return replace(entry, reason=NOT_MODELLED.get(kind, f"an item of the type {kind!r}"))

    def _read_choices(self, entry: Entry, item: Item) -> Entry:
        options = list(_objects(item.get("answerOption")))
        check_count("choices of one variable", len(options), MAX_CHOICES)
        choices = tuple(choice for option in options if (choice := _read_option(option)) is not None)
        reference = _text(item.get("answerValueSet"))
        if not choices and reference:
            choices = self.value_sets.get(reference.removeprefix("#"), ())
        if not choices:
            what = f"the value set {reference!r} is not part of the file" if reference else "no choices"
            self.losses.append(Loss(entry.name, f"{what}; its values are read from the table"))
            return replace(entry, type=EntryType.TEXT)
        if item.get("type") == "open-choice":
            self.losses.append(Loss(entry.name, "answers in one's own words are not modelled"))
        unique = tuple({choice.code: choice for choice in choices}.values())
        if item.get("repeats") is True:
            columns = {
                c.code: tuple(f"{entry.name}{s}{c.code}" for s in ("/", ".", "___")) for c in unique
            }
            return replace(
                entry, type=EntryType.CHOICES, choices=unique, option_columns=columns, separator=";"
            )
        is_ordered = all(_has_score(option) for option in options) and len(options) > 2
        return replace(entry, type=EntryType.CHOICE, choices=unique, is_ordered=is_ordered)

    def _read_condition(self, item: Item) -> Condition | None:
        tests = [_read_test(test) for test in _objects(item.get("enableWhen"))]
        condition = join_all(list(tests))
        if len(tests) > 1 and item.get("enableBehavior") == "any":
            condition = AnyOf(tuple(tests))
        expression = _find_extension(item, f"{SDC}sdc-questionnaire-enableWhenExpression")
        if expression is not None:
            text = _text(_object(expression.get("valueExpression")).get("expression"))
            condition = join_all(
                [condition, Opaque(text[:200], "it is an expression (FHIRPath or CQL)")]
            )
        return condition

    def _read_help(self, item: Item) -> tuple[str, dict[str, str]]:
        """Return the text of a child item that has no answer: a help or instruction."""
        for child in _objects(item.get("item")):
            if child.get("type") == "display":
                return _read_text(child, "text")
        return "", {}

    def _note_repeats(self, name: str, item: Item) -> None:
        if item.get("repeats") is True:
            self.losses.append(
                Loss(name, "a group that repeats: a schema has one value per person and variable")
            )

    def _count_properties(self, name: str, item: Item) -> None:
        for key, what in (
            (
                "required",
                "required items: an adaptive interview need not ask them; set always = true "
                "for those that it must",
            ),
            ("initial", "initial answers are not part of a schema"),
            ("prefix", "prefixes such as '1.' are not part of a schema"),
            ("maxLength", "the maximum length of a text is not part of a schema"),
        ):
            if item.get(key):
                self.counts.setdefault(what, []).append(name)


def _read_test(test: Item) -> Condition:
    name, operator = _text(test.get("question")), _text(test.get("operator"))
    answers = [(key, value) for key, value in test.items() if str(key).startswith("answer")]
    text = f"{name} {operator} {answers[0][1] if answers else ''}"[:200]
    if not name or not answers or operator not in (*OPERATORS, "exists"):
        return Opaque(text, "the condition is not complete")
    key, value = answers[0]
    if operator == "exists":
        answered = Test(name, "!=", "")
        return answered if value is True else negate(answered)
    if key == "answerQuantity":
        value = _object(value).get("value")
    elif key == "answerCoding":
        coding = _object(value)
        value = coding.get("code") or coding.get("display")
    if isinstance(value, bool):
        value = "true" if value else "false"
    if not isinstance(value, str | int | float) or value == "":
        return Opaque(text, "the condition has no plain value")
    return Test(name, operator, str(value))


def _read_option(option: Item) -> Choice | None:
    for key, value in option.items():
        if key == "valueCoding":
            coding = _object(value)
            code = _text(coding.get("code")) or _text(coding.get("display"))
            label, others = _read_text(coding, "display")
            return Choice(code, label or code, others) if code else None
        if str(key).startswith("value") and isinstance(value, str | int | float):
            return Choice(str(value), str(value))
    return None


def _has_score(option: Item) -> bool:
    coding = _object(option.get("valueCoding"))
    return any(_extension(part, "ordinalValue") is not None for part in (option, coding)) or any(
        _find_extension(part, f"{EXTENSIONS}itemWeight") is not None for part in (option, coding)
    )


def _read_value_sets(document: Item) -> dict[str, tuple[Choice, ...]]:
    """Return the choices of the value sets inside the questionnaire, by id and url."""
    found = {}
    for resource in _objects(document.get("contained")):
        if resource.get("resourceType") != "ValueSet":
            continue
        expanded = _objects(_object(resource.get("expansion")).get("contains"))
        includes = _objects(_object(resource.get("compose")).get("include"))
        concepts = [*expanded, *(c for include in includes for c in _objects(include.get("concept")))]
        check_count("choices of one value set", len(concepts), MAX_CHOICES)
        choices = tuple(
            choice for concept in concepts if (choice := _read_option({"valueCoding": concept}))
        )
        for key in (resource.get("id"), resource.get("url")):
            if isinstance(key, str):
                found[key] = choices
    return found


def _read_unit(item: Item) -> str:
    for name in ("questionnaire-unit", "questionnaire-unitOption"):
        coding = _object(_extension(item, name))
        if unit := _text(coding.get("display")) or _text(coding.get("code")):
            return unit[:40]
    quantity = next((_object(entry.get("valueQuantity")) for entry in _objects(item.get("initial"))), {})
    return _text(quantity.get("unit"))[:40]


def _read_text(item: Item, key: str) -> tuple[str, dict[str, str]]:
    """Return a text and its translations, by language."""
    translations = {}
    for extension in _objects(_object(item.get(f"_{key}")).get("extension")):
        if extension.get("url") == f"{EXTENSIONS}translation":
            parts = {_text(part.get("url")): part for part in _objects(extension.get("extension"))}
            language = _first_value(parts.get("lang"))[:2].lower()
            if language:
                translations[language] = clean_text(_first_value(parts.get("content")))
    return clean_text(_text(item.get(key))), translations


def _first_value(part: Item | None) -> str:
    values = [] if part is None else [v for k, v in part.items() if str(k).startswith("value")]
    return _text(values[0]) if values else ""


def _find_extension(item: Item, url: str) -> Item | None:
    found = (e for e in _objects(item.get("extension")) if e.get("url") == url)
    return next(found, None)


def _extension(item: Item, name: str) -> Any:
    """Return the value of an extension of the FHIR standard; None if there is none."""
    extension = _find_extension(item, f"{EXTENSIONS}{name}")
    if extension is None:
        return None
    return next((value for key, value in extension.items() if str(key).startswith("value")), None)


def _number(value: Any) -> float | None:
    if isinstance(value, Mapping):
        value = value.get("value")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    number = parse_number(value)
    return number if math.isfinite(number) else None


def _objects(value: Any) -> Sequence[Item]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _object(value: Any) -> Item:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
