"""The outputs of the factor model: the predictions of all variables that follow from it in closed form."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from eddi.model.network.factors.discriminant import LevelDiscriminant
from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.factors.hazard_regression import HazardRegression
from eddi.model.network.factors.level_regression import LevelRegression
from eddi.model.network.factors.quantities import QuantityPrediction

FactorPart = LevelDiscriminant | QuantityPrediction | HazardRegression


@dataclass(frozen=True)
class FactorHead:
    """Outputs of the factor model, and how much of them is added to the outputs of the network."""

    parts: tuple[FactorPart, ...]
    share: Tensor  # [outputs]
    log_shares: Tensor  # [outputs]
    level_regression: LevelRegression | None = None  # with weights of its own

    def only_used(self) -> "FactorHead | None":
        """This head without parts that add nothing; None if nothing is added."""
        used = tuple(part for part in self.parts if self.share[part.rows].any())
        return replace(self, parts=used) if used or self.level_regression is not None else None

    def outputs(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """Outputs of the factor model [..., outputs], without the regression of levels."""
        parts = [part(factors) for part in self.parts]
        joined = parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)
        if self._order is not None:
            ordered = joined if self._is_ordered else joined.index_select(-1, self._order)
            return ordered + self.log_shares if self._has_log_shares else ordered
        outputs = self.log_shares.expand(*joined.shape[:-1], -1)
        return outputs.index_add(-1, torch.cat([part.rows for part in self.parts]), joined)

    @cached_property
    def _order(self) -> Tensor | None:
        """The place of each output among those of all parts; None if some have no part."""
        rows = torch.cat([part.rows for part in self.parts])
        return torch.argsort(rows) if len(rows) == len(self.share) else None

    @cached_property
    def _is_ordered(self) -> bool:
        """Whether the outputs of all parts are in order."""
        return self._order is not None and self._order.tolist() == list(range(len(self.share)))

    @cached_property
    def _has_log_shares(self) -> bool:
        """Whether any log share differs from 0; those of quantities are 0."""
        return bool(self.log_shares.any())

    def prepare(self) -> "FactorHead":
        """Compute what depends on constants alone, which an export cannot trace."""
        _ = self._is_ordered, self._has_log_shares
        return self

    def add_to(self, outputs: Tensor, factors: FactorPosterior | FactorMoments | None) -> Tensor:
        """``outputs`` [..., outputs] of the network plus those of the factor model, times their share."""
        assert factors is not None  # noqa: S101  # this head comes with factors
        if self.parts:
            outputs = torch.addcmul(outputs, self.share, self.outputs(factors))
        return (
            outputs if self.level_regression is None else self.level_regression.add_to(outputs, factors)
        )


class FactorHeadBuffers(nn.Module):
    """A `FactorHead` for training, whose loadings change with every step.

    Its other tensors are buffers, so that networks trained at once can stack them.
    """

    log_shares: Tensor  # [outputs]
    all_rows: Tensor  # [outputs with a part] of all parts, one after the other

    def __init__(self, head: FactorHead) -> None:
        super().__init__()
        self._parts = head.parts
        self._names = [
            [field.name for field in fields(part) if isinstance(getattr(part, field.name), Tensor)]
            for part in head.parts
        ]
        self.register_buffer("log_shares", head.log_shares.clone(), persistent=False)
        rows = torch.cat([part.rows for part in head.parts])
        self.register_buffer("all_rows", rows, persistent=False)
        for place, part in enumerate(head.parts):
            for name in self._names[place]:
                tensor = getattr(part, name).detach().clone()
                self.register_buffer(f"{name}_{place}", tensor, persistent=False)

    def forward(self, factors: FactorPosterior, packed: PackedFactors) -> Tensor:
        """Outputs of the factor model [..., outputs] with the present loadings."""
        parts = [self._part(place).with_factors(packed)(factors) for place in range(len(self._names))]
        outputs = self.log_shares.expand(*factors.mean.shape[:-1], -1)
        return outputs.index_add(-1, self.all_rows, torch.cat(parts, dim=-1))

    def _part(self, place: int) -> FactorPart:
        tensors = {name: getattr(self, f"{name}_{place}") for name in self._names[place]}
        return replace(self._parts[place], **tensors)
