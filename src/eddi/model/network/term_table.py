"""What answers add to the code of a network at rest: pieces of lines, looked up.

Between two knots a term is a line, cut off at zero; where there are no knots it is one line for all
values, and a category has a flat piece for each level. So a term takes one look at a table, whatever its
variable is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

NOWHERE = torch.inf  # where a knot is that no value passes


@dataclass(frozen=True)
class Group:
    """The pieces of some variables that have equally come by them, those of one standing together."""

    variables: Tensor  # [n] positions
    counts: Tensor  # [n] how many pieces each has
    start: Tensor  # [pieces] where each begins
    height: Tensor  # [pieces, width] how high it is there
    rise: Tensor  # [pieces, width] and how it rises


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of all variables, those of one standing together."""

    first: Tensor  # [variables] the first piece of each
    knots: Tensor  # [variables, knots] where a value passes to the next piece
    by_level: Tensor | None  # [variables] whether the answer itself picks the piece; None: never
    unit: Tensor | None  # [variables] what a coded value is multiplied by; None: 1
    start: Tensor  # [pieces] where each begins
    lines: Tensor  # [pieces, 2 * width] how high it is there, and how it rises
    bends: bool  # whether all is cut off at zero

    @classmethod
    def of(
        cls,
        groups: Sequence[Group],
        knots: Tensor,
        *,
        by_level: Tensor | None,
        unit: Tensor | None,
        bends: bool,
    ) -> "Pieces":
        """The pieces of all groups, which hold every variable once."""
        variables, counts, start, height, rise = (
            torch.cat([getattr(group, field.name) for group in groups]) for field in fields(Group)
        )
        first = torch.zeros_like(variables)
        first[variables] = counts.cumsum(0) - counts
        return cls(first, knots, by_level, unit, start, torch.cat([height, rise], dim=1), bends)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What coded answers [..., n] to n variables add to the code [..., n, width]."""
        entered = values if self.unit is None else values * self.unit[variables]
        first = self.first[variables]
        piece = first + (entered[..., None] > self.knots[variables]).sum(-1)  # nothing passes infinity
        if self.by_level is not None:
            # A drawn quantity may be infinite, which is no level.
            level = torch.where(self.by_level[variables], values, 0.0).long()
            piece = torch.where(self.by_level[variables], first + level, piece)
        height, rise = self.lines[piece].chunk(2, dim=-1)
        terms = torch.addcmul(height, (entered - self.start[piece])[..., None], rise)
        return terms.relu_() if self.bends else terms

    def code(self, values: Tensor, observed: Tensor, base: Tensor) -> Tensor:
        """The code [1, width] of one row, from its coded values and 0/1 ``observed``."""
        seen = observed[0].nonzero()[:, 0]
        return (base + self.term(values[0, seen], seen).sum(0))[None]
