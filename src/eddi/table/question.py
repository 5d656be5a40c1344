"""A question: what is asked or measured at once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from eddi.errors import SchemaError
from eddi.table.variable import Level


@dataclass(frozen=True)
class Question:
    """A question that reveals one or more variables and has a text and a cost.

    For example, a blood panel is one question that reveals many variables.

    Args:
        name: unique among the questions of a schema.
        reveals: names of the variables whose values an answer gives.
        text: the wording shown to respondents; the name if empty.
        cost: in any unit, as long as all questions use the same one.
        always: always ask the question before the interview ends, whatever the stopping rule says.
        requires: ask only once each of these variables is observed and has one of these levels.
        never: never ask the question. The model still learns from its variables, and a respondent may
            volunteer their values.
    """

    name: str
    reveals: tuple[str, ...]
    text: str = ""
    cost: float = 1.0
    always: bool = False
    requires: Mapping[str, tuple[Level, ...]] = field(default_factory=dict, hash=False)
    never: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "reveals", tuple(self.reveals))
        object.__setattr__(self, "text", self.text or self.name)
        object.__setattr__(self, "requires", {k: _as_tuple(v) for k, v in self.requires.items()})
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


def _as_tuple(levels: object) -> tuple[Level, ...]:
    is_collection = isinstance(levels, list | tuple | set | frozenset)
    return tuple(levels) if is_collection else (levels,)  # type: ignore[arg-type,return-value]
