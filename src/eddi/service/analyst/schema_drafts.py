"""The schema as a grid of text boxes, one line a column: shown, typed over, and understood again."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from eddi.errors import EddiError, SchemaError, TableError
from eddi.service.analyst.tables import KeptTable
from eddi.table.columns import clean, column_to_numbers, is_text
from eddi.table.question import Question
from eddi.table.schema import Schema, SetAside
from eddi.table.text import format_value
from eddi.table.variable import Kind, Level, Variable
from eddi.table.vocabulary import natural_sort_key

ROLES = {
    "ask": "Ask",
    "always": "Always ask",
    "never": "Never ask",
    "target": "Find out (target)",
    "out": "Leave out",
}
FIELDS = ("role", "kind", "levels", "low", "high", "unit", "question", "text", "cost", "requires")
MAX_LEVELS = 64  # that are read off the table where none are given
BY_HAND = "left out by hand"

Faults = dict[tuple[int, str], str]  # by line and field; line 0 is the schema as a whole


class DraftError(EddiError, ValueError):
    """What was typed into the grid does not make a schema."""

    def __init__(self, faults: Faults) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = faults


@dataclass(frozen=True)
class Line:
    """What the grid says of one column, as text; ``place`` counts columns from 1."""

    place: int
    name: str
    role: str = "ask"
    kind: str = "real"
    levels: str = ""  # one a line
    low: str = ""
    high: str = ""
    unit: str = ""
    question: str = ""  # empty for a question of its own
    text: str = ""
    cost: str = ""
    requires: str = ""  # smoker = yes, sometimes; town = Aber

    @property
    def is_in(self) -> bool:
        """Whether the column is modelled."""
        return self.role != "out"

    @property
    def asked_by(self) -> str:
        """The question that reveals it."""
        return self.question or self.name


def lines(kept: KeptTable) -> list[Line]:
    """The grid of a table as its schema has it."""
    schema = kept.schema
    return [_line(place, name, schema) for place, name in enumerate(kept.columns, start=1)]


def _line(place: int, name: str, schema: Schema) -> Line:
    if name not in schema.names:
        return Line(place, name, role="out", kind="")
    variable = schema[name]
    asked = next(q for q in schema.questions if name in q.reveals)
    # What is said of a question is said once, at the first of its columns; changing it there is enough.
    said = asked if name == asked.reveals[0] else Question(asked.name, asked.reveals)
    return Line(
        place,
        name,
        _role(name, asked, schema),
        str(variable.kind),
        "\n".join(map(str, variable.levels)),
        _number(variable.low),
        _number(variable.high),
        variable.unit,
        "" if asked.name == name else asked.name,
        "" if said.text == said.name else said.text,
        "" if said.cost == 1 else _number(said.cost),
        "; ".join(f"{one} = {', '.join(map(str, levels))}" for one, levels in said.requires.items()),
    )


def _role(name: str, asked: Question, schema: Schema) -> str:
    if name in schema.targets:
        return "target"
    if asked.never:
        return "never"
    return "always" if asked.always else "ask"


def typed(grid: Iterable[Line], form: Mapping[str, str]) -> list[Line]:
    """The grid with what a form says written over it; lines the form leaves out stay."""
    return [replace(line, **_said(line.place, form)) for line in grid]  # type: ignore[arg-type]


def _said(place: int, form: Mapping[str, str]) -> dict[str, str]:
    given = {each: form[f"{each}-{place}"] for each in FIELDS if f"{each}-{place}" in form}
    return {each: text.replace("\r\n", "\n").strip() for each, text in given.items()}


def understood(kept: KeptTable, grid: list[Line], table: pa.Table) -> Schema:
    """The schema that a grid describes, checked against the rows of the table.

    Raises:
        DraftError: it describes none; says what is wrong with which line.
    """
    draft = _Draft(kept, grid, table)
    variables = tuple(found for line in grid if line.is_in and (found := draft.variable(line)))
    questions = draft.questions()
    if draft.faults:
        raise DraftError(draft.faults)
    try:
        return Schema(
            variables,
            questions,
            targets=tuple(line.name for line in grid if line.role == "target"),
            set_aside=tuple(draft.aside(line) for line in grid if not line.is_in),
        )
    except SchemaError as error:
        raise DraftError({(0, ""): f"{error}"}) from None


@dataclass
class _Draft:
    kept: KeptTable
    grid: list[Line]
    table: pa.Table
    faults: Faults = field(default_factory=dict)

    def variable(self, line: Line) -> Variable | None:
        """The variable of a line; None where something is wrong with it."""
        before = self.kept.schema[line.name] if line.name in self.kept.schema.names else None
        ends = {each: self._number(line, each) for each in ("low", "high")}
        column = self.table.column(line.name)
        if line.role not in ROLES or line.kind not in tuple(Kind):
            self._fault(line, "kind", f"{line.name!r} needs a kind: one of {', '.join(Kind)}.")
            return None
        try:
            kind = Kind(line.kind)
            levels = _levels(line, column, before) if kind.has_levels else ()
            if kind.has_levels:
                ends = {"low": None, "high": None}
            made = Variable(line.name, kind, levels, unit=line.unit, **ends)
            if made != before:
                column_to_numbers(column, made)  # every value fits, or it says which does not
        except (SchemaError, TableError) as error:
            self._fault(line, "levels" if "level" in str(error) else "kind", str(error))
            return None
        return made

    def questions(self) -> tuple[Question, ...]:
        """The questions that differ from asking each variable by its name."""
        groups: dict[str, list[Line]] = {}
        for line in self.grid:
            if line.is_in:
                groups.setdefault(line.asked_by, []).append(line)
        found = [self._question(name, self._ordered(group)) for name, group in groups.items()]
        return tuple(one for one in found if one is not None and _says_something(one))

    def _ordered(self, group: list[Line]) -> list[Line]:
        """The lines of one question in the order it asked for them before, new ones last."""
        before = [name for question in self.kept.schema.questions for name in question.reveals]
        order = {name: place for place, name in enumerate(before)}
        return sorted(group, key=lambda line: order.get(line.name, len(order)))

    def _question(self, name: str, group: list[Line]) -> Question | None:
        roles = {line.role for line in group}
        if len(group) > 1 and len(roles & {"target", "never"}) and len(roles) > 1:
            odd = next(line for line in group if line.role in ("target", "never"))
            words = "is what interviews find out" if odd.role == "target" else "is never asked"
            self._fault(odd, "question", f"{odd.name!r} {words}; it cannot share the question {name!r}.")
            return None
        cost = self._cost(name, group)
        try:
            return Question(
                name,
                tuple(line.name for line in group),
                self._agreed(group, "text", name),
                1.0 if cost is None else cost,
                always="always" in roles,
                requires=self._requires(group, name),
                never="never" in roles,
            )
        except SchemaError as error:
            self._fault(group[0], "cost" if "cost" in str(error) else "question", str(error))
            return None

    def _cost(self, name: str, group: list[Line]) -> float | None:
        self._agreed(group, "cost", name)
        return next((self._number(line, "cost") for line in group if line.cost), None)

    def _agreed(self, group: list[Line], what: str, name: str) -> str:
        """What the lines of one question say; all that say anything must say the same."""
        said = {text: line for line in reversed(group) if (text := getattr(line, what))}
        if len(said) > 1:
            words = " and ".join(map(repr, sorted(said)))
            line = next(iter(said.values()))
            self._fault(
                line, what, f"the question {name!r} is given the {what} {words}. Leave one of them."
            )
        return next(iter(said), "")

    def _requires(self, group: list[Line], name: str) -> dict[str, tuple[Level, ...]]:
        found: dict[str, tuple[Level, ...]] = {}
        for part in filter(None, re.split(r"\s*[;\n]\s*", self._agreed(group, "requires", name))):
            variable, equals, levels = part.partition("=")
            known = variable.strip() in {line.name for line in self.grid if line.is_in}
            wanted = tuple(word.strip() for word in levels.split(",") if word.strip())
            if not (equals and known and wanted):
                words = f"{part!r} is no prerequisite. Write a variable and its levels: smoker = yes."
                self._fault(group[0], "requires", words)
                continue
            found[variable.strip()] = wanted
        return found

    def aside(self, line: Line) -> SetAside:
        """Why a column is left out: as before, or by hand."""
        before = {one.name: one for one in self.kept.schema.set_aside}
        return before.get(line.name, SetAside(line.name, BY_HAND))

    def _number(self, line: Line, what: str) -> float | None:
        text = getattr(line, what).replace(",", ".").strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if value != value or value in (float("inf"), float("-inf")):
            self._fault(line, what, f"{what} of {line.name!r} must be a number, got {text[:40]!r}.")
            return None
        return value

    def _fault(self, line: Line, what: str, words: str) -> None:
        self.faults.setdefault((line.place, what), words)


def _levels(line: Line, column: pa.ChunkedArray, before: Variable | None) -> tuple[Level, ...]:
    """The levels of a line: as typed, as they were, or as the table has them."""
    words = tuple(word.strip() for word in line.levels.split("\n") if word.strip())
    if before is not None and words == tuple(map(str, before.levels)):
        return before.levels  # numbers stay numbers
    if words:
        return words
    known = clean(column).unique().drop_null()
    if len(known) > MAX_LEVELS:
        raise SchemaError(
            f"{line.name!r} has {len(known):,} different values, too many to be levels. "
            "Make it real or count, or write its levels by hand."
        )
    values = known.to_pylist()
    if is_text(known.type):
        return tuple(sorted(values, key=natural_sort_key))
    return tuple(int(one) if float(one).is_integer() else one for one in sorted(values))


def _says_something(question: Question) -> bool:
    own = question.reveals == (question.name,)
    plain = question.cost == 1 and question.text == question.name and not question.requires
    return not (own and plain and not question.always and not question.never)


def _number(value: float | None) -> str:
    return "" if value is None else format_value(float(f"{value:.12g}"))
