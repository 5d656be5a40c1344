"""The distribution of a quantity on a grid, as a likelihood: exact posteriors of traits."""

from collections.abc import Sequence

import torch
from torch import Tensor

from eddi.model.network.likelihood import Likelihood, VariableSpec


class GridDistribution(Likelihood):
    """Quantities whose outputs are log probabilities of the points of a grid.

    Args:
        specs: of the variables.
        grids: the equally spaced points of each, in coded values [n, points].
    """

    grids: Tensor
    shift: Tensor
    scale: Tensor

    def __init__(self, specs: Sequence[VariableSpec], grids: Tensor) -> None:
        super().__init__(len(specs), n_outputs=grids.numel())
        coding = torch.tensor([(spec.shift, spec.scale) for spec in specs], dtype=torch.float64)
        self.register_buffer("grids", grids.double(), persistent=False)
        self.register_buffer("shift", coding[:, 0], persistent=False)
        self.register_buffer("scale", coding[:, 1], persistent=False)

    def log_weights(self, outputs: Tensor) -> Tensor:
        """Log probabilities of the points [..., n, points]."""
        by_point = outputs.view(*outputs.shape[:-1], *self.grids.shape)
        return torch.log_softmax(by_point, dim=-1)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Log density: the probability of a point is spread evenly around it."""
        log_weights = self.log_weights(outputs)
        cell = self._position(values).round().long().clamp(0, self.grids.shape[1] - 1)
        shape = torch.broadcast_shapes(log_weights.shape[:-1], cell.shape)  # type: ignore[no-untyped-call]
        weights = log_weights.expand(*shape, -1).gather(-1, cell.expand(shape)[..., None])
        return weights[..., 0] - self._width.log()

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        position = self._position(values)[..., None]  # [..., n, 1]
        points = torch.arange(self.grids.shape[1], device=outputs.device)
        share_below = (position - points + 0.5).clamp(0, 1)  # of the interval around each point
        return (self.log_weights(outputs).exp() * share_below).sum(-1)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        below = self.log_weights(outputs).exp().cumsum(-1)  # [..., n, points]
        shape = torch.broadcast_shapes(below.shape[:-1], level.shape)  # type: ignore[no-untyped-call]
        below, target = below.expand(*shape, -1), level.expand(shape)[..., None].to(below.dtype)
        cell = (below < target).sum(-1, keepdim=True).clamp(max=below.shape[-1] - 1)
        upper = below.gather(-1, cell)
        lower = torch.where(cell > 0, below.gather(-1, (cell - 1).clamp(min=0)), 0.0)
        share = ((target - lower) / (upper - lower).clamp(min=1e-300)).clamp(0, 1)
        return self.grids[:, 0] + (cell + share - 0.5)[..., 0] * self._width

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        weights = self.log_weights(outputs).exp()
        mean = (weights * self.grids).sum(-1)
        variance = (weights * (self.grids - mean[..., None]).square()).sum(-1)
        return mean * self.scale + self.shift, variance * self.scale.square()

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        log_p, log_q = self.log_weights(outputs), self.log_weights(other)
        return (log_p.exp() * (log_p - log_q)).sum(-1)

    @property
    def _width(self) -> Tensor:
        """Distance of two points [n]."""
        return self.grids[:, 1] - self.grids[:, 0]

    def _position(self, values: Tensor) -> Tensor:
        """Positions of values on the grid, in points [..., n]."""
        return (values - self.grids[:, 0]) / self._width
