"""A trained network at rest: its passes with all looked up and worked out once.

An interview takes one row through small layers, where looking up a weight costs as much as multiplying
by it. What does not change between two questions is therefore kept.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.network import residual
from eddi.model.network.mlp import Perceptron, Weights, through
from eddi.model.network.network import LOG_VAR_RANGE, Network
from eddi.model.network.posterior import Posterior
from eddi.model.network.set_encoder import Lines


@dataclass(frozen=True)
class Settled:
    """The same passes as those of the network, for as long as its weights stand still."""

    lines: Lines
    tail: tuple[Weights, ...]  # all but its last layer, which is the belief; none where it is residual
    residual: residual.Settled | None
    belief: Weights
    decoder: tuple[Weights, ...]
    relu_first: bool
    marginal: Weights | None  # the layer of the direct beliefs

    @classmethod
    def of(cls, network: Network) -> "Settled":
        weight, bias = network.tail.belief()
        lines, decoder = network.set_encoder.lines(), tuple(network.decoder.weights())
        plain = network.tail if isinstance(network.tail, Perceptron) else None
        layer = None if network.marginals is None else network.marginals.layer
        return cls(
            lines=lines,
            tail=() if plain is None else tuple(plain.weights()[:-1]),
            residual=None if isinstance(network.tail, Perceptron) else network.tail.settled(),
            belief=(weight, bias[:, None]),
            decoder=decoder,
            relu_first=plain is not None and plain.relu_first,
            marginal=None if layer is None else (layer.weight, layer.bias),
        )

    @property
    def device(self) -> torch.device:
        """Where the weights are, and where the rest must come."""
        return self.lines.offset.device

    def code(self, values: Tensor, observed: Tensor) -> Tensor:
        """The additive code [rows, width] of coded values and 0/1 observed, both [rows, variables]."""
        if len(values) == 1:  # one person: a look at each answer is quicker than a product for all
            return self.lines.pieces.code(values, observed, self.lines.encoder.base)
        return self.lines.code(values, observed)

    def term(self, values: Tensor, variables: Tensor) -> Tensor:
        """What answers add to the code: values [..., n] of n variables give [..., n, width]."""
        return self.lines.term(values, variables)

    def hidden(self, code: Tensor) -> Tensor:
        """What the tail makes of a code before it says anything [..., last hidden width]."""
        return self.onward(self.entered(code))

    def entered(self, code: Tensor) -> Tensor:
        """A code as far as the tail is linear, so that terms still add up in it."""
        return code if self.residual is None else self.residual.entered(code)

    def added(self, terms: Tensor) -> Tensor:
        """What terms of the code add to an entered one."""
        return terms if self.residual is None else self.residual.added(terms)

    def onward(self, entered: Tensor) -> Tensor:
        """The rest of the way of `hidden`."""
        if self.residual is not None:
            return self.residual.onward(entered)
        out = torch.relu(entered) if self.relu_first else entered
        for weight, bias in self.tail:
            out = torch.relu_(F.linear(out, weight, bias))
        return out

    def posterior(self, code: Tensor) -> Posterior:
        """q(z | x_O) from the code of x_O, for any leading shape."""
        return self.posterior_of(self.hidden(code))

    def posterior_of(self, hidden: Tensor) -> Posterior:
        """q(z | x_O) from what the tail made of the code."""
        # One latent number of all rows after the other in memory: mean and log variance then are two
        # whole blocks, and what follows (exponentials, sums over the latent) runs along them.
        weight, bias = self.belief
        both = torch.addmm(bias, weight, hidden.view(-1, hidden.shape[-1]).T)  # [2 latent, rows]
        mean, log_var = both.view(2, len(weight) // 2, *hidden.shape[:-1]).unbind()
        return Posterior(mean.movedim(0, -1), log_var.clamp_(*LOG_VAR_RANGE).movedim(0, -1))

    def decode(self, z: Tensor) -> Tensor:
        """The likelihoods' parameters [..., outputs] behind latent values [..., latent]."""
        return through(z, self.decoder)
