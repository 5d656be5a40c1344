"""The outputs of the factor model: the predictions of all variables that follow from it in closed form."""

from dataclasses import dataclass, fields, replace

from torch import Tensor, nn

from eddi.model.network.factors.discriminant import LevelDiscriminant
from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.factors.hazard_regression import HazardRegression
from eddi.model.network.factors.quantities import QuantityPrediction

FactorPart = LevelDiscriminant | QuantityPrediction | HazardRegression


@dataclass(frozen=True)
class FactorHead:
    """Outputs of the factor model, and how much of them is added to the outputs of the network."""

    parts: tuple[FactorPart, ...]
    share: Tensor  # [outputs]
    log_shares: Tensor  # [outputs]

    def only_used(self) -> "FactorHead | None":
        """This head without parts that add nothing; None if nothing is added."""
        used = tuple(part for part in self.parts if self.share[part.rows].any())
        return FactorHead(used, self.share, self.log_shares) if used else None

    def outputs(self, factors: FactorPosterior | FactorMoments) -> Tensor:
        """Outputs of the factor model [..., outputs]."""
        outputs = self.log_shares.expand(*factors.mean.shape[:-1], -1)
        for part in self.parts:
            outputs = outputs.index_add(-1, part.rows, part(factors))
        return outputs

    def add_to(self, outputs: Tensor, factors: FactorPosterior | FactorMoments | None) -> Tensor:
        """``outputs`` [..., outputs] of the network plus those of the factor model, times their share."""
        assert factors is not None  # noqa: S101  # this head comes with factors
        return outputs + self.share * self.outputs(factors)


class FactorHeadBuffers(nn.Module):
    """A `FactorHead` for training: its loadings change with every step.

    Its other tensors are buffers, so that networks trained at once can stack them.
    """

    def __init__(self, head: FactorHead) -> None:
        super().__init__()
        self._head = head
        self._names = [
            [field.name for field in fields(part) if isinstance(getattr(part, field.name), Tensor)]
            for part in head.parts
        ]
        self.register_buffer("log_shares", head.log_shares.clone(), persistent=False)
        for place, part in enumerate(head.parts):
            for name in self._names[place]:
                tensor = getattr(part, name).detach().clone()
                self.register_buffer(f"{name}_{place}", tensor, persistent=False)

    def forward(self, factors: FactorPosterior, packed: PackedFactors) -> Tensor:
        """Outputs of the factor model [..., outputs] with the present loadings."""
        parts = tuple(self._part(place).with_factors(packed) for place in range(len(self._names)))
        return replace(self._head, parts=parts, log_shares=self.log_shares).outputs(factors)

    def _part(self, place: int) -> FactorPart:
        tensors = {name: getattr(self, f"{name}_{place}") for name in self._names[place]}
        return replace(self._head.parts[place], **tensors)
