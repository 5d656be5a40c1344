"""The prediction of a real or binary target, packed for the kernels of rewards."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.factors.discriminant import LevelDiscriminant
from eddi.model.network.factors.factor_model import PackedFactors
from eddi.model.network.factors.quantities import QuantityPrediction
from eddi.model.network.heteroscedastic import HeteroscedasticGaussian
from eddi.model.network.likelihood import Bernoulli
from eddi.reward.fused.packed_tail import FACTORS


@dataclass(frozen=True)
class PackedTarget:
    """How the outputs of the network and of the factors become a prediction of the target."""

    position: int
    likelihood: HeteroscedasticGaussian | Bernoulli  # of the target alone
    loadings: Tensor  # [2 * FACTORS] of the target: 0 for the variances of the factors
    constants: Tensor  # see `_pack_real` and `_pack_binary`

    @classmethod
    def from_head(
        cls, head: VariableHead, target: Sequence[int], packed: PackedFactors
    ) -> "PackedTarget | None":
        """Pack the head of a target; None unless it is one real or binary variable without a regression."""
        (first, *others) = head.heads.heads()
        likelihood = first.likelihood
        if len(target) > 1 or others or not isinstance(likelihood, HeteroscedasticGaussian | Bernoulli):
            return None
        if head.factor_head is not None and head.factor_head.level_regression is not None:
            return None
        if isinstance(likelihood, HeteroscedasticGaussian):
            constants = _pack_real(head, likelihood)
        else:
            constants = _pack_binary(head)
        loadings = packed.loadings[target[0], 0]
        padded = F.pad(loadings, (0, 2 * FACTORS - len(loadings))).contiguous()
        return cls(target[0], likelihood, padded, constants.float().contiguous())

    @property
    def is_real(self) -> bool:
        """Whether the target is real; otherwise it is binary."""
        return isinstance(self.likelihood, HeteroscedasticGaussian)

    def mixture_kl(self, changes: Tensor, before: Tensor) -> Tensor:
        """KL(mixture || present prediction) [rows, questions], for the kernel's expected changes.

        ``before`` [rows, 2] are the predictions of the row, the log odds first if the target is binary.
        """
        return self.likelihood.mixture_kl(changes[:, :, None], before[:, None, :1])[..., 0]


def _pack_real(head: VariableHead, likelihood: HeteroscedasticGaussian) -> Tensor:
    """Shares and log shares of mean and scale, mean, noise, floor, stretch and power [9]."""
    shares = _shares(head)
    part = next((part for part in _parts(head) if isinstance(part, QuantityPrediction)), None)
    own = shares.new_ones(2) if part is None else torch.stack([part.mean[0], part.noise[0]])
    params = likelihood.calibration_params[:, 0]
    return torch.cat([shares, own, shares.new_tensor([likelihood.floor]), params])


def _pack_binary(head: VariableHead) -> Tensor:
    """Share, log share, difference and middle of the levels, noise, and the prior's term [6]."""
    shares = _shares(head)
    part = next((part for part in _parts(head) if isinstance(part, LevelDiscriminant)), None)
    if part is None:
        return F.pad(shares, (0, 4), value=1.0)
    own = (part.difference, part.middle, part.noise, part.prior_term)
    return torch.cat([shares, *(tensor.flatten()[:1] for tensor in own)])


def _shares(head: VariableHead) -> Tensor:
    """The share of the factor model and its log share, for each output [2 * outputs]."""
    if head.factor_head is None:
        return head.weights[1].new_zeros(2 * len(head.weights[1]))
    return torch.stack([head.factor_head.share, head.factor_head.log_shares], dim=1).flatten()


def _parts(head: VariableHead) -> tuple[object, ...]:
    """The parts of the factor model's outputs that are used."""
    return () if head.factor_head is None else head.factor_head.parts
