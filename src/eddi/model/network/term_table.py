"""Terms of the additive code as a lookup table of linear segments.

Between two knots a term is linear, cut off at zero. A variable without knots has one segment for all
values, a category a constant segment for each level. So a term takes one lookup, whatever its variable's
kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from eddi.model.network.factors.products import look_up

NO_KNOT = torch.inf  # position of a padding knot, which no value exceeds


@dataclass(frozen=True)
class TermGroup:
    """The segments of some variables; those of one variable are adjacent."""

    variables: Tensor  # [n] positions
    counts: Tensor  # [n] number of segments of each
    start: Tensor  # [segments] where each begins
    height: Tensor  # [segments, width] value at its start
    slope: Tensor  # [segments, width]


@dataclass(frozen=True, eq=False)
class TermTable:
    """The segments of all variables; those of one variable are adjacent."""

    first: Tensor  # [variables] position of the first segment of each
    knots: Tensor  # [variables, knots] where a value passes to the next segment
    by_level: Tensor | None  # [variables] whether the level is the segment; None if never
    unit: Tensor | None  # [variables] factor of a coded value; None if it is 1
    start: Tensor  # [segments]
    lines: Tensor  # [segments, 2 * width] height and slope
    has_relu: bool  # whether terms are cut off at zero

    @classmethod
    def from_groups(
        cls,
        groups: Sequence[TermGroup],
        knots: Tensor,
        *,
        by_level: Tensor | None,
        unit: Tensor | None,
        has_relu: bool,
    ) -> "TermTable":
        """The table of all groups, which contain every variable once."""
        variables, counts, start, height, slope = (
            torch.cat([getattr(group, field.name) for group in groups]) for field in fields(TermGroup)
        )
        first = torch.zeros_like(variables)
        first[variables] = counts.cumsum(0) - counts
        return cls(first, knots, by_level, unit, start, torch.cat([height, slope], dim=1), has_relu)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        segment, distance = self.locate(values, variables)
        height, slope = look_up(self.lines, segment).chunk(2, dim=-1)
        terms = torch.addcmul(height, distance[..., None], slope)
        return terms.relu_() if self.has_relu else terms

    def locate(self, values: Tensor, variables: Tensor) -> tuple[Tensor, Tensor]:
        """The segment of each answer, and its distance from the start of the segment, both [..., n]."""
        inputs = values if self.unit is None else values * self.unit.index_select(0, variables)
        first = self.first.index_select(0, variables)
        segment = first + _count_below(self.knots.index_select(0, variables), inputs)
        if self.by_level is not None:
            by_level = self.by_level.index_select(0, variables)
            # A drawn quantity may be infinite, which is no level.
            level = torch.where(by_level, values, 0.0).long()
            segment = torch.where(by_level, first + level, segment)
        return segment, inputs - look_up(self.start, segment)


def _count_below(knots: Tensor, inputs: Tensor) -> Tensor:
    """The number of rising knots [n, knots] below each input [..., n]; 0 for NaN."""
    if not knots.shape[-1]:  # as in models of few rows; ONNX cannot sum over nothing
        return torch.zeros_like(inputs, dtype=torch.int64)
    if not inputs.is_cuda or knots.numel() == 0:
        return (inputs[..., None] > knots).sum(-1)
    # A bisection writes no comparison to memory. ONNX, whose export takes place on a CPU, has none.
    numbers = torch.where(inputs.isnan(), -torch.inf, inputs)
    counts = torch.searchsorted(knots, numbers.reshape(-1, len(knots)).T.contiguous())
    return counts.T.contiguous().view(inputs.shape)
