"""The paper's reward: expected information of an answer about the target, in latent space.

R(i, x_O) = E KL[q(z | x_i, x_O) || q(z | x_O)] - E KL[q(z | x_phi, x_i, x_O) || q(z | x_phi, x_O)]

with x_i and x_phi drawn jointly from p(. | x_O) (Ma et al. 2019, equation 8). The first term is the
information of the answer about everything. The second term removes information about everything except
the target.

Evidence is never re-encoded: a candidate answer is one addition to the code and one pass through the
tail. Three back ends compute the same rewards; the first one that supports the model and the batch is
used.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.reward.paper.numpy_backend import NumpyBackend
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.reward.paper.triton_backend import TritonBackend
from eddi.table.evidence import Evidence


class LatentRewardBackend(Protocol):
    """One implementation of the reward for one model."""

    def rewards(
        self, evidence: Evidence, target: list[int], *, n_draws: int, seed: int
    ) -> Tensor | None:
        """The rewards [rows, questions], or None if this back end does not support the batch."""


def latent_information(
    model: NetworkModel, evidence: Evidence, target: Sequence[str], *, n_draws: int, seed: int
) -> Tensor:
    """Expected information of each question's answer about the target, in nats [rows, questions].

    The same draws serve both terms and all questions. Answers with few levels are enumerated instead of
    drawn. The reward is 0 for a question that would reveal nothing new, and for one that reveals a
    target.
    """
    positions = model.schema.positions(dict.fromkeys(target))
    evidence = model.relevant_evidence(evidence, positions)
    for backend in _backends(model):
        rewards = backend.rewards(evidence, positions, n_draws=n_draws, seed=seed)
        if rewards is not None:
            return rewards
    raise AssertionError("the PyTorch back end supports every batch.")


def _backends(model: NetworkModel) -> Iterator[LatentRewardBackend]:
    """The back ends that support a model, fastest first; the last one is the reference."""
    packed = model.cache.get("numpy_backend", lambda: NumpyBackend.from_model(model))
    if packed is not None:
        yield packed
    kernels = model.cache.get("triton_backend", lambda: TritonBackend.from_model(model))
    if kernels is not None:
        yield kernels
    yield TorchBackend(model)
