"""What is asked or measured at once."""

import math
from dataclasses import dataclass

from eddi.errors import SchemaError


@dataclass(frozen=True)
class Question:
    """One question: it reveals one or more variables, has wording, and costs something.

    A blood panel is one question that reveals many variables.
    """

    name: str
    reveals: tuple[str, ...]
    text: str = ""
    cost: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "reveals", tuple(self.reveals))
        object.__setattr__(self, "text", self.text or self.name)
        if not self.reveals:
            raise SchemaError(f"question {self.name!r} reveals nothing. Name its variables.")
        if len(set(self.reveals)) < len(self.reveals):
            raise SchemaError(f"question {self.name!r} names a variable twice: {self.reveals}.")
        if not (math.isfinite(self.cost) and self.cost > 0):
            raise SchemaError(f"question {self.name!r} costs {self.cost:g}; a cost is a number above 0.")
