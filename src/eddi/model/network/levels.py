"""Functions of the probabilities of levels, along the last axis."""

import torch
import torch.nn.functional as F
from torch import Tensor

MIN_RELATIVE_CHANGE = 1e-6 - 1  # of a probability or variance: rounding must not make it negative
MIN_TRANSPOSED = 4_096  # logits from which a transposed softmax is faster


def log_softmax_short(logits: Tensor) -> Tensor:
    """The log softmax along a short last axis.

    PyTorch processes one row after the other. With few levels and many rows, it is faster on a CPU to
    process one level of all rows after the other.
    """
    if logits.is_cuda or torch.compiler.is_exporting() or logits.numel() < MIN_TRANSPOSED:
        return F.log_softmax(logits, dim=-1)
    return F.log_softmax(logits.movedim(-1, 0).contiguous(), dim=0).movedim(0, -1)


def at_level(by_level: Tensor, values: Tensor) -> Tensor:
    """The entries of ``by_level`` [..., n, levels] at the levels ``values`` [..., n]."""
    index = values.round().long().clamp(0, by_level.shape[-1] - 1)
    # ``values`` may lack the axis of the draws
    shape = torch.broadcast_shapes(by_level.shape[:-1], index.shape)  # type: ignore[no-untyped-call]
    return by_level.expand(*shape, -1).gather(-1, index.expand(shape)[..., None]).squeeze(-1)


def level_mixture_kl(change: Tensor, probabilities: Tensor) -> Tensor:
    """KL(q + change || q) of the ``probabilities`` q of levels [..., n, levels], with little cancellation."""
    ratio = change / probabilities.clamp_min(torch.finfo(change.dtype).tiny)
    ratio = ratio.clamp_min(MIN_RELATIVE_CHANGE)  # by rounding, a probability may become negative
    return ((probabilities + change).clamp_min(0) * torch.log1p(ratio) - change).sum(-1)


def level_quantile(below: Tensor, counts: Tensor, level: Tensor) -> Tensor:
    """The first level whose cumulative probability reaches ``level``."""
    reached = (below < level[..., None]).sum(-1)
    return torch.minimum(reached, counts - 1).to(below.dtype)


def level_moments(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of the position of the level."""
    position = torch.arange(probabilities.shape[-1], device=probabilities.device).float()
    mean = (probabilities * position).sum(-1)
    return mean, (probabilities * (position - mean[..., None]).square()).sum(-1)
