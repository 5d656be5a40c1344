"""Conditions of a codebook under which a question is asked, and their form as prerequisites."""

from collections.abc import Callable
from dataclasses import dataclass

NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(frozen=True)
class Test:
    """A comparison of an entry with a value. An empty value stands for "not answered".

    Args:
        name: the entry.
        operator: =, !=, <, <=, > or >=.
        value: a code or a number.
        code: of a choice, if the entry takes several: the test is about whether it is selected.
    """

    name: str
    operator: str
    value: str
    code: str = ""

    __test__ = False  # not a class of tests

    def __str__(self) -> str:
        name = f"{self.name}({self.code})" if self.code else self.name
        return f"{name} {self.operator} {self.value or repr('')}"


@dataclass(frozen=True)
class All:
    """All conditions must hold."""

    parts: tuple["Condition", ...]

    def __str__(self) -> str:
        return " and ".join(map(_format_part, self.parts))


@dataclass(frozen=True)
class AnyOf:
    """At least one condition must hold."""

    parts: tuple["Condition", ...]

    def __str__(self) -> str:
        return " or ".join(map(_format_part, self.parts))


@dataclass(frozen=True)
class Constant:
    """A condition that always or never holds."""

    value: bool

    def __str__(self) -> str:
        return "true" if self.value else "false"


@dataclass(frozen=True)
class Opaque:
    """A condition that cannot be represented.

    Args:
        text: as the codebook writes it.
        reason: why.
    """

    text: str
    reason: str

    def __str__(self) -> str:
        return self.text


Condition = Test | All | AnyOf | Constant | Opaque


def join_all(conditions: "list[Condition | None]") -> "Condition | None":
    """Return the condition that all of these hold; None if there are none."""
    parts: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, All):
            parts += condition.parts
        elif condition is not None:
            parts.append(condition)
    if len(parts) < 2:
        return parts[0] if parts else None
    return All(tuple(parts))


def negate(condition: Condition) -> Condition:
    """Return the condition that holds if this one does not."""
    if isinstance(condition, Test):
        return Test(condition.name, NEGATED[condition.operator], condition.value, condition.code)
    if isinstance(condition, Constant):
        return Constant(not condition.value)
    if isinstance(condition, Opaque):
        return Opaque(f"not ({condition.text})", condition.reason)
    parts = tuple(map(negate, condition.parts))
    return AnyOf(parts) if isinstance(condition, All) else All(parts)


def rename(condition: Condition, find: Callable[[str], str]) -> Condition:
    """Return the condition with other names of entries."""
    if isinstance(condition, Test):
        return Test(find(condition.name), condition.operator, condition.value, condition.code)
    if isinstance(condition, All | AnyOf):
        return type(condition)(tuple(rename(part, find) for part in condition.parts))
    return condition


def _format_part(condition: Condition) -> str:
    return f"({condition})" if isinstance(condition, All | AnyOf) else str(condition)
