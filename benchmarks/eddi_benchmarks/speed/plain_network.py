"""The Partial VAE in plain PyTorch: the reference that our speed is compared with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.errors import EddiError
from eddi.model.network.network import Network
from eddi.model.recipe import Recipe, SetEncoderName
from eddi.table.variable import Kind


class ComparisonError(EddiError, AssertionError):
    """Two implementations do not compute the same, so their times must not be compared."""


class PlainNetwork(nn.Module):
    """A straightforward implementation, which applies h to a [rows, variables, identity] tensor."""

    def __init__(
        self, recipe: Recipe, set_encoder: SetEncoderName, *, kind: Kind, n_variables: int
    ) -> None:
        super().__init__()
        self.set_encoder, self.kind, self.noise = set_encoder, kind, recipe.noise
        if set_encoder == "zi":
            n_inputs = n_variables
        elif set_encoder == "zi-m":
            n_inputs = 2 * n_variables
        else:
            n_inputs = recipe.term
            n_features = recipe.identity + (1 if set_encoder == "pn" else 0)
            self.identity = nn.Parameter(torch.randn(n_variables, recipe.identity))
            self.h = nn.Sequential(nn.Linear(n_features, recipe.term), nn.ReLU())
        self.tail = _make_layers([n_inputs, *recipe.hidden, 2 * recipe.latent])
        self.decoder = _make_layers([recipe.latent, *reversed(recipe.hidden), n_variables])

    def encode(self, values: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log variance of the latent, from values with 0 for unobserved ones."""
        if self.set_encoder == "zi":
            outputs = self.tail(values)
        elif self.set_encoder == "zi-m":
            outputs = self.tail(torch.cat([values, observed], dim=1))
        else:
            terms = self.h(self._features(values)) * observed[:, :, None]  # [rows, variables, term]
            outputs = self.tail(terms.sum(dim=1))
        mean, log_var = outputs.chunk(2, dim=-1)
        return mean, log_var

    def _features(self, values: Tensor) -> Tensor:
        if self.set_encoder == "pnp":
            return self.identity * values[:, :, None]  # [rows, variables, identity]
        identity = self.identity.expand(len(values), -1, -1)
        return torch.cat([identity, values[:, :, None]], dim=2)  # [rows, variables, identity + 1]

    def loss(self, values: Tensor, observed: Tensor, noise: Tensor) -> Tensor:
        """The negative partial bound (Ma et al. 2019, equation 3) per variable."""
        mean, log_var = self.encode(values * observed, observed)
        outputs = self.decoder(mean + noise * torch.exp(0.5 * log_var))
        fit = (self._log_prob(outputs, values) * observed).sum(dim=1)
        kl = -0.5 * (1 + log_var - mean**2 - torch.exp(log_var)).sum(dim=1)
        return -(fit - kl).mean() / values.shape[1]

    def _log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        if self.kind is Kind.BINARY:
            return -F.binary_cross_entropy_with_logits(outputs, values, reduction="none")
        sd = self.noise or 1.0
        return -0.5 * ((values - outputs) / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)

    @torch.no_grad()
    def copy_weights(self, network: Network) -> None:
        """Copy the weights of our network."""
        encoder = network.set_encoder
        linears = [*_linears(self.tail), *_linears(self.decoder)]
        if self.set_encoder in ("zi", "zi-m"):
            slope, offset = encoder.slope_and_offset()
            weight = slope if self.set_encoder == "zi" else torch.cat([slope, offset])
            linears[0].weight.copy_(weight.T)
            linears[0].bias.copy_(encoder.base)
            linears = linears[1:]
        else:
            self.identity.copy_(encoder.identity)
            _linears(self.h)[0].load_state_dict(encoder.layer.state_dict())
        sources = [*_linears(network.tail), *_linears(network.decoder)]
        for linear, source in zip(linears, sources, strict=True):
            linear.load_state_dict(source.state_dict())


def _make_layers(widths: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n_inputs, n_outputs in pairwise(widths):
        layers += [nn.Linear(n_inputs, n_outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _linears(module: nn.Module) -> list[nn.Linear]:
    return [layer for layer in module.modules() if isinstance(layer, nn.Linear)]


@dataclass(frozen=True)
class PlainTraining:
    """A straightforward training loop."""

    network: PlainNetwork
    rows: Tensor  # [rows, variables]
    recipe: Recipe
    optimiser: torch.optim.Optimizer
    random: torch.Generator

    def __call__(self, n_steps: int) -> None:
        recipe, random = self.recipe, self.random
        for _ in range(n_steps):
            values = self.rows[torch.randint(len(self.rows), (recipe.batch_size,), generator=random)]
            missing_rate = torch.rand((), generator=random) * recipe.max_missing
            observed = (torch.rand(values.shape, generator=random) >= missing_rate).float()
            noise = torch.randn(len(values), recipe.latent, generator=random)
            loss = self.network.loss(values, observed, noise)
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
