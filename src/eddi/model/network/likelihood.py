"""p(x_d | z) or p(x_d | x_O): one likelihood per kind of variable, for a whole group of variables at once.

A likelihood turns the network's outputs for its variables into distributions over coded values. To add
one, subclass `Likelihood`, implement its four abstract methods, and map a `Kind` to it in
`network.decoder_likelihoods` or `marginals.marginal_likelihoods`. A marginal likelihood has no learned
parameters besides what `copy_data` copies: `Marginals.subset` builds it again for some of the variables.
All methods are batched over any leading shape.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.levels import (
    at_level,
    level_mixture_kl,
    level_moments,
    level_quantile,
    log_softmax_short,
)
from eddi.table.variable import Kind

LOG_SQRT_2PI = 0.9189385332046727
UNREACHABLE = 1e4  # a cut point or logit that no value reaches; finite, so that differences stay finite
MIN_GAP = 1e-12  # between cut points, so that the log probability of a level is finite
MAX_LOG_COUNT = 60.0  # the exponential of this is still finite in float32
N_QUANTILES = 64  # quadrature points for moments and divergences without a closed form


@dataclass(frozen=True)
class VariableSpec:
    """What the network knows of one variable: its kind, number of levels, and coding."""

    kind: Kind
    n_levels: int = 0
    shift: float = 0.0
    scale: float = 1.0


class Likelihood(nn.Module, ABC):
    """The distributions of a group of variables of one kind, given the network's outputs."""

    has_levels: ClassVar[bool] = False
    calibration_params: Tensor | None  # [2, n] stretch and power of the scale; None if not calibrated

    def __init__(self, n_variables: int, n_outputs: int) -> None:
        super().__init__()
        self.n_variables, self.n_outputs = n_variables, n_outputs
        self.register_buffer("calibration_params", None)

    @abstractmethod
    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Log density or log probability of coded values [..., n]."""

    @abstractmethod
    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        """P(X <= value) for each variable [..., n]."""

    @abstractmethod
    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        """The smallest value whose cdf reaches ``level`` in (0, 1) [..., n]; a draw, if it is uniform."""

    @abstractmethod
    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance in the table's own units [..., n]."""

    def probabilities(self, outputs: Tensor) -> Tensor:  # noqa: ARG002
        """Probability of every level [..., n, max levels], 0 for padding; only if `has_levels`."""
        raise TypeError(f"{type(self).__name__} has no levels.")

    def predictive_scale(self, outputs: Tensor) -> Tensor:
        """Scale of the distribution in coded units [..., n]; 0 for levels."""
        return outputs.new_zeros((*outputs.shape[:-1], self.n_variables))

    def training_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """What training maximises [..., n]: the log-likelihood, unless overridden."""
        return self.log_prob(outputs, values)

    def validation_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """What early stopping maximises [..., n]: the log-likelihood, unless overridden."""
        return self.log_prob(outputs, values)

    def copy_data(self, other: "Likelihood", places: Sequence[int]) -> None:
        """Copy what was learned from data, besides the network's weights, from variables of ``other``."""
        if other.calibration_params is not None:
            self.calibration_params = other.calibration_params[:, list(places)]

    def output_rows(self, places: Sequence[int]) -> list[int]:
        """Positions of the outputs that describe the variables at ``places``."""
        return list(places)

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        """KL(p || q) [..., n] for the outputs of p and those of ``other``, q; by quadrature by default."""
        level = (torch.arange(N_QUANTILES, device=outputs.device) + 0.5) / N_QUANTILES
        values = self.quantile(outputs[None], level.view(-1, *[1] * outputs.dim()))
        difference = self.log_prob(outputs[None], values) - self.log_prob(other[None], values)
        return difference.mean(0).clamp(
            min=0
        )  # the error of the quadrature may exceed a small divergence

    def divergence_terms(self, outputs: Tensor, reference: Tensor) -> Tensor:
        """KL(prediction || reference), then the differences of their moments [..., n, 1 + moments].

        The mean of the differences over predictions is that of the mixture of these predictions. By default,
        the moments are the probabilities of levels, and there are none without levels.
        """
        divergence = self.kl(outputs, reference)[..., None]
        if not self.has_levels:
            return divergence
        change = self.probabilities(outputs) - self.probabilities(reference)
        return torch.cat([divergence, change], dim=-1)

    def mixture_kl(self, change: Tensor, reference: Tensor) -> Tensor:
        """KL(mixture || reference) [..., n], for mean changes of moments; 0 if there are none."""
        if not self.has_levels:
            return change.new_zeros(change.shape[:-1])
        return level_mixture_kl(change, self.probabilities(reference))


class Gaussian(Likelihood):
    """A real variable: normal around the decoder's output.

    The noise is fixed, or learned for each variable with a floor that prevents its collapse.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, specs: Sequence[VariableSpec], *, noise: float | None, floor: float) -> None:
        super().__init__(len(specs), n_outputs=len(specs))
        # float64, since a table's values may be far from 0 and close together: years, dates.
        exact = torch.tensor([(spec.shift, spec.scale) for spec in specs], dtype=torch.float64)
        self.register_buffer("shift", exact[:, 0], persistent=False)
        self.register_buffer("scale", exact[:, 1], persistent=False)
        self.floor, self.noise = floor, noise
        if noise is None:
            self.log_noise = nn.Parameter(torch.full((len(specs),), 0.5).log())

    def sd(self) -> Tensor:
        """Standard deviation of the noise in coded units, [n] or [1]."""
        if self.noise is not None:
            return torch.full((1,), self.noise, device=self.scale.device)
        return self.floor + torch.exp(self.log_noise)

    def predictive_scale(self, outputs: Tensor) -> Tensor:
        return self.sd().expand_as(outputs)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        square = (values - outputs).square()
        if self.noise is not None:
            return square * (-0.5 / self.noise**2) - (math.log(self.noise) + LOG_SQRT_2PI)
        sd = self.sd()
        return torch.addcmul(-(sd.log() + LOG_SQRT_2PI), square, -0.5 / sd.square())

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        return torch.special.ndtr((values - outputs) / self.sd())  # type: ignore[no-any-return]

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        sd = self.sd() if self.noise is None else self.noise
        return torch.special.ndtri(level) * sd + outputs  # type: ignore[no-any-return]

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        variance = (self.sd() * self.scale).square()
        return outputs * self.scale + self.shift, variance.expand_as(outputs)


class Bernoulli(Likelihood):
    """A binary variable: the output is the log odds of the second level."""

    has_levels = True

    def __init__(self, specs: Sequence[VariableSpec]) -> None:
        super().__init__(len(specs), n_outputs=len(specs))

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        return values * outputs - F.softplus(outputs)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        return torch.where(values >= 1, 1.0, torch.where(values < 0, 0.0, torch.sigmoid(-outputs)))

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        return (level > torch.sigmoid(-outputs)).to(outputs.dtype)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        p = torch.sigmoid(outputs)
        return p, p * (1 - p)

    def probabilities(self, outputs: Tensor) -> Tensor:
        return torch.stack([torch.sigmoid(-outputs), torch.sigmoid(outputs)], dim=-1)

    def validation_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the Brier score; see `Categorical.validation_score`."""
        return -2 * (torch.sigmoid(outputs) - values).square()

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        # p (l - l') + log(1 - p) - log(1 - p'), with l the log odds
        return torch.sigmoid(outputs) * (outputs - other) - F.softplus(outputs) + F.softplus(other)


class Categorical(Likelihood):
    """A variable of unordered levels: a softmax over its outputs."""

    has_levels = True
    is_level: Tensor  # [n, max levels] False for padding
    output_index: Tensor  # [n, max levels] position of each level's output

    def __init__(self, specs: Sequence[VariableSpec]) -> None:
        counts = torch.tensor([spec.n_levels for spec in specs])
        first = counts.cumsum(0) - counts
        within = torch.arange(int(counts.max()))
        super().__init__(len(specs), n_outputs=int(counts.sum()))
        self.register_buffer("is_level", within < counts[:, None], persistent=False)
        index = torch.where(self.is_level, first[:, None] + within, 0)
        self.register_buffer("output_index", index, persistent=False)
        self.has_padding = bool((~self.is_level).any())

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Log probability of every level [..., n, max levels]; very small for padding."""
        if not self.has_padding:
            return log_softmax_short(outputs.reshape(*outputs.shape[:-1], *self.is_level.shape))
        padded = outputs[..., self.output_index].masked_fill(~self.is_level, -UNREACHABLE)
        return log_softmax_short(padded)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        return at_level(self.log_probs(outputs), values)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        below = self.probabilities(outputs).cumsum(-1)
        return torch.where(values < 0, 0.0, at_level(below, values.floor()).clamp(max=1))

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        return level_quantile(self.probabilities(outputs).cumsum(-1), self.is_level.sum(-1), level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return level_moments(self.probabilities(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        return self.log_probs(outputs).exp()

    def validation_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the Brier score (1950).

        It is a proper score like the likelihood, but overconfidence does not dominate it. Calibration
        corrects overconfidence after training.
        """
        probabilities = self.probabilities(outputs)
        return 2 * at_level(probabilities, values) - probabilities.square().sum(-1) - 1

    def output_rows(self, places: Sequence[int]) -> list[int]:
        rows = (self.output_index[place][self.is_level[place]].tolist() for place in places)
        return [row for variable_rows in rows for row in variable_rows]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        log_p, log_q = self.log_probs(outputs), self.log_probs(other)
        return (log_p.exp() * (log_p - log_q)).sum(-1)

    def divergence_terms(self, outputs: Tensor, reference: Tensor) -> Tensor:
        log_p, log_q = self.log_probs(outputs), self.log_probs(reference)
        p = log_p.exp()
        return torch.cat([(p * (log_p - log_q)).sum(-1, keepdim=True), p - log_q.exp()], dim=-1)


class Ordinal(Likelihood):
    """A variable of ordered levels: the output is a position relative to learned cut points.

    Proportional odds (McCullagh 1980): P(level <= k) = sigmoid(cut_k - output).
    """

    has_levels = True
    is_cut: Tensor  # [n, max levels - 1] False for padding
    counts: Tensor  # [n] number of levels

    def __init__(self, specs: Sequence[VariableSpec]) -> None:
        super().__init__(len(specs), n_outputs=len(specs))
        counts = torch.tensor([spec.n_levels for spec in specs])
        within = torch.arange(int(counts.max()) - 1)
        self.register_buffer("counts", counts, persistent=False)
        self.register_buffer("is_cut", within < counts[:, None] - 1, persistent=False)
        even = torch.logit((within + 1) / counts[:, None]).nan_to_num(posinf=0.0)
        steps = torch.diff(even, dim=-1).clamp(min=0.1)
        self.first = nn.Parameter(even[:, :1].clone())
        self.steps = nn.Parameter(torch.log(torch.expm1(steps)))

    def cuts(self) -> Tensor:
        """Cut points [n, max levels + 1], unreachable before the first level and after the last."""
        rising = torch.cat([self.first, self.first + F.softplus(self.steps).cumsum(-1)], dim=-1)
        inner = rising.masked_fill(~self.is_cut, UNREACHABLE)
        return F.pad(F.pad(inner, (1, 0), value=-UNREACHABLE), (0, 1), value=UNREACHABLE)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        cuts = self.cuts()
        upper, lower = at_level(cuts, values + 1), at_level(cuts, values)
        return _log_sigmoid_between(lower - outputs, upper - outputs, upper - lower)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        cuts = self.cuts()
        upper = at_level(cuts, (values + 1).clamp(min=0).floor())
        return torch.sigmoid(upper - outputs)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        below = torch.sigmoid(self.cuts()[:, 1:] - outputs[..., None])
        return level_quantile(below, self.counts, level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return level_moments(self.probabilities(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        return torch.diff(torch.sigmoid(self.cuts() - outputs[..., None]), dim=-1)

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        p, q = self.probabilities(outputs), self.probabilities(other)
        tiny = torch.finfo(p.dtype).tiny
        return (p * (p.clamp_min(tiny).log() - q.clamp_min(tiny).log())).sum(-1)


class Count(Likelihood):
    """A whole number from 0 up: a logistic distribution on the logarithmic scale, discretised.

    P(X <= k) = sigmoid((edge_k - location) / scale) with edge_k the coded value of k + 1/2. It is the
    ordinal likelihood with known cut points and a learned scale. Unlike a Poisson distribution, its
    variance may be smaller than its mean.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, specs: Sequence[VariableSpec], *, floor: float) -> None:
        super().__init__(len(specs), n_outputs=len(specs))
        self.floor = floor
        self.register_buffer("shift", torch.tensor([spec.shift for spec in specs]), False)
        self.register_buffer("scale", torch.tensor([spec.scale for spec in specs]), False)
        self.log_scale = nn.Parameter(torch.full((len(specs),), 0.3).log())

    def location_and_scale(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Location [..., n] and scale, both in coded units."""
        return outputs, self.floor + torch.exp(self.log_scale)

    def predictive_scale(self, outputs: Tensor) -> Tensor:
        location, scale = self.location_and_scale(outputs)
        return scale.expand_as(location)

    def _number(self, values: Tensor) -> Tensor:
        return torch.expm1(values * self.scale + self.shift).round().clamp(min=0)

    def _code(self, number: Tensor) -> Tensor:
        return (torch.log1p(number) - self.shift) / self.scale

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        number = self._number(values)
        location, scale = self.location_and_scale(outputs)
        lower = torch.where(number > 0, self._code((number - 0.5).clamp(min=0)) - location, -UNREACHABLE)
        upper = self._code(number + 0.5) - location
        # For a large number float32 cannot represent upper - lower.
        gap = torch.where(number > 0, torch.log1p(1 / (number + 0.5)) / self.scale, UNREACHABLE)
        return _log_sigmoid_between(lower / scale, upper / scale, gap / scale)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        whole = torch.expm1(values * self.scale + self.shift) + 1e-3  # float32 rounds whole numbers
        location, scale = self.location_and_scale(outputs)
        reached = torch.sigmoid((self._code(whole.floor() + 0.5) - location) / scale)
        return torch.where(whole < 0, 0.0, reached)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        location, scale = self.location_and_scale(outputs)
        point = location + scale * torch.logit(level)
        number = torch.expm1((point * self.scale + self.shift).clamp(max=MAX_LOG_COUNT)) - 0.5
        return self._code(number.ceil().clamp(min=0))

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        level = (torch.arange(N_QUANTILES, device=outputs.device) + 0.5) / N_QUANTILES
        points = self.quantile(outputs[None], level.view(-1, *[1] * outputs.dim()))
        numbers = self._number(points)
        mean = numbers.mean(0)
        return mean, (numbers - mean).square().mean(0)


def _log_sigmoid_between(lower: Tensor, upper: Tensor, gap: Tensor) -> Tensor:
    """log(sigmoid(upper) - sigmoid(lower)) without cancellation, where ``gap`` is upper - lower."""
    # σ(b) − σ(a) = σ(b) σ(−a) (1 − e^(a − b))
    gap = gap.clamp(min=MIN_GAP)
    return F.logsigmoid(upper) + F.logsigmoid(-lower) + torch.log(-torch.expm1(-gap))
