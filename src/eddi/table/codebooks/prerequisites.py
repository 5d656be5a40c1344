"""Convert the condition of a codebook into prerequisites of a question.

Prerequisites are one requirement per variable, which must all be met. A condition that joins several
variables by "or" has no such form. Then what follows from it is kept, and the rest is reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eddi.table.cells.number_format import parse_number
from eddi.table.codebooks.condition import All, AnyOf, Condition, Opaque, Test
from eddi.table.question import ANSWERED, OPERATORS, Comparison, Requirement
from eddi.table.variable import Level, Variable


@dataclass(frozen=True)
class KnownEntry:
    """An entry whose answers a schema has.

    Args:
        levels: the level of each code; empty for a number.
        variable: of the entry; None if it takes several choices.
        options: the variable of each choice, if the entry takes several.
    """

    variable: Variable | None
    levels: Mapping[str, Level] = field(default_factory=dict)
    options: Mapping[str, Variable] = field(default_factory=dict)


@dataclass(frozen=True)
class Allowed:
    """The values of a variable that a condition allows: some of its levels, or numbers.

    Args:
        levels: positions of levels, of which the variable must have one; None for a number.
        numbers: of which a number must be one; None if it need not.
        comparisons: which must all hold for a number.
    """

    levels: frozenset[int] | None = None
    numbers: frozenset[float] | None = None
    comparisons: frozenset[Comparison] = frozenset()

    def intersect(self, other: "Allowed") -> "Allowed":
        """Return the values that both allow."""
        return Allowed(
            _intersect(self.levels, other.levels),
            _intersect(self.numbers, other.numbers),
            self.comparisons | other.comparisons,
        )

    def unite(self, other: "Allowed") -> "Allowed | None":
        """Return the values that at least one allows; None if they have no such form."""
        if self == other:
            return self
        if self.levels is not None and other.levels is not None:
            return Allowed(self.levels | other.levels)
        has_comparisons = bool(self.comparisons or other.comparisons)
        if self.numbers is not None and other.numbers is not None and not has_comparisons:
            return Allowed(numbers=self.numbers | other.numbers)
        return None


@dataclass(frozen=True)
class Prerequisites:
    """What a condition requires of each variable, and what could not be represented.

    Args:
        allowed: by variable.
        losses: parts of the condition, each with the reason.
    """

    allowed: Mapping[str, Allowed]
    losses: tuple[str, ...] = ()


def find_prerequisites(condition: Condition, entries: Mapping[str, KnownEntry]) -> Prerequisites:
    """Return the prerequisites that follow from a condition."""
    if isinstance(condition, Test):
        return _read_test(condition, entries)
    if isinstance(condition, All):
        return _join_all([find_prerequisites(part, entries) for part in condition.parts])
    if isinstance(condition, AnyOf):
        return _join_any(condition, [find_prerequisites(part, entries) for part in condition.parts])
    if isinstance(condition, Opaque):
        return _lose(condition, condition.reason)
    return Prerequisites({}) if condition.value else _lose(condition, "it never holds")


def to_requires(
    allowed: Mapping[str, Allowed], variables: Mapping[str, Variable]
) -> dict[str, Requirement]:
    """Return prerequisites in the form of `Question.requires`."""
    return {name: _to_requirement(values, variables[name]) for name, values in allowed.items()}


def _to_requirement(values: Allowed, variable: Variable) -> Requirement:
    if values.levels is not None:
        is_any = len(values.levels) == variable.n_levels
        levels = tuple(variable.levels[place] for place in sorted(values.levels))
        return (Comparison(ANSWERED),) if is_any else levels
    numbers: Sequence[float] = sorted(values.numbers or ())
    comparisons = sorted(values.comparisons, key=str)
    return (*(_to_int(number) for number in numbers), *comparisons) or (Comparison(ANSWERED),)


def _join_all(parts: Sequence[Prerequisites]) -> Prerequisites:
    allowed: dict[str, Allowed] = {}
    losses = [loss for part in parts for loss in part.losses]
    for part in parts:
        for name, values in part.allowed.items():
            joined = allowed[name].intersect(values) if name in allowed else values
            if joined.levels == frozenset() or joined.numbers == frozenset():
                losses.append(f"{name} cannot have all the values at once")
                continue
            allowed[name] = joined
    return Prerequisites(allowed, tuple(dict.fromkeys(losses)))


def _join_any(condition: AnyOf, parts: Sequence[Prerequisites]) -> Prerequisites:
    """Return what all alternatives require. It is exact if they are about one variable."""
    first, others = parts[0], parts[1:]
    united: dict[str, Allowed] = {}
    for name, values in first.allowed.items():
        joined: Allowed | None = values
        for part in others:
            joined = (
                joined.unite(part.allowed[name]) if joined is not None and name in part.allowed else None
            )
        if joined is not None:
            united[name] = joined
    names = {name for part in parts for name in part.allowed}
    is_exact = names == set(united) and len(names) == 1 and not any(part.losses for part in parts)
    if is_exact:
        return Prerequisites(united)
    reasons = [loss for part in parts for loss in part.losses]
    reason = reasons[0] if reasons else "a schema has no 'or' between different variables"
    return Prerequisites(united, _lose(condition, reason).losses)


def _read_test(test: Test, entries: Mapping[str, KnownEntry]) -> Prerequisites:
    entry = entries.get(test.name)
    if entry is None:
        return _lose(test, f"{test.name} is not a variable of the schema")
    if entry.options:
        return _read_option_test(test, entry.options)
    variable = entry.variable
    if variable is None:
        return _lose(test, f"{test.name} is not a variable of the schema")
    if test.code:  # "selected" of an entry with one answer
        is_selected = (test.value == "1") == (test.operator == "=")
        test = Test(test.name, "=" if is_selected else "!=", test.code)
    if not test.value:
        return _read_empty_test(test, variable)
    found = _read_level_test(test, entry.levels, variable) if entry.levels else _read_number_test(test)
    if found is None:
        return _lose(test, f"{test.value!r} is not an answer to {test.name}")
    return _note_unanswered(test, Prerequisites({variable.name: found}))


def _note_unanswered(test: Test, found: Prerequisites) -> Prerequisites:
    """Note that "not equal" also holds before a question was answered."""
    if test.operator != "!=":
        return found
    note = f"{test}: the question is asked only after {test.name} was answered"
    return Prerequisites(found.allowed, (note,))


def _read_empty_test(test: Test, variable: Variable) -> Prerequisites:
    if test.operator == "=":
        return _lose(test, "a schema cannot require that a question was not answered")
    if variable.kind.has_levels:
        return Prerequisites({variable.name: Allowed(frozenset(range(variable.n_levels)))})
    return Prerequisites({variable.name: Allowed()})


def _read_option_test(test: Test, options: Mapping[str, Variable]) -> Prerequisites:
    """Return whether a choice is selected. A test without a choice is about the one it names."""
    code = (test.code or test.value).casefold()
    variable = next((v for key, v in options.items() if key.casefold() == code), None)
    if variable is None:
        if not code and test.operator == "!=":
            return _read_empty_test(test, next(iter(options.values())))
        return _lose(test, f"{code!r} is not a choice of {test.name}")
    if test.operator not in ("=", "!="):
        return _lose(test, "choices have no order")
    is_selected = (test.value != "0" or not test.code) == (test.operator == "=")
    return Prerequisites({variable.name: Allowed(frozenset([int(is_selected)]))})


def _read_level_test(test: Test, levels: Mapping[str, Level], variable: Variable) -> Allowed | None:
    """Return the levels whose codes meet a test; None if no code does or all do by mistake."""
    compare = OPERATORS[test.operator]
    number = parse_number(test.value)
    codes = {code.casefold(): level for code, level in levels.items()}
    if test.operator in ("=", "!="):
        wanted = _find_code(test.value, codes)
        if wanted is None:
            return None
        kept = [level for code, level in codes.items() if (code == wanted) == (test.operator == "=")]
    elif math.isnan(number):
        return None
    else:
        kept = [level for code, level in codes.items() if compare(parse_number(code), number)]
    places = frozenset(variable.levels.index(level) for level in kept if level in variable.levels)
    return Allowed(places) if places else None


def _find_code(value: str, codes: Mapping[str, Level]) -> str | None:
    """Return the code that a text stands for: 1 and 1.0 are the same."""
    if value.casefold() in codes:
        return value.casefold()
    number = parse_number(value)
    return next((code for code in codes if parse_number(code) == number), None)


def _read_number_test(test: Test) -> Allowed | None:
    number = parse_number(test.value)
    if not math.isfinite(number):
        return None
    if test.operator == "=":
        return Allowed(numbers=frozenset([number]))
    return Allowed(comparisons=frozenset([Comparison(test.operator, _to_int(number))]))


def _lose(condition: Condition, reason: str) -> Prerequisites:
    return Prerequisites({}, (f"{condition}: {reason}",))


def _to_int(number: float) -> float:
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def _intersect(values: frozenset | None, others: frozenset | None) -> frozenset | None:  # type: ignore[type-arg]
    if values is None or others is None:
        return values if others is None else others
    return values & others
