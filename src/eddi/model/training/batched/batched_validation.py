"""Validation of several networks at once: one more axis of every tensor."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from eddi.model.network.network import Network
from eddi.model.training.objective import Batch
from eddi.model.training.validation import Validation, entry_scores


class _Score(nn.Module):
    """The mean score of hidden entries as a module, since `functional_call` replaces its weights."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, hidden: Tensor, *batch: Tensor) -> Tensor:
        return (entry_scores(self.network, Batch(*batch)) * hidden).sum() / hidden.sum()


@dataclass(frozen=True)
class BatchedValidation:
    """The validations of several networks, whose held-out rows have the same shape."""

    module: _Score
    batch: tuple[Tensor, ...]  # [networks, ...] weights of hidden entries, then the parts of a batch

    @classmethod
    def if_possible(
        cls, network: Network, validations: Sequence[Validation | None]
    ) -> "BatchedValidation | None":
        """The validations of networks like this one; None if they have to be validated one by one."""
        batches = [validation.batch for validation in validations if validation is not None]
        if len(batches) < len(validations) or network.marginals is None:
            return None
        if len({batch.values.shape for batch in batches}) > 1:
            return None
        hidden = torch.stack([batch.hidden_weights * batch.loss_weights for batch in batches])
        if not (hidden > 0).flatten(1).any(1).all():
            return None
        parts = ([b.values for b in batches], [b.weights for b in batches])
        others = ([b.observed for b in batches], [b.noise for b in batches])
        return cls(_Score(network), (hidden, *map(torch.stack, (*parts, *others))))

    @torch.no_grad()
    def scores(self, weights: dict[str, Tensor]) -> list[float]:
        """The score of each network, given its weights and differing buffers [networks, ...] by name."""
        own = {f"network.{name}": part for name, part in weights.items()}
        score = vmap(lambda part, batch: functional_call(self.module, part, batch))
        return list(score(own, self.batch).tolist())
