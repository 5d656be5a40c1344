"""The four set encoders as one additive code.

Each of them is ``code(x_O) = base + sum over d in O of act(x_d * slope_d + offset_d)``. They differ only
in where slope and offset come from (Ma et al. 2019, section 3.2 and appendix C.1):

==== ============================== ============ ========== ========
name as in the paper                slope_d      offset_d   act
==== ============================== ============ ========== ========
ZI   W [x with zeros]               W_d          0          identity
ZI-m W [x with zeros, mask]         W_d          V_d        identity
PN   h([e_d, x_d]), h = relu(W . )  w            W e_d + b  relu
PNP  h(e_d * x_d),  h = relu(W . )  W e_d        b          relu
==== ============================== ============ ========== ========

The paper's PNP cannot distinguish variables at x = 0. With ``offset`` above 0 each variable has a second
embedding f_d, h([e_d * x_d, f_d]), and its offset becomes U f_d + b.

So an answer adds one term, and scoring a candidate answer never re-encodes the evidence. A category has
a slope and offset for each level and x = 1: its answer selects them. With ``knots`` above 0, PN and PNP
add a learned spline of each quantity to its linear term (`splines`).

The fifth encoder, "precision", is PNP with precision-weighted factors (`factors`): their sufficient
statistics are sums, too, and are appended to the code.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from eddi.model.network.factors.factor_model import Factors, PackedFactors
from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.splines import Splines, count_knots
from eddi.model.network.term_table import NO_KNOT, TermGroup, TermTable
from eddi.model.recipe import SetEncoderName
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

FULL_SIZE_TERMS = 16  # up to this many variables, as in the UCI sets, the usual initialisation is best

# Up to so many variables, all terms of a row are computed and masked; with more, only those of its answers.
MAX_DENSE_VARIABLES = 64


class SetEncoder(nn.Module):
    """The additive code of a partially observed row.

    A slot is a slope and an offset: each variable has one, a category one for each level.
    """

    slot: Tensor  # [variables] first slot of each variable
    unit: Tensor  # [variables] factor of a coded value before it enters
    is_category: Tensor  # [variables] True if the answer selects the slot
    is_evidence: Tensor  # [slots, 1] 0 for survival variables, which are never observed
    linear: Tensor  # positions of the variables whose term is linear in their value, and their slots
    linear_slot: Tensor
    nonlinear: Tensor  # positions of the variables whose term is not linear, and their slots
    nonlinear_slot: Tensor
    level_slot: Tensor  # slots of the categories' levels, with their variable and level
    level_owner: Tensor
    level_value: Tensor

    def __init__(
        self,
        specs: Sequence[VariableSpec],
        name: SetEncoderName,
        *,
        width: int,
        identity: int,
        offset: int = 0,
        knots: int = 0,
        factors: int = 0,
    ) -> None:
        super().__init__()
        n_slots = [spec.n_levels if spec.kind is Kind.CATEGORY else 1 for spec in specs]
        first = torch.tensor([0, *n_slots]).cumsum(0)
        self.name, self.width = name, width
        self.register_buffer("slot", first[:-1], persistent=False)
        is_evidence = [spec.kind is not Kind.SURVIVAL for spec in specs]
        by_slot = torch.tensor(is_evidence).repeat_interleave(torch.tensor(n_slots)).float()[:, None]
        self.register_buffer("is_evidence", by_slot, persistent=False)
        self.has_survival = not all(is_evidence)
        self.register_buffer("unit", torch.tensor([_unit(spec) for spec in specs]), persistent=False)
        self.has_units = bool((self.unit != 1).any())
        self._partition_variables(specs, n_slots)
        total_slots = int(first[-1])
        self.splines: Splines | None = None
        self.specs = tuple(specs)
        self.factors = Factors(specs, min(factors, total_slots)) if name == "precision" else None
        if name in ("zi", "zi-m"):
            self._build_independent_terms(total_slots)
        else:
            self._build_shared_terms(total_slots, identity, 1 if name == "pn" else offset)
            if n_knots := count_knots(knots, self.n_nonlinear):
                self.splines = Splines(self.n_nonlinear, n_knots, width)

    def _partition_variables(self, specs: Sequence[VariableSpec], n_slots: Sequence[int]) -> None:
        """Group variables by the cheapest exact way to sum their terms."""
        category = torch.tensor([spec.kind is Kind.CATEGORY for spec in specs])
        linear = torch.tensor([self._is_linear(spec) for spec in specs]) & ~category
        owner = torch.repeat_interleave(torch.arange(len(specs)), torch.tensor(n_slots))
        of_category = category[owner]
        buffers: dict[str, Tensor] = {
            "is_category": category,
            "linear": linear.nonzero().flatten(),
            "linear_slot": self.slot[linear],
            "nonlinear": (~linear & ~category).nonzero().flatten(),
            "nonlinear_slot": self.slot[~linear & ~category],
            "level_slot": of_category.nonzero().flatten(),
            "level_owner": owner[of_category],
            "level_value": (torch.arange(len(owner)) - self.slot[owner])[of_category].float(),
        }
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer, persistent=False)
        # Python integers, since the length of a tensor takes as long to look up as an addition.
        self.n_linear, self.n_nonlinear = len(self.linear), len(self.nonlinear)
        self.n_levels = len(self.level_slot)

    def _is_linear(self, spec: VariableSpec) -> bool:
        # Any function of two values is linear, so the term of a binary answer is linear in every
        # encoder, and a table of binary variables (MNIST) costs one matrix product.
        return self.name in ("zi", "zi-m") or spec.kind in (Kind.BINARY, Kind.SURVIVAL)

    def _build_independent_terms(self, n_slots: int) -> None:
        layer = nn.Linear(n_slots * (2 if self.name == "zi-m" else 1), self.width)
        weights = layer.weight.detach().T.clone()
        self.slope = nn.Parameter(weights[:n_slots])
        self.base = nn.Parameter(layer.bias.detach().clone())
        if self.name == "zi-m":
            self.offset = nn.Parameter(weights[n_slots:])
        else:
            self.register_buffer("offset", torch.zeros(n_slots, self.width), persistent=False)

    def _build_shared_terms(self, n_slots: int, identity: int, n_extra: int) -> None:
        """One layer for all terms; ``n_extra`` inputs are appended to the identity embedding."""
        self.register_buffer("base", torch.zeros(self.width), persistent=False)
        self.identity = nn.Parameter(torch.randn(n_slots, identity))
        self.layer = nn.Linear(identity + n_extra, self.width)
        if self.name in ("pnp", "precision") and n_extra:
            self.offset_embedding = nn.Parameter(torch.randn(n_slots, n_extra))
        # The code sums one non-negative term per variable, so a fresh code grows with their number: 784
        # (MNIST) would start log-variances at their bounds, where no gradient passes, and make each
        # step of the tail too large. Relu is homogeneous, so this keeps the fresh code at the size it
        # has for `FULL_SIZE_TERMS` variables.
        with torch.no_grad():
            for weight in self.layer.parameters():
                weight.mul_(min(1.0, FULL_SIZE_TERMS / len(self.slot)))

    def init_from_data(self, evidence: Evidence) -> None:
        """Place the knots of the splines at the values of a table."""
        if self.splines is not None:
            nonlinear = self.nonlinear.cpu().numpy()
            inputs = evidence.values * self.unit.cpu().numpy()
            self.splines.init_from_data(inputs[:, nonlinear], evidence.observed[:, nonlinear])

    def knots(self) -> Tensor:
        """The knots of each variable [variables, knots]; padding for variables without a spline."""
        if self.splines is None:
            return self.unit.new_zeros((len(self.slot), 0))
        knots = self.unit.new_full((len(self.slot), self.splines.knots.shape[1]), NO_KNOT)
        knots[self.nonlinear] = self.splines.knots
        return knots

    def slope_and_offset(self) -> tuple[Tensor, Tensor]:
        """Slope and offset of every slot [slots, width]; 0 for survival variables: they are no evidence."""
        slope, offset = self._all_slopes_and_offsets()
        if self.has_survival:
            return slope * self.is_evidence, offset * self.is_evidence
        return slope, offset

    def _all_slopes_and_offsets(self) -> tuple[Tensor, Tensor]:
        """Slope and offset of every slot [slots, width]: the only place where the encoders differ."""
        if self.name in ("zi", "zi-m"):
            return self.slope, self.offset
        if self.name == "pn":
            weight = self.layer.weight.T  # [identity + 1, width]
            offset = torch.addmm(self.layer.bias, self.identity, weight[:-1])
            return weight[-1:].expand_as(offset), offset
        n_identity = self.identity.shape[1]
        weight = self.layer.weight.T  # [identity + offset, width]
        slope = self.identity @ weight[:n_identity]
        if n_identity == len(weight):
            return slope, self.layer.bias.expand_as(slope)
        return slope, torch.addmm(self.layer.bias, self.offset_embedding, weight[n_identity:])

    def encoder_weights(self) -> "EncoderWeights":
        """Slopes and offsets of the current weights."""
        factors = None if self.factors is None else self.factors.pack()
        return EncoderWeights(self, *self.slope_and_offset(), factors)

    def forward(self, values: Tensor, observed: Tensor) -> Tensor:
        """The code of each row, from coded values (zero where unobserved) and 0/1 ``observed``."""
        return self.encoder_weights().code(values, observed)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        return self.encoder_weights().term(values, variables)


@dataclass(frozen=True)
class EncoderWeights:
    """The slopes and offsets of a set encoder; valid while its weights do not change."""

    encoder: SetEncoder
    slope: Tensor  # [slots, width]
    offset: Tensor  # [slots, width]
    factors: PackedFactors | None

    @property
    def base(self) -> Tensor:
        """The code of a row without any observed value [width]."""
        return self.encoder.base

    @property
    def has_relu(self) -> bool:
        """Whether terms are cut off at zero."""
        return self.encoder.name not in ("zi", "zi-m")

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The code of each row, from coded values (zero where unobserved) and 0/1 ``observed``."""
        encoder = self.encoder
        inputs = values * encoder.unit if encoder.has_units else values  # [rows, variables]
        code: Tensor = encoder.base
        if encoder.n_linear:
            code = self._add_linear_terms(code, inputs, observed)
        if encoder.n_levels:
            code = self._add_level_terms(code, values, observed)
        if encoder.n_nonlinear:
            code = code + self._sum_nonlinear_terms(inputs, observed)
        return self._append_factors(code, values, observed)

    def _append_factors(self, code: Tensor, values: Tensor, observed: Tensor) -> Tensor:
        """The additive code followed by the factors' part, if there is one [rows, width]."""
        if self.factors is None:
            return code
        own = code.expand(len(values), -1)
        return torch.cat([own, self.factors.code(values, observed)], dim=1)

    def code_row(self, values: Tensor, observed: Tensor) -> Tensor:
        """The code of a single row: the terms of all variables if they are few, else those of its answers."""
        if self.encoder.slot.shape[0] <= MAX_DENSE_VARIABLES:
            variables = torch.arange(self.encoder.slot.shape[0], device=observed.device)
            code = torch.addmm(self.base, observed, self.term_table.term(values[0], variables))
            return self._append_factors(code, values, observed)
        variables = observed[0].nonzero()[:, 0]
        answers = values[0].index_select(0, variables)
        code = self.base + self.term_table.term(answers, variables).sum(0)
        if self.factors is None:
            return code[None]
        return torch.cat([code, self.factors.code_row(answers, variables)])[None]

    def _add_linear_terms(self, code: Tensor, inputs: Tensor, observed: Tensor) -> Tensor:
        variables = self.encoder.linear
        slope, offset = self._linear_terms
        if self.encoder.name != "zi":  # which has no offset
            code = torch.addmm(code, _select(observed, variables, 1), offset)
        return torch.addmm(code, _select(inputs, variables, 1), slope)

    @cached_property
    def _linear_terms(self) -> tuple[Tensor, Tensor]:
        """Slope and offset of the linear terms [linear slots, width]."""
        slots = self.encoder.linear_slot
        slope, offset = _select(self.slope, slots, 0), _select(self.offset, slots, 0)
        if not self.has_relu:
            return slope, offset
        return torch.relu(slope + offset) - torch.relu(offset), torch.relu(offset)

    def _add_level_terms(self, code: Tensor, values: Tensor, observed: Tensor) -> Tensor:
        owner = self.encoder.level_owner
        one_hot = (values[:, owner] == self.encoder.level_value) * observed[:, owner]
        slots = self.encoder.level_slot
        return torch.addmm(code, one_hot, self._activate(self.slope[slots] + self.offset[slots]))

    def _sum_nonlinear_terms(self, inputs: Tensor, observed: Tensor) -> Tensor:
        inputs = _select(inputs, self.encoder.nonlinear, 1)
        observed = _select(observed, self.encoder.nonlinear, 1)
        # observed * relu(x slope + offset) = relu(observed x slope + observed offset), so masking
        # costs nothing and a variable's terms of all rows are one thin matrix product.
        factors = torch.stack([inputs, observed], dim=-1)  # [rows, variables, 2]
        if self.encoder.splines is not None:
            factors = torch.cat([factors, self.encoder.splines.knot_weights(inputs, observed)], dim=-1)
        return self._activate(torch.bmm(factors.transpose(0, 1), self._nonlinear_terms)).sum(0)

    @cached_property
    def _nonlinear_terms(self) -> Tensor:
        """Slope, offset and heights at knots of the nonlinear terms [variables, 2 + knots, width]."""
        both = _select(torch.stack([self.slope, self.offset], dim=1), self.encoder.nonlinear_slot, 0)
        return both if self.encoder.splines is None else torch.cat([both, self._heights], dim=1)

    @cached_property
    def _heights(self) -> Tensor:
        """The splines at their knots [nonlinear slots, knots, width]."""
        assert self.encoder.splines is not None  # noqa: S101  # callers check
        return self.encoder.splines.heights()

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        terms = self.term_table.term(values, variables)
        if self.factors is None:
            return terms
        return torch.cat([terms, self.factors.term(values, variables)], dim=-1)

    @cached_property
    def term_table(self) -> TermTable:
        """All terms as a lookup table."""
        encoder = self.encoder
        return TermTable.from_groups(
            [self._line_group(), self._level_group(), *self._spline_groups()],
            encoder.knots(),
            by_level=encoder.is_category if encoder.n_levels else None,
            unit=encoder.unit if encoder.has_units else None,
            has_relu=self.has_relu,
        )

    def _line_group(self) -> TermGroup:
        """Variables with one segment for all values."""
        is_line = ~self.encoder.is_category
        if self.encoder.splines is not None:
            is_line[self.encoder.nonlinear] = False
        slots, variables = self.encoder.slot[is_line], is_line.nonzero()[:, 0]
        start = self.slope.new_zeros(len(slots))
        return TermGroup(variables, torch.ones_like(slots), start, self.offset[slots], self.slope[slots])

    def _level_group(self) -> TermGroup:
        """Categories: a constant segment for each level."""
        slots = self.encoder.level_slot
        variables = self.encoder.is_category.nonzero()[:, 0]
        counts = torch.bincount(self.encoder.level_owner, minlength=len(self.encoder.slot))[variables]
        height = self.slope[slots] + self.offset[slots]
        return TermGroup(
            variables, counts, height.new_zeros(len(slots)), height, torch.zeros_like(height)
        )

    def _spline_groups(self) -> list[TermGroup]:
        """Variables with a spline."""
        splines, slots = self.encoder.splines, self.encoder.nonlinear_slot
        if splines is None:
            return []
        segments = splines.segments(self._heights, self.slope[slots], self.offset[slots])
        counts = torch.full_like(slots, segments[0].shape[1])
        flat = (part.flatten(0, 1) for part in segments)
        return [TermGroup(self.encoder.nonlinear, counts, *flat)]

    def _activate(self, terms: Tensor) -> Tensor:
        return torch.relu_(terms) if self.has_relu else terms


def _unit(spec: VariableSpec) -> float:
    return 1.0 / (spec.n_levels - 1) if spec.kind is Kind.ORDINAL else 1.0


def _select(tensor: Tensor, positions: Tensor, axis: int) -> Tensor:
    """``tensor`` at ``positions`` of an axis; not copied if they are all of it, in order."""
    return tensor if len(positions) == tensor.shape[axis] else tensor.index_select(axis, positions)
