"""A trained network with weights packed for inference.

An interview passes one row through small layers, where looking up a weight takes as long as multiplying
by it. Everything that depends on the weights alone is therefore computed once. All inference goes through
this class; the back ends of the paper's reward (`reward.paper`) pack its weights once more.
"""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.cache import Cache
from eddi.model.inference.traced import TracedFunction
from eddi.model.network.factors.factor_model import FactorMoments, FactorPosterior, PackedFactors
from eddi.model.network.features import Features
from eddi.model.network.mlp import MLP, Weights, forward_layers
from eddi.model.network.network import LOG_VAR_RANGE, Network
from eddi.model.network.posterior import Posterior
from eddi.model.network.residual import FrozenResidual
from eddi.model.network.set_encoder import EncoderWeights
from eddi.table.evidence import Evidence

MAX_TRACED_ROWS = (
    16  # such as the steps of one simulated interview; with more, products take longer than Python
)
MAX_REMEMBERED_ROWS = 4_096  # of the last evidence, whose encoding predictions and rewards share


@dataclass(frozen=True)
class Encoding:
    """Rows of evidence as the layers of the network see them."""

    code: Tensor  # [rows, code width]
    first_layer: Tensor  # [rows, width] output of the tail's linear first layer, without factors
    factors: FactorPosterior | None
    features: Features

    def tensors(self) -> tuple[Tensor, ...]:
        """All parts as tensors."""
        own = (self.code, self.first_layer, self.features.inputs)
        return own if self.factors is None else (*own, self.factors.mean, self.factors.covariance)

    @classmethod
    def from_tensors(cls, tensors: Sequence[Tensor]) -> "Encoding":
        """The inverse of `tensors`."""
        code, first_layer, inputs, *moments = tensors
        factors = FactorPosterior(*moments) if moments else None
        return cls(code, first_layer, factors, Features(inputs, factors))


class EncodingMemory:
    """Remembers the encoding of the last evidence."""

    def __init__(self) -> None:
        self._last: tuple[Evidence | None, Encoding | None] = (None, None)

    def get(self, evidence: Evidence, compute: Callable[[], Encoding]) -> Encoding:
        """The encoding of ``evidence``; computed unless it is the last evidence, the same object."""
        last, encoding = self._last
        if encoding is not None and last is evidence:
            return encoding
        with torch.inference_mode():
            encoding = compute()
        self.remember(evidence, encoding)
        return encoding

    def remember(self, evidence: Evidence, encoding: Encoding) -> None:
        """Make this the encoding of the last evidence."""
        if len(evidence) <= MAX_REMEMBERED_ROWS:
            self._last = (evidence, encoding)  # one assignment, so threads see both or none


@dataclass(frozen=True)
class FrozenNetwork:
    """The forward passes of a network whose weights no longer change."""

    encoder: EncoderWeights
    code_width: int  # of the additive code; the factors' statistics follow
    tail: tuple[Weights, ...]  # all layers but the last; empty if the tail is residual
    residual: FrozenResidual | None
    posterior_layer: Weights  # the last layer of the tail; its bias is a column [2 latent, 1]
    decoder: tuple[Weights, ...]
    relu_first: bool
    marginal_layer: Weights | None  # outputs of the marginal heads; None without them

    @classmethod
    def from_network(cls, network: Network) -> "FrozenNetwork":
        """Pack the weights of a trained network."""
        weight, bias = network.tail.output_weights()
        mlp = network.tail if isinstance(network.tail, MLP) else None
        marginals = network.marginals
        width = network.code_width
        return cls(
            encoder=network.set_encoder.encoder_weights(),
            code_width=width,
            tail=() if mlp is None else tuple(mlp.weights()[:-1]),
            residual=None
            if isinstance(network.tail, MLP)
            else network.tail.freeze(2 * network.n_factors),
            posterior_layer=(weight, bias[:, None]),
            decoder=tuple(network.decoder.weights()),
            relu_first=mlp is not None and mlp.relu_first,
            marginal_layer=None if marginals is None else marginals.output_weights(),
        )

    @property
    def device(self) -> torch.device:
        """The device of the weights; inputs must be on it, too."""
        return self.encoder.offset.device

    @property
    def factors(self) -> PackedFactors | None:
        """The precision-weighted factors; None for other set encoders."""
        return self.encoder.factors

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The additive code [rows, width] of coded values and 0/1 observed, both [rows, variables]."""
        if len(values) == 1:
            return self.encoder.code_row(values, observed)
        return self.encoder.code(values, observed)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        return self.encoder.term(values, variables)

    def encode(self, code: Tensor) -> Encoding:
        """The output of every layer for a code [rows, width]."""
        first, factors = self.first_layer(code), self.factor_posterior(code)
        return Encoding(code, first, factors, self.features_from(first, factors))

    def encode_inputs(self, values: Tensor, observed: Tensor) -> Encoding:
        """The output of every layer for coded values and 0/1 observed, both [rows, variables]."""
        if 0 < len(values) <= MAX_TRACED_ROWS and self.device.type == "cpu":
            return Encoding.from_tensors(self._encode_rows(len(values))(values, observed))
        return self.encode(self.code(values, observed))

    @cached_property
    def encodings(self) -> EncodingMemory:
        """The encoding of the last evidence, which predictions and rewards share."""
        return EncodingMemory()

    def _encode_rows(self, n_rows: int) -> TracedFunction:
        """The tensors of the encoding of so many rows; a trace is valid for one number of rows."""
        own = weakref.proxy(self)  # it keeps the function, which must not keep it
        return self._traced.get(
            n_rows, lambda: TracedFunction(lambda *inputs: own.encode(own.code(*inputs)).tensors())
        )

    @cached_property
    def _traced(self) -> Cache:
        """The functions of `_encode_rows`, by number of rows."""
        return Cache()

    def features(self, code: Tensor) -> Features:
        """Hidden features for a code."""
        return self.encode(code).features

    def first_layer(self, code: Tensor) -> Tensor:
        """The linear first layer of the tail, without factors; terms are still additive in its output."""
        own = code[..., : self.code_width]
        return own if self.residual is None else self.residual.first_layer(own)

    def first_layer_delta(self, terms: Tensor) -> Tensor:
        """What terms of the code add to the output of the first layer."""
        own = terms[..., : self.code_width]
        return own if self.residual is None else self.residual.first_layer_delta(own)

    def first_layer_term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What coded answers [n] to n variables add to the output of the first layer [n, width]."""
        return self.first_layer_delta(self.encoder.term_table.term(values, variables))

    def factor_inputs(self, values: Tensor, variables: Tensor) -> Tensor | None:
        """The factors' inputs [n, inputs] for coded answers [n] to n variables; None without factors."""
        return None if self.factors is None else self.factors.factors.inputs(values, variables)

    def factor_posterior(self, code: Tensor) -> FactorPosterior | None:
        """The posterior of the factors from a code; None without factors."""
        if self.factors is None:
            return None
        return self.factors.posterior(code[..., self.code_width :])

    def features_from(self, first: Tensor, factors: FactorPosterior | FactorMoments | None) -> Features:
        """Hidden features from the output of the first layer and the factors."""
        if factors is None:
            return Features(self._remaining_layers(first), None)
        both = factors.features()
        if self.residual is None:
            inputs = torch.cat([first, both], dim=-1)
        else:
            inputs = self.residual.add_factors(first, both)
        return Features(torch.cat([self._remaining_layers(inputs), factors.mean], dim=-1), factors)

    def _remaining_layers(self, first: Tensor) -> Tensor:
        """Hidden features [..., last hidden width] for the complete output of the first layer."""
        if self.residual is not None:
            return self.residual.remaining_layers(first)
        out = torch.relu(first) if self.relu_first else first
        for weight, bias in self.tail:
            out = torch.relu_(F.linear(out, weight, bias))
        return out

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.posterior_from_features(self.features(code).inputs)

    def posterior_from_features(self, inputs: Tensor) -> Posterior:
        """q(z | x_O) from hidden features."""
        # In memory, one latent dimension of all rows follows the other: mean and log variance are two
        # contiguous blocks, and what follows (exponentials, sums over the latent) runs along them.
        weight, bias = self.posterior_layer
        if self.factors is not None:
            inputs = inputs[..., : weight.shape[1]].contiguous()
        both = torch.addmm(bias, weight, inputs.view(-1, inputs.shape[-1]).T)  # [2 latent, rows]
        mean, log_var = both.view(2, len(weight) // 2, *inputs.shape[:-1]).unbind()
        return Posterior(mean.movedim(0, -1), log_var.clamp_(*LOG_VAR_RANGE).movedim(0, -1))

    def decode(self, z: Tensor) -> Tensor:
        """The likelihoods' parameters [..., outputs] for latent values [..., latent]."""
        return forward_layers(z, self.decoder)


def freeze_weights(network: Network) -> None:
    """Stop gradients, and give each weight memory of its own.

    Training keeps all weights in one tensor; a pickle would contain it once for every weight.
    """
    for weight in network.requires_grad_(False).parameters():
        weight.data, weight.grad = weight.data.clone(), None
