"""The four set encoders as one additive code.

Every one of them is ``code(x_O) = base + sum over d in O of act(x_d * slope_d + offset_d)``; they
differ only in where slope and offset come from (Ma et al. 2019, section 3.2 and appendix C.1):

==== ============================== ============ ========== ========
name textbook                       slope_d      offset_d   act
==== ============================== ============ ========== ========
ZI   W [x with zeros]               W_d          0          identity
ZI-m W [x with zeros, mask]         W_d          V_d        identity
PN   h([e_d, x_d]), h = relu(W . )  w            W e_d + b  relu
PNP  h(e_d * x_d),  h = relu(W . )  W e_d        b          relu
==== ============================== ============ ========== ========

The paper's PNP cannot tell variables apart at x = 0. With ``offset`` above 0 each variable has its own
part f_d beside it, h([e_d * x_d, f_d]), so that its offset becomes U f_d + b.

So an answer adds one term, and trying a candidate never re-encodes what is already known. A category
has a slope and offset for each level and x = 1: its answer picks which. With ``knots`` above 0 PN and
PNP have a learned curve of each quantity beside its line (`splines`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from eddi.model.network.likelihood import Form
from eddi.model.network.splines import Splines, n_knots
from eddi.model.network.term_table import NOWHERE, Group, Pieces
from eddi.model.recipe import SetEncoderName
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

FULL_SIZE_TERMS = 16  # up to so many variables, as in the UCI sets, a layer's usual start scores best


class SetEncoder(nn.Module):
    """The additive code of a partly observed row."""

    slot: Tensor  # [variables] first slot of each variable
    unit: Tensor  # [variables] what a coded value is multiplied by before it enters
    levelled: Tensor  # [variables] True where the answer picks the slot (a category)
    straight: Tensor  # variables whose term is a line in their value, and their slots
    straight_slot: Tensor
    curved: Tensor  # variables whose term is not, and their slots
    curved_slot: Tensor
    level_slot: Tensor  # slots of the categories' levels, with their variable and level below
    level_owner: Tensor
    level_value: Tensor

    def __init__(
        self,
        forms: Sequence[Form],
        name: SetEncoderName,
        *,
        width: int,
        identity: int,
        offset: int = 0,
        knots: int = 0,
    ) -> None:
        super().__init__()
        slots = [form.n_levels if form.kind is Kind.CATEGORY else 1 for form in forms]
        first = torch.tensor([0, *slots]).cumsum(0)
        self.name, self.width = name, width
        self.register_buffer("slot", first[:-1], persistent=False)
        self.register_buffer("unit", torch.tensor([_unit(form) for form in forms]), persistent=False)
        self.rescaled = bool((self.unit != 1).any())
        self._split(forms, slots)
        n_slots = int(first[-1])
        self.splines: Splines | None = None
        if name in ("zi", "zi-m"):
            self._build_free(n_slots)
        else:
            self._build_shared(n_slots, identity, 1 if name == "pn" else offset)
            if n := n_knots(knots, self.n_curved):
                self.splines = Splines(self.n_curved, n, width)

    def _split(self, forms: Sequence[Form], slots: Sequence[int]) -> None:
        """Sort variables by the cheapest exact way to sum their terms."""
        category = torch.tensor([form.kind is Kind.CATEGORY for form in forms])
        straight = torch.tensor([self._is_straight(form) for form in forms]) & ~category
        owner = torch.repeat_interleave(torch.arange(len(forms)), torch.tensor(slots))
        of_category = category[owner]
        named: dict[str, Tensor] = {
            "levelled": category,
            "straight": straight.nonzero().flatten(),
            "straight_slot": self.slot[straight],
            "curved": (~straight & ~category).nonzero().flatten(),
            "curved_slot": self.slot[~straight & ~category],
            "level_slot": of_category.nonzero().flatten(),
            "level_owner": owner[of_category],
            "level_value": (torch.arange(len(owner)) - self.slot[owner])[of_category].float(),
        }
        for key, value in named.items():
            self.register_buffer(key, value, persistent=False)
        # As numbers of Python, since a tensor takes as long to tell its length as to be added to.
        self.n_straight, self.n_curved = len(self.straight), len(self.curved)
        self.n_levels = len(self.level_slot)

    def _is_straight(self, form: Form) -> bool:
        # Through two points any curve is a line, so a binary answer's term is straight in every
        # encoder, and a whole table of them (MNIST) costs one matrix product.
        return self.name in ("zi", "zi-m") or form.kind is Kind.BINARY

    def _build_free(self, n_slots: int) -> None:
        layer = nn.Linear(n_slots * (2 if self.name == "zi-m" else 1), self.width)
        weights = layer.weight.detach().T.clone()
        self.slope = nn.Parameter(weights[:n_slots])
        self.base = nn.Parameter(layer.bias.detach().clone())
        if self.name == "zi-m":
            self.offset = nn.Parameter(weights[n_slots:])
        else:
            self.register_buffer("offset", torch.zeros(n_slots, self.width), persistent=False)

    def _build_shared(self, n_slots: int, identity: int, beside: int) -> None:
        """One layer for all terms; ``beside`` is how much enters it beside the identity."""
        self.register_buffer("base", torch.zeros(self.width), persistent=False)
        self.identity = nn.Parameter(torch.randn(n_slots, identity))
        self.layer = nn.Linear(identity + beside, self.width)
        if self.name == "pnp" and beside:
            self.own = nn.Parameter(torch.randn(n_slots, beside))
        # The code sums a term for each variable, none of them negative, so a fresh one grows with
        # their number: 784 (MNIST) would start log-variances at their bounds, where no gradient
        # passes, and make each step of the tail a jump. Relu scales with its input, so this keeps
        # the fresh code at the size it has for `FULL_SIZE_TERMS` variables.
        with torch.no_grad():
            for weight in self.layer.parameters():
                weight.mul_(min(1.0, FULL_SIZE_TERMS / len(self.slot)))

    def stand(self, evidence: Evidence) -> None:
        """Put the knots of the curves where the values of a table are."""
        if self.splines is not None:
            curved = self.curved.cpu().numpy()
            entered = evidence.values * self.unit.cpu().numpy()
            self.splines.stand(entered[:, curved], evidence.observed[:, curved])

    def knots(self) -> Tensor:
        """Where the curve of each variable has its knots [variables, knots]; nowhere without a curve."""
        if self.splines is None:
            return self.unit.new_zeros((len(self.slot), 0))
        found = self.unit.new_full((len(self.slot), self.splines.knots.shape[1]), NOWHERE)
        found[self.curved] = self.splines.knots
        return found

    def affine(self) -> tuple[Tensor, Tensor]:
        """Slope and offset of every slot: the only place where the encoders differ."""
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
        return slope, torch.addmm(self.layer.bias, self.own, weight[n_identity:])

    def lines(self) -> "Lines":
        """Slopes and offsets as the weights stand now; good for as long as they stay so."""
        return Lines(self, *self.affine())

    def forward(self, values: Tensor, observed: Tensor) -> Tensor:
        """The code of each row, from coded values (zero where unseen) and 0/1 ``observed``."""
        return self.lines().code(values, observed)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What answers add to the code: values [..., n] of n variables give [..., n, width]."""
        return self.lines().term(values, variables)


@dataclass(frozen=True)
class Lines:
    """What each answer adds to the code, for weights that stand still meanwhile."""

    encoder: SetEncoder
    slope: Tensor  # [slots, width]
    offset: Tensor  # [slots, width]

    @property
    def bends(self) -> bool:
        """Whether a term is a line cut off at zero, not a whole one."""
        return self.encoder.name not in ("zi", "zi-m")

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The code of each row, from coded values (zero where unseen) and 0/1 ``observed``."""
        encoder = self.encoder
        entered = values * encoder.unit if encoder.rescaled else values  # [rows, variables]
        code: Tensor = encoder.base
        if encoder.n_straight:
            code = self._add_straight(code, entered, observed)
        if encoder.n_levels:
            code = self._add_levels(code, values, observed)
        if encoder.n_curved:
            code = code + self._curved_sum(entered, observed)
        return code  # [rows, width]

    def _add_straight(self, code: Tensor, entered: Tensor, seen: Tensor) -> Tensor:
        some = self.encoder.straight
        if self.encoder.name != "zi":  # which has no offset
            code = torch.addmm(code, _pick(seen, some, 1), self._straight[1])
        return torch.addmm(code, _pick(entered, some, 1), self._straight[0])

    @cached_property
    def _straight(self) -> tuple[Tensor, Tensor]:
        """How a straight term rises, and where it begins [straight slots, width]."""
        slots = self.encoder.straight_slot
        rise, at_zero = _pick(self.slope, slots, 0), _pick(self.offset, slots, 0)
        if not self.bends:
            return rise, at_zero
        return torch.relu(rise + at_zero) - torch.relu(at_zero), torch.relu(at_zero)

    def _add_levels(self, code: Tensor, values: Tensor, seen: Tensor) -> Tensor:
        owner = self.encoder.level_owner
        chosen = (values[:, owner] == self.encoder.level_value) * seen[:, owner]  # [rows, level slots]
        slots = self.encoder.level_slot
        return torch.addmm(code, chosen, self._act(self.slope[slots] + self.offset[slots]))

    def _curved_sum(self, entered: Tensor, seen: Tensor) -> Tensor:
        entered, seen = (_pick(each, self.encoder.curved, 1) for each in (entered, seen))
        # observed * relu(x slope + offset) = relu(observed x slope + observed offset), so masking
        # costs nothing and a variable's terms of all rows are one thin matrix product.
        terms = torch.bmm(torch.stack([entered.T, seen.T], dim=-1), self._curved)
        if self.encoder.splines is not None:
            terms = terms + self.encoder.splines.seen(self._heights, entered, seen)
        return self._act(terms).sum(0)

    @cached_property
    def _curved(self) -> Tensor:
        """Slope above offset of every curved term [curved slots, 2, width]."""
        return _pick(torch.stack([self.slope, self.offset], dim=1), self.encoder.curved_slot, 0)

    @cached_property
    def _heights(self) -> Tensor:
        """Of the splines at their knots [curved slots, knots, width]."""
        assert self.encoder.splines is not None  # noqa: S101  # only asked for where there are some
        return self.encoder.splines.heights()

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What answers add to the code: values [..., n] of n variables give [..., n, width]."""
        return self.pieces.term(values, variables)

    @cached_property
    def pieces(self) -> Pieces:
        """All terms as pieces of lines."""
        encoder = self.encoder
        return Pieces.of(
            [self._plain_lines(), self._levels(), *self._curves()],
            encoder.knots(),
            by_level=encoder.levelled if encoder.n_levels else None,
            unit=encoder.unit if encoder.rescaled else None,
            bends=self.bends,
        )

    def _plain_lines(self) -> Group:
        """Variables whose term is one line for all values."""
        plain = ~self.encoder.levelled
        if self.encoder.splines is not None:
            plain[self.encoder.curved] = False
        slots, variables = self.encoder.slot[plain], plain.nonzero()[:, 0]
        start = self.slope.new_zeros(len(slots))
        return Group(variables, torch.ones_like(slots), start, self.offset[slots], self.slope[slots])

    def _levels(self) -> Group:
        """Categories: a flat piece for each level."""
        slots = self.encoder.level_slot
        variables = self.encoder.levelled.nonzero()[:, 0]
        counts = torch.bincount(self.encoder.level_owner, minlength=len(self.encoder.slot))[variables]
        height = self.slope[slots] + self.offset[slots]
        return Group(variables, counts, height.new_zeros(len(slots)), height, torch.zeros_like(height))

    def _curves(self) -> list[Group]:
        """Variables with a curve beside their line."""
        splines, slots = self.encoder.splines, self.encoder.curved_slot
        if splines is None:
            return []
        parts = splines.pieces(self._heights, self.slope[slots], self.offset[slots])
        counts = torch.full_like(slots, parts[0].shape[1])
        return [Group(self.encoder.curved, counts, *(part.flatten(0, 1) for part in parts))]

    def _act(self, terms: Tensor) -> Tensor:
        return torch.relu_(terms) if self.bends else terms


def _unit(form: Form) -> float:
    return 1.0 / (form.n_levels - 1) if form.kind is Kind.ORDINAL else 1.0


def _pick(whole: Tensor, some: Tensor, axis: int) -> Tensor:
    """``whole`` at ``some`` positions of an axis; not copied where they are all of it, in order."""
    return whole if len(some) == whole.shape[axis] else whole.index_select(axis, some)
