"""A question: what is asked or measured at once, and the conditions under which it is asked."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eddi.errors import SchemaError
from eddi.table.cells.number_format import parse_number
from eddi.table.languages.translations import QuestionTexts, check_languages, given_texts
from eddi.table.text import format_value
from eddi.table.toml_values import check_type, parse_levels
from eddi.table.variable import Kind, Level, Variable, level_position

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}
ANSWERED = "was answered"
_COMPARISON = re.compile(r"(?P<name>.+?)\s*(?P<operator>>=|<=|!=|==?|>|<)\s*(?P<value>.+)")
_ANSWERED = re.compile(r"(?P<name>.+?)\s+(?:was|is)\s+answered")
_NOTE = re.compile(r"(?P<title>.*\S)\s+\((?P<note>[^()]*[.!?])\)", re.DOTALL)
_CONDITION_EXAMPLES = '"years > 3", "smoker = yes" or "age was answered"'


@dataclass(frozen=True)
class Comparison:
    """A condition on the value of a variable, such as "> 3", or that it was answered at all.

    Args:
        operator: one of >, >=, <, <=, =, != and "was answered".
        value: a number, or a level of an ordinal variable; empty for "was answered".
    """

    operator: str
    value: Level = ""

    def __str__(self) -> str:
        return f"{self.operator} {format_value(self.value)}".strip()

    def holds(
        self, variable: Variable, numbers: NDArray[np.float64], tolerance: float = 0.0
    ) -> NDArray[np.bool_]:
        """Whether the condition holds for each value of the variable.

        Args:
            variable: the variable.
            numbers: its values: quantities, or positions of levels.
            tolerance: the rounding error of quantities.
        """
        if self.operator == ANSWERED:
            return np.ones(numbers.shape, dtype=bool)
        compare = OPERATORS[self.operator]
        if variable.kind.has_levels:
            return np.isin(numbers.round(), self._find_levels(variable))
        difference = numbers - float(self.value)
        return np.asarray(compare(np.where(np.abs(difference) <= tolerance, 0.0, difference), 0.0))

    def _find_levels(self, variable: Variable) -> list[int]:
        """The positions of the levels for which the condition holds."""
        compare, position = OPERATORS[self.operator], level_position(variable.levels, self.value)
        if position is not None:
            return [place for place in range(variable.n_levels) if compare(place, position)]
        numbers = map(parse_number, variable.levels)
        return [place for place, number in enumerate(numbers) if compare(number, self.value)]

    def check(self, question: str, variable: Variable) -> None:
        """Raise a `SchemaError` if the variable cannot be compared in this way."""
        if self.operator == ANSWERED:
            return
        is_order = self.operator not in ("=", "!=")
        where = f"question {question!r} requires {variable.name!r} {self}"
        if is_order and variable.kind is Kind.CATEGORY:
            raise SchemaError(f"{where}, but {variable.name!r} is a category, which has no order.")
        is_number = isinstance(self.value, int | float)
        has_numbers = not any(math.isnan(parse_number(level)) for level in variable.levels)
        is_level = level_position(variable.levels, self.value) is not None
        if not (is_level or (is_number and has_numbers)):
            levels = f"its levels ({', '.join(map(str, variable.levels))})"
            expected = f"one of {levels}" if variable.levels else "a number"
            raise SchemaError(f"{where}, but {self.value!r} is not {expected}.")


Requirement = tuple[Level | Comparison, ...]
"""Levels, of which the variable must have one, or comparisons, which must all hold."""


@dataclass(frozen=True)
class Question:
    """A question that reveals one or more variables and has a text and a cost.

    For example, a blood panel is one question that reveals many variables.

    Args:
        name: unique among the questions of a schema.
        reveals: names of the variables whose values an answer gives.
        text: the wording shown to respondents; the name if empty. A sentence in parentheses at its end
            is a note, which pages show in smaller type.
        cost: in any unit, as long as all questions use the same one.
        always: always ask the question before the interview ends, whatever the stopping rule says.
        requires: ask only once each of these variables is observed and has one of these levels. A text
            such as "years > 3", "smoker = yes" or "age was answered", or several of them, is accepted,
            too; see `Comparison`.
        never: never ask the question. The model still learns from its variables, and a respondent may
            volunteer their values.
        help: a text below the question.
        translations: its texts in other languages, by code, such as "de".
        section: the part of the questionnaire that it belongs to, such as "mood"; see `Section`.
    """

    name: str
    reveals: tuple[str, ...]
    text: str = ""
    cost: float = 1.0
    always: bool = False
    requires: Mapping[str, Requirement] = field(default_factory=dict, hash=False)
    never: bool = False
    help: str = ""
    translations: Mapping[str, QuestionTexts] = field(default_factory=dict, hash=False)
    section: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reveals", tuple(self.reveals))
        object.__setattr__(self, "text", self.text or self.name)
        object.__setattr__(self, "requires", parse_requires(self.requires))
        check_languages(f"question {self.name!r}", self.translations)
        if not self.reveals:
            raise SchemaError(f"question {self.name!r} reveals no variables. Name at least one.")
        if len(set(self.reveals)) < len(self.reveals):
            raise SchemaError(f"question {self.name!r} lists a variable twice: {self.reveals}.")
        if not (math.isfinite(self.cost) and self.cost > 0):
            raise SchemaError(f"question {self.name!r} costs {self.cost:g}; a cost is a number above 0.")
        if self.always and self.never:
            raise SchemaError(f"question {self.name!r} cannot be asked both always and never.")
        if own := set(self.reveals) & set(self.requires):
            raise SchemaError(f"question {self.name!r} requires {own.pop()!r}, which it itself reveals.")

    def in_language(self, code: str) -> "Question":
        """Return a copy with the texts in a language; those without a translation stay."""
        texts = self.translations.get(code)
        return self if texts is None else replace(self, **given_texts(texts))

    @property
    def title(self) -> str:
        """The text without its note."""
        match = _NOTE.fullmatch(self.text)
        return match["title"] if match else self.text

    @property
    def note(self) -> str:
        """The sentence in parentheses at the end of the text; empty if there is none."""
        match = _NOTE.fullmatch(self.text)
        return match["note"] if match else ""


def parse_requires(requires: Mapping[str, Any] | str | Iterable[Any]) -> dict[str, Requirement]:
    """Return prerequisites by variable.

    Args:
        requires: a mapping of levels by variable, a text such as "years > 3", or several of these.

    Raises:
        SchemaError: a text is not a condition.
    """
    if isinstance(requires, Mapping):
        return {name: _as_tuple(levels) for name, levels in requires.items()}
    parts = [requires] if isinstance(requires, str) else list(requires)
    combined: dict[str, Requirement] = {}
    for part in parts:
        found = parse_requires(part) if isinstance(part, Mapping) else _parse_condition(part)
        for name, requirement in found.items():
            combined[name] = (*combined.get(name, ()), *requirement)
    return combined


def _parse_condition(text: str) -> dict[str, Requirement]:
    if match := _ANSWERED.fullmatch(text.strip()):
        return {match["name"].strip(): (Comparison(ANSWERED),)}
    match = _COMPARISON.fullmatch(text.strip())
    if match is None:
        raise SchemaError(f"{text!r} is not a condition. Write, for example, {_CONDITION_EXAMPLES}.")
    name, symbol, value = match["name"].strip(), match["operator"].replace("==", "="), match["value"]
    if symbol == "=":
        return {name: tuple(level.strip() for level in value.split(",") if level.strip())}
    number = parse_number(value)
    return {name: (Comparison(symbol, value if math.isnan(number) else number),)}


def format_requires(requires: Mapping[str, Requirement]) -> list[str]:
    """Return prerequisites as texts that `parse_requires` reads, one per variable and comparison."""
    texts = []
    for name, requirement in requires.items():
        levels = [str(part) for part in requirement if not isinstance(part, Comparison)]
        texts += [f"{name} = {', '.join(levels)}"] if levels else []
        texts += [f"{name} {part}" for part in requirement if isinstance(part, Comparison)]
    return texts


def is_met(
    requirement: Requirement,
    variable: Variable,
    numbers: NDArray[np.float64],
    *,
    tolerance: float = 0.0,
) -> NDArray[np.bool_]:
    """Return whether observed values of a variable meet a requirement; see `Comparison.holds`."""
    comparisons = [part for part in requirement if isinstance(part, Comparison)]
    levels = [Comparison("=", part) for part in requirement if not isinstance(part, Comparison)]
    met = np.ones(numbers.shape, dtype=bool)
    if levels:
        met = np.any([level.holds(variable, numbers, tolerance) for level in levels], axis=0)
    for comparison in comparisons:
        met &= comparison.holds(variable, numbers, tolerance)
    return met


def _as_tuple(levels: object) -> Requirement:
    is_collection = isinstance(levels, list | tuple | set | frozenset)
    return tuple(levels) if is_collection else (levels,)  # type: ignore[arg-type,return-value]


def check_requirement(question: str, variable: Variable, part: Level | Comparison) -> None:
    """Raise a `SchemaError` if a variable cannot have the value that a question requires."""
    if isinstance(part, Comparison):
        part.check(question, variable)
    elif not variable.kind.has_levels:
        if math.isnan(parse_number(part)):
            raise SchemaError(
                f"question {question!r} requires {variable.name!r} to be {part!r}, which is not one of its "
                f"levels (it is {variable.kind} and has none). Use a comparison such as "
                f'"{variable.name} > 3".'
            )
    elif level_position(variable.levels, part) is None:
        levels = ", ".join(map(str, variable.levels))
        raise SchemaError(
            f"question {question!r} requires {variable.name!r} to be {part!r}, "
            f"which is not one of its levels ({levels})."
        )


def requires_to_value(question: Question) -> Any:
    """Return prerequisites as a table of levels, or as a list that also has comparisons as text."""
    is_comparison = [
        isinstance(part, Comparison) for parts in question.requires.values() for part in parts
    ]
    if not any(is_comparison):
        return dict(question.requires)
    values: list[Any] = []
    for name, parts in question.requires.items():
        levels = tuple(part for part in parts if not isinstance(part, Comparison))
        values += [{name: levels}] if levels else []
        values += [f"{name} {part}" for part in parts if isinstance(part, Comparison)]
    return tuple(values)


def parse_requires_value(where: str, value: Any) -> dict[str, Requirement]:
    """Return the prerequisites that a schema file states: a text, a table of levels, or a list of these."""
    expected = 'a text such as "years > 3", a table such as { smoker = "yes" }, or a list of these'
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        check_type(where, part, str | dict, expected)
    checked = [part if isinstance(part, str) else _parse_level_table(where, part) for part in parts]
    try:
        return parse_requires(checked)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None


def _parse_level_table(where: str, value: dict[str, Any]) -> dict[str, tuple[Level, ...]]:
    lists = {name: entry if isinstance(entry, list) else [entry] for name, entry in value.items()}
    return {name: parse_levels(f"{where}: {name!r}", levels) for name, levels in lists.items()}
