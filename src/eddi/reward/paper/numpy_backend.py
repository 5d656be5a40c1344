"""The latent reward of a single row, with fewer and cheaper calls.

A respondent waits for the reward of one row. Its layers are so small that a call takes longer than its
arithmetic, and a NumPy call is cheaper than a torch call. So everything but the one large pass through
the tail is done in NumPy, on the same memory as the weights.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from eddi.model.base import NetworkModel
from eddi.model.network.likelihood import Gaussian
from eddi.model.network.mlp import MLP, Weights
from eddi.model.network.network import LOG_VAR_RANGE
from eddi.reward.candidates import RevealedVariables
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

MAX_PASSES = 8_192  # through the tail; larger batches are left to PyTorch

Array = NDArray[np.float32]
Layers = tuple[tuple[Array, Array], ...]


@dataclass(frozen=True)
class NumpyBackend:
    """A model of Gaussian variables as plain arrays."""

    model: NetworkModel
    slope: Array  # [variables, width]
    offset: Array  # [variables, width]
    base: Array  # [width]
    has_relu: bool
    tail: Layers
    relu_first: bool
    decoder: Layers
    noise_sd: Array  # [variables] or [1]

    @classmethod
    def from_model(cls, model: NetworkModel) -> "NumpyBackend | None":
        """Pack a model; None if it is on a GPU, or not a plain Gaussian network."""
        network, frozen = model.network, model.frozen
        if frozen.device.type != "cpu" or any(s.kind is not Kind.REAL for s in network.specs):
            return None
        if not isinstance(network.tail, MLP) or network.set_encoder.splines is not None:
            return None
        noise = network.likelihoods[Kind.REAL.value]
        assert isinstance(noise, Gaussian)  # noqa: S101  # all variables are real
        return cls(
            model=model,
            slope=frozen.encoder.slope.numpy(),
            offset=frozen.encoder.offset.numpy(),
            base=frozen.encoder.base.numpy(),
            has_relu=frozen.encoder.has_relu,
            tail=_arrays(network.tail.weights()),
            relu_first=network.tail.relu_first,
            decoder=_arrays(network.decoder.weights()),
            noise_sd=noise.sd().numpy(),
        )

    def rewards(
        self, evidence: Evidence, target: list[int], *, n_draws: int, seed: int
    ) -> Tensor | None:
        """The rewards [1, questions]; None for several rows, or for very many questions."""
        n_questions = len(self.model.schema.questions)
        if len(evidence) != 1 or 2 * n_draws * n_questions > MAX_PASSES:
            return None
        rewards = np.zeros(n_questions, dtype=np.float32)
        observed = evidence.observed[0]
        hidden_target = [position for position in target if not observed[position]]
        revealed = RevealedVariables.from_model(self.model, target)
        is_new = ~observed[revealed.variable]
        question, variable = revealed.question[is_new], revealed.variable[is_new]  # [cells]
        if not hidden_target or not len(question):
            return torch.from_numpy(rewards)[None]
        code = self.code(evidence)
        cells = np.concatenate((variable, hidden_target))
        drawn = self.draw(code, n_draws, seed=seed)[:, cells]
        terms = self.term(drawn, cells)  # [draws, cells, width]
        answers, target_terms = terms[:, : len(question)], terms[:, len(question) :].sum(1)
        if not revealed.is_single:
            first = np.append(True, question[1:] != question[:-1]).nonzero()[0]
            answers, question = np.add.reduceat(answers, first, axis=1), question[first]
        rewards[question] = self._gain(code, target_terms, answers)
        return torch.from_numpy(rewards)[None]

    def code(self, evidence: Evidence) -> Array:
        """The additive code of the row [width]."""
        evidence = self.model.coding.limit(evidence)
        variables = evidence.observed[0].nonzero()[0]
        terms = self.term(evidence.values[0, variables], variables)
        return np.asarray(terms.sum(0) + self.base)

    def term(self, values: Array, variables: NDArray[np.int64]) -> Array:
        """The terms that coded answers [..., n] to n variables add to the code [..., n, width]."""
        terms = values[..., None] * self.slope[variables]
        terms += self.offset[variables]
        return _relu(terms) if self.has_relu else terms

    def draw(self, code: Array, n_draws: int, *, seed: int) -> Array:
        """Joint draws of all variables [draws, variables], equal to those of `NetworkModel.draw`."""
        both = _forward(np.maximum(code, 0) if self.relu_first else code, self.tail)
        mean, log_var = both.reshape(2, -1)
        latent, noise = self.model.cache.get(
            ("numpy_noise", n_draws, seed), lambda: self._noise(n_draws, seed)
        )
        z = mean + latent * np.exp(0.5 * log_var.clip(*LOG_VAR_RANGE))
        return _forward(z, self.decoder) + noise * self.noise_sd

    def _noise(self, n_draws: int, seed: int) -> tuple[Array, Array]:
        """Standard normal numbers for z and for the variables."""
        latent, level = self.model.joint_noise(n_draws, seed)
        return latent.numpy(), torch.special.ndtri(level).numpy()

    def _gain(self, code: Array, target: Array, answers: Array) -> Array:
        """The reward of each question.

        Args:
            code: of the evidence [width].
            target: terms of the target [draws, width].
            answers: terms of each answer [draws, questions, width].
        """
        n_draws, n_questions, width = answers.shape
        codes = np.empty((2, n_draws, n_questions + 1, width), dtype=np.float32)
        codes[0, :, -1] = code  # the last column has no answer: what the others are compared with
        np.add(code, target, out=codes[1, :, -1])
        np.add(codes[:, :, -1:], answers, out=codes[:, :, :-1])
        with torch.inference_mode():
            posterior = self.model.posterior(torch.from_numpy(codes))
        mean, log_var = posterior.mean.numpy(), posterior.log_var.numpy()  # [2, draws, q + 1, latent]
        before, after = log_var[:, :, -1:], log_var[:, :, :-1]
        # KL(after || before) as in `Posterior.kl`, without a constant that cancels in the difference.
        divergence = mean[:, :, :-1] - mean[:, :, -1:]
        divergence *= divergence
        divergence += np.exp(after)
        divergence *= np.exp(-before)
        divergence -= after
        nats = (divergence.sum(-1) + before.sum(-1)).sum(1)  # [2, questions]
        return np.asarray((nats[0] - nats[1]) * np.float32(0.5 / n_draws))


def _arrays(layers: list[Weights]) -> Layers:
    return tuple((weight.numpy().T, bias.numpy()) for weight, bias in layers)


def _forward(x: Array, layers: Layers) -> Array:
    """Linear layers with a relu between them."""
    (weight, bias), *rest = layers
    out = x @ weight + bias
    for weight, bias in rest:
        out = _relu(out) @ weight
        out += bias
    return out


def _relu(x: Array) -> Array:
    return np.maximum(x, 0, out=x)
