"""A network at rest, for one row at a time.

One respondent's layers are so small that a call costs more than its arithmetic, and a call of NumPy
costs less than one of torch. The weights are those of the network, in the same memory.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from eddi.model.inference.frozen import Settled
from eddi.model.inference.predictive import MAX_KEPT_SETS, shared_noise
from eddi.model.network.likelihood import Gaussian
from eddi.model.network.mlp import Perceptron, Weights
from eddi.model.network.network import LOG_VAR_RANGE, Network
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

Numbers = NDArray[np.float32]


@dataclass(frozen=True)
class Alone:
    """What a model of Gaussian variables believes of one row, in plain arrays."""

    slope: Numbers  # [variables, width]
    offset: Numbers  # [variables, width]
    base: Numbers  # [width]
    bends: bool
    tail: tuple[tuple[Numbers, Numbers], ...]
    relu_first: bool
    decoder: tuple[tuple[Numbers, Numbers], ...]
    sd: Numbers  # [variables] of the noise

    @classmethod
    def of(cls, network: Network, settled: Settled) -> "Alone | None":
        """The network for one row; None where it is elsewhere, deep, curved or not Gaussian."""
        if settled.device.type != "cpu" or any(f.kind is not Kind.REAL for f in network.forms):
            return None
        if not isinstance(network.tail, Perceptron) or network.set_encoder.splines is not None:
            return None
        lines, noise = settled.lines, network.likelihoods[Kind.REAL.value]
        assert isinstance(noise, Gaussian)  # noqa: S101  # all are real
        return cls(
            slope=lines.slope.numpy(),
            offset=lines.offset.numpy(),
            base=lines.encoder.base.numpy(),
            bends=lines.bends,
            tail=_arrays(network.tail.weights()),
            relu_first=network.tail.relu_first,
            decoder=_arrays(network.decoder.weights()),
            sd=noise.sd().numpy(),
        )

    def code(self, evidence: Evidence) -> Numbers:
        """The additive code of the one row [width]."""
        seen = evidence.observed[0].nonzero()[0]
        terms = self.term(evidence.values[0, seen], seen)  # [seen, width]
        return np.asarray(terms.sum(0) + self.base)

    def term(self, values: Numbers, variables: NDArray[np.int64]) -> Numbers:
        """What coded answers [..., n] to n variables add to the code [..., n, width]."""
        terms = values[..., None] * self.slope[variables]
        terms += self.offset[variables]
        return _relu(terms) if self.bends else terms

    def draw(self, code: Numbers, n_draws: int, *, seed: int) -> Numbers:
        """Joint coded values of all variables [draws, variables], as `PartialVAE.draw` has them."""
        both = _through(np.maximum(code, 0) if self.relu_first else code, self.tail)
        mean, log_var = both.reshape(2, -1)
        latent, variables = _normals(n_draws, len(mean), len(self.slope), seed)
        z = mean + latent * np.exp(0.5 * log_var.clip(*LOG_VAR_RANGE))
        return _through(z, self.decoder) + variables * self.sd


@lru_cache(MAX_KEPT_SETS)
def _normals(n_draws: int, n_latent: int, n_variables: int, seed: int) -> tuple[Numbers, Numbers]:
    """Standard normal numbers for the latent and for the noise, those of every other path."""
    latent, level = shared_noise(n_draws, n_latent, n_variables, seed=seed)
    return latent.numpy(), torch.special.ndtri(level).numpy()


def _arrays(layers: list[Weights]) -> tuple[tuple[Numbers, Numbers], ...]:
    return tuple((weight.numpy().T, bias.numpy()) for weight, bias in layers)


def _through(x: Numbers, layers: tuple[tuple[Numbers, Numbers], ...]) -> Numbers:
    """Linear layers with a relu between."""
    (weight, bias), *rest = layers
    out = x @ weight + bias
    for weight, bias in rest:
        out = _relu(out) @ weight
        out += bias
    return out


def _relu(x: Numbers) -> Numbers:
    return np.maximum(x, 0, out=x)
