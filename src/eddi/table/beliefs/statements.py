"""Prior beliefs about variables and their relations, which a schema states for a start without data."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from eddi.errors import SchemaError
from eddi.table.checks.unique_names import check_unique
from eddi.table.text import format_names, suggest_name
from eddi.table.variable import Kind, Variable

Effect = Literal["raises", "lowers"]
Strength = Literal["weak", "moderate", "strong"]

MAX_RELATIONS = 1_000
SUM_ERROR = 0.01  # of level shares that are rounded to percentages


@dataclass(frozen=True)
class Belief:
    """What is believed about the values of one variable.

    Args:
        variable: its name.
        typical: the middle of its values, for a quantity.
        spread: their standard deviation.
        shares: the share of people with each level, for a variable with levels.
    """

    variable: str
    typical: float | None = None
    spread: float | None = None
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(map(float, self.shares)))

    @classmethod
    def from_document(cls, variable: str, document: Any) -> "Belief":
        """The belief that a line of the section ``[beliefs]`` states."""
        where = f"the belief about {variable!r}"
        _check_table(where, document, ("typical", "spread", "shares"), "{ typical = 45, spread = 15 }")
        shares = document.get("shares", [])
        if not isinstance(shares, Sequence) or isinstance(shares, str):
            raise SchemaError(f"{where}: shares must be a list such as [0.8, 0.2], got {shares!r}.")
        numbers = {
            key: _to_number(f"{where}: {key}", document[key])
            for key in ("typical", "spread")
            if key in document
        }
        return cls(variable, shares=tuple(_to_number(f"{where}: shares", s) for s in shares), **numbers)

    def to_document(self) -> dict[str, Any]:
        """The belief as a line of the section ``[beliefs]``."""
        entries = {"typical": self.typical, "spread": self.spread, "shares": self.shares or None}
        return {name: value for name, value in entries.items() if value is not None}

    def check(self, variable: Variable) -> None:
        """Raise a `SchemaError` if the belief does not fit the variable."""
        if variable.kind.has_levels:
            self._check_shares(variable)
        else:
            self._check_quantity(variable)

    def _check_shares(self, variable: Variable) -> None:
        where = f"the belief about {self.variable!r}"
        if self.typical is not None or self.spread is not None:
            raise SchemaError(
                f"{where} has a typical value or a spread, but the variable is {variable.kind}. "
                "State the share of each level, for example: shares = [0.8, 0.2]."
            )
        if len(self.shares) != variable.n_levels:
            levels = format_names(list(map(str, variable.levels)))
            raise SchemaError(
                f"{where} has {len(self.shares)} shares for {variable.n_levels} levels ({levels}). "
                "Give one share for each level, in the same order."
            )
        if not all(share >= 0 for share in self.shares):
            raise SchemaError(f"{where} has a negative share: {list(self.shares)}.")
        if abs(sum(self.shares) - 1) > SUM_ERROR:
            raise SchemaError(
                f"{where}: the shares add up to {sum(self.shares):g}. They must add up to 1."
            )

    def _check_quantity(self, variable: Variable) -> None:
        where = f"the belief about {self.variable!r}"
        if self.shares:
            raise SchemaError(
                f"{where} has shares, but the variable is {variable.kind} and has no levels. State "
                "typical and spread."
            )
        if self.spread is not None and not self.spread > 0:
            raise SchemaError(f"{where}: spread must be above 0, got {self.spread:g}.")
        typical = self.typical
        if typical is not None and not variable.low_or_infinite <= typical <= variable.high_or_infinite:
            raise SchemaError(
                f"{where}: the typical value {typical:g} is outside the range of the variable "
                f"({variable.describe_values()})."
            )


@dataclass(frozen=True)
class Relation:
    """What is believed about the relation of two variables, such as "smoking raises risk, strongly".

    Args:
        of: the first variable.
        to: the second one.
        effect: "raises" if high values of the first go with high values of the second; else "lowers". The
            levels of a variable count in the order in which the schema lists them.
        strength: "weak", "moderate" or "strong".
    """

    of: str
    to: str
    effect: Effect = "raises"
    strength: Strength = "moderate"

    def __post_init__(self) -> None:
        for name, options in (("effect", get_args(Effect)), ("strength", get_args(Strength))):
            value = getattr(self, name)
            if value not in options:
                hint = suggest_name(str(value), options)
                raise SchemaError(
                    f"the relation of {self.of!r} to {self.to!r}: {name} must be one of "
                    f"{', '.join(options)}, got {value!r}.{hint}"
                )

    @classmethod
    def from_document(cls, document: Any) -> "Relation":
        """The relation that an entry of ``[[relations]]`` states."""
        example = '{ of = "smoking", to = "risk", effect = "raises", strength = "strong" }'
        _check_table("a relation", document, ("of", "to", "effect", "strength"), example)
        missing = [key for key in ("of", "to") if key not in document]
        if missing:
            raise SchemaError(f"a relation has no {missing[0]!r}. Expected {example}.")
        return cls(**document)

    def to_document(self) -> dict[str, str]:
        """The relation as an entry of ``[[relations]]``."""
        return {"of": self.of, "to": self.to, "effect": self.effect, "strength": self.strength}

    def check(self, of: Variable, to: Variable) -> None:
        """Raise a `SchemaError` if the relation does not fit its variables."""
        if of == to:
            raise SchemaError(f"a relation of {self.of!r} to itself says nothing. Remove it.")
        for variable in (of, to):
            if variable.kind is Kind.CATEGORY:
                raise SchemaError(
                    f"the relation of {self.of!r} to {self.to!r} needs an order, and {variable.name!r} is "
                    "a category. Make it ordinal or binary, or remove the relation."
                )


def parse_beliefs(section: Mapping[str, Any]) -> tuple[Belief, ...]:
    """The beliefs of the section ``[beliefs]`` of a schema."""
    return tuple(Belief.from_document(name, entry) for name, entry in section.items())


def parse_relations(entries: Any) -> tuple[Relation, ...]:
    """The relations of the sections ``[[relations]]`` of a schema."""
    if not isinstance(entries, list):
        raise SchemaError(f"relations must be sections headed [[relations]], got {entries!r}.")
    return tuple(map(Relation.from_document, entries))


def check_statements(
    beliefs: Sequence[Belief], relations: Sequence[Relation], get_variable: Callable[[str], Variable]
) -> None:
    """Check all beliefs and relations of a schema.

    Raises:
        SchemaError: a statement does not fit its variables, or contradicts another one.
    """
    check_unique("belief", [belief.variable for belief in beliefs])
    for belief in beliefs:
        belief.check(_find(get_variable, belief.variable, "beliefs"))
    for relation in relations:
        of, to = (_find(get_variable, name, "relations") for name in (relation.of, relation.to))
        relation.check(of, to)
    _check_relations(relations)


def _find(get_variable: Callable[[str], Variable], name: str, where: str) -> Variable:
    try:
        return get_variable(name)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from None


def _check_relations(relations: Sequence[Relation]) -> None:
    """Raise a `SchemaError` if two relations are about the same variables, or if there are too many."""
    if len(relations) > MAX_RELATIONS:
        raise SchemaError(f"there are {len(relations):,} relations; at most {MAX_RELATIONS:,} are used.")
    pairs: set[frozenset[str]] = set()
    for relation in relations:
        pair = frozenset((relation.of, relation.to))
        if pair in pairs:
            raise SchemaError(
                f"the relation of {relation.of!r} to {relation.to!r} is stated twice. Keep one of them."
            )
        pairs.add(pair)


def _check_table(where: str, value: Any, keys: Sequence[str], example: str) -> None:
    if not isinstance(value, Mapping):
        raise SchemaError(f"{where} must be a table such as {example}, got {value!r}.")
    for key in value:
        if key not in keys:
            hint = suggest_name(str(key), keys)
            raise SchemaError(f"{where} has the unknown key {key!r}.{hint} Keys are: {', '.join(keys)}.")


def _to_number(where: str, value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):
        raise SchemaError(f"{where} must be a number, got {value!r}.")
    return float(value)
