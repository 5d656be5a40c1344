"""The possible answers to every variable, with a kernel for real variables."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.answer_support import AnswerSupport, QuantitySupport
from eddi.model.inference.marginal_predictor import MarginalPredictor
from eddi.model.network.factors.factor_head import FactorHead
from eddi.model.network.factors.quantities import QuantityPrediction
from eddi.model.network.features import Features
from eddi.model.network.heteroscedastic import HeteroscedasticGaussian
from eddi.reward.fused.packed_rows import RowFactors

BLOCK_CELLS = 64  # rows and variables whose answers a program enumerates


@dataclass(frozen=True)
class PackedQuantities:
    """The atoms and predictions of real variables."""

    variables: Tensor  # [quantities]
    weights: tuple[Tensor, Tensor]  # of the logits of all atoms, then of means, then of scales
    atoms: Tensor  # [quantities, atoms]
    second_moments: Tensor  # [quantities, atoms]
    constants: Tensor  # [9, quantities] see `_pack_constants`
    points: Tensor  # [2, atoms] of a standard normal distribution, and their probabilities
    floor: float

    @classmethod
    def from_support(
        cls, support: QuantitySupport, predictor: MarginalPredictor
    ) -> "PackedQuantities | None":
        """Pack the support of quantities; None unless all of them are real and no atoms are merged."""
        head = predictor.target_head(support.variables)
        (first, *others) = head.heads.heads()
        likelihood, atoms = first.likelihood, predictor.marginals.atoms
        if others or atoms is None or support.is_merged:
            return None
        if not isinstance(likelihood, HeteroscedasticGaussian):
            return None
        places = [predictor.marginals.quantities.tolist().index(v) for v in support.variables]
        layer, shape = atoms.layer, atoms.values.shape
        bias = layer.bias.view(shape) + atoms.padding_logits()
        (weight, head_bias), n_atoms = head.weights, shape[1]
        levels = torch.special.ndtri(support.point_levels.double()).float()
        points = F.pad(levels, (0, n_atoms - len(levels)))
        return cls(
            variables=torch.tensor(support.variables, dtype=torch.int32, device=weight.device),
            weights=(
                torch.cat([layer.weight.view(*shape, -1)[places].flatten(0, 1), weight]),
                torch.cat([bias[places].flatten(), head_bias]),
            ),
            atoms=atoms.values[places].contiguous(),
            second_moments=support.second_moments.contiguous(),
            constants=_pack_constants(support, head.factor_head, likelihood),
            points=torch.stack([points, support.point_probabilities]),
            floor=likelihood.floor,
        )

    def enumerate(
        self, inputs: Tensor, factors: RowFactors, values: Tensor, probabilities: Tensor
    ) -> None:
        """Write the answers of rows with these hidden features to columns of [rows, answers]."""
        from eddi.reward.fused.row_kernels import enumerate_points  # Triton is optional

        outputs = F.linear(inputs, *self.weights)
        n_quantities, n_atoms = self.atoms.shape
        n_cells = len(inputs) * n_quantities
        enumerate_points[(-(-n_cells // BLOCK_CELLS),)](
            outputs, factors.expected, factors.spread, self.variables, self.atoms, self.second_moments,
            self.constants, self.points, values, probabilities,
            n_cells, n_quantities, factors.expected.shape[1], outputs.shape[1], values.stride(0),
            self.floor, ATOMS=n_atoms, BLOCK=BLOCK_CELLS, num_warps=4,
        )  # fmt: skip


def _pack_constants(
    support: QuantitySupport, head: FactorHead | None, likelihood: HeteroscedasticGaussian
) -> Tensor:
    """Shares and log shares of means and scales, mean, noise, stretch, power and the maximum ratio."""
    n = len(support.variables)
    own = support.max_ratio.new_zeros((6, n))
    if head is not None:
        own[:4] = torch.cat([head.share, head.log_shares]).view(4, n)
        part = next(part for part in head.parts if isinstance(part, QuantityPrediction))
        own[4], own[5] = part.mean, part.noise
    params = likelihood.calibration_params
    return torch.cat([own, params, support.max_ratio[None]]).contiguous()


@dataclass(frozen=True)
class PackedSupport:
    """The possible answers to every variable; parts that no kernel supports are plain PyTorch."""

    support: AnswerSupport
    packed: tuple[PackedQuantities | None, ...]  # of each part
    n_answers: int

    @classmethod
    def from_predictor(cls, predictor: MarginalPredictor, n_points: int) -> "PackedSupport":
        """Pack the answers, at most ``n_points`` for a quantity."""
        support = predictor.answer_support(n_points)
        packed = tuple(
            PackedQuantities.from_support(part, predictor) if isinstance(part, QuantitySupport) else None
            for part in support.parts
        )
        return cls(support, packed, int(support.count.sum()))

    def __call__(self, features: Features, factors: RowFactors) -> tuple[Tensor, Tensor]:
        """Values and probabilities [rows, answers] for the hidden features of each row."""
        values = features.inputs.new_empty((len(features.inputs), self.n_answers))
        probabilities, start = torch.empty_like(values), 0
        outputs = self.support.head(features) if None in self.packed else None
        for part, packed in zip(self.support.parts, self.packed, strict=True):
            own = slice(start, start + sum(part.counts))
            if packed is None:
                assert outputs is not None  # noqa: S101  # computed for such parts
                answers = part(outputs)
                values[:, own], probabilities[:, own] = answers.values, answers.probabilities
            else:
                packed.enumerate(features.inputs, factors, values[:, own], probabilities[:, own])
            start = own.stop
        return values, probabilities
