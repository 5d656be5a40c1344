"""What is asked or measured at once."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from eddi.errors import SchemaError
from eddi.table.variable import Level


@dataclass(frozen=True)
class Question:
    """One question: it reveals one or more variables, has wording, and costs something.

    A blood panel is one question that reveals many variables.

    Args:
        name: what it is called.
        reveals: the variables an answer tells.
        text: the wording; the name where left out.
        cost: in any unit, the same for all questions.
        always: asked before an interview ends, whatever the stopping rule says.
        requires: asked only once these variables are known to have one of these levels.
        never: not asked in interviews; what it reveals is still learned from, and may be volunteered.
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
        object.__setattr__(self, "requires", {k: _levels(v) for k, v in self.requires.items()})
        if not self.reveals:
            raise SchemaError(f"question {self.name!r} reveals nothing. Name its variables.")
        if len(set(self.reveals)) < len(self.reveals):
            raise SchemaError(f"question {self.name!r} names a variable twice: {self.reveals}.")
        if not (math.isfinite(self.cost) and self.cost > 0):
            raise SchemaError(f"question {self.name!r} costs {self.cost:g}; a cost is a number above 0.")
        if self.always and self.never:
            raise SchemaError(f"question {self.name!r} cannot be asked both always and never.")
        if own := set(self.reveals) & set(self.requires):
            raise SchemaError(f"question {self.name!r} requires {own.pop()!r}, which it itself reveals.")


def _levels(levels: object) -> tuple[Level, ...]:
    several = isinstance(levels, list | tuple | set | frozenset)
    return tuple(levels) if several else (levels,)  # type: ignore[arg-type,return-value]
