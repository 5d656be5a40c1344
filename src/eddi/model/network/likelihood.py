"""p(x_d | z): one likelihood a kind, each for a whole group of variables at once.

A likelihood turns the decoder's outputs for its variables into distributions over coded values. Four
verbs: `log_prob`, `cdf`, its inverse `quantile` (so a draw is the quantile of a uniform number), and
`moments`; those of levels also tell `probabilities`. All are batched over any leading shape.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.table.variable import Kind

LOG_SQRT_2PI = 0.9189385332046727
FAR = 1e4  # a cut point nothing reaches; finite, so that differences of two stay numbers
SMALLEST_GAP = 1e-12  # between cut points, so that the logarithm of a level's share is a number
LARGEST_LOG = 60.0  # of a count: its exponential is still a number in float32
N_QUANTILES = 64  # points of the quadrature for moments that have no closed form


@dataclass(frozen=True)
class Form:
    """How the network sees one variable: its kind, its levels, and what its coding did to it."""

    kind: Kind
    n_levels: int = 0
    shift: float = 0.0
    scale: float = 1.0


@runtime_checkable
class Likelihood(Protocol):
    """What the network needs of a group of variables of one kind."""

    n_outputs: int

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Log density or probability of coded values [..., n]."""

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        """P(X <= value) for each variable [..., n]."""

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        """The smallest value whose cdf reaches ``level`` in (0, 1) [..., n]."""

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance in the table's own numbers [..., n]."""


@runtime_checkable
class LevelLikelihood(Likelihood, Protocol):
    """A likelihood of levels, which can name the probability of each."""

    def probabilities(self, outputs: Tensor) -> Tensor:
        """Probability of every level [..., n, most levels], 0 where a variable has no such level."""


class Gaussian(nn.Module):
    """A real variable: normal around the decoder's output.

    The noise is fixed, or learned for each variable with a floor that keeps it from collapsing.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, forms: Sequence[Form], *, noise: float | None, floor: float) -> None:
        super().__init__()
        # float64, for a table's own numbers may stand far from 0 and close together: years, dates.
        exact = torch.tensor([(form.shift, form.scale) for form in forms], dtype=torch.float64)
        self.register_buffer("shift", exact[:, 0], persistent=False)
        self.register_buffer("scale", exact[:, 1], persistent=False)
        self.n_outputs, self.floor = len(forms), floor
        self.noise = noise
        if noise is None:
            self.log_noise = nn.Parameter(torch.full((len(forms),), 0.5).log())

    def sd(self) -> Tensor:
        if self.noise is not None:
            return torch.full((1,), self.noise, device=self.scale.device)
        return self.floor + torch.exp(self.log_noise)

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


class Bernoulli(nn.Module):
    """A binary variable: the decoder's output is the log odds of the second level."""

    def __init__(self, forms: Sequence[Form]) -> None:
        super().__init__()
        self.n_outputs = len(forms)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        return values * outputs - F.softplus(outputs)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        return torch.where(values >= 1, 1.0, torch.where(values < 0, 0.0, torch.sigmoid(-outputs)))

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        return (level > torch.sigmoid(-outputs)).to(outputs.dtype)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        chance = torch.sigmoid(outputs)
        return chance, chance * (1 - chance)

    def probabilities(self, outputs: Tensor) -> Tensor:
        return torch.stack([torch.sigmoid(-outputs), torch.sigmoid(outputs)], dim=-1)

    def exam_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the Brier score; see `Categorical.exam_score`."""
        return -2 * (torch.sigmoid(outputs) - values).square()

    def rows_of(self, places: Sequence[int]) -> list[int]:
        """Which outputs speak of the variables at these places."""
        return list(places)

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        """KL of what ``outputs`` say from what ``other`` outputs say [..., n]."""
        # p (l - l') + log(1 - p) - log(1 - p'), with l the log odds
        chance = torch.sigmoid(outputs)
        return chance * (outputs - other) - F.softplus(outputs) + F.softplus(other)


class Categorical(nn.Module):
    """A variable of unordered levels: a softmax over the decoder's outputs."""

    pad: Tensor
    real: Tensor

    def __init__(self, forms: Sequence[Form]) -> None:
        super().__init__()
        counts = torch.tensor([form.n_levels for form in forms])
        first = counts.cumsum(0) - counts
        within = torch.arange(int(counts.max()))
        self.n_outputs = int(counts.sum())
        self.register_buffer("real", within < counts[:, None], persistent=False)
        self.register_buffer("pad", torch.where(self.real, first[:, None] + within, 0), False)

    def log_probs(self, outputs: Tensor) -> Tensor:
        """Log probability of every level [..., n, most levels]; -FAR where there is none."""
        padded = outputs[..., self.pad].masked_fill(~self.real, -FAR)
        return F.log_softmax(padded, dim=-1)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        return _at_level(self.log_probs(outputs), values)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        below = self.probabilities(outputs).cumsum(-1)
        return torch.where(values < 0, 0.0, _at_level(below, values.floor()).clamp(max=1))

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        return _level_quantile(self.probabilities(outputs).cumsum(-1), self.real.sum(-1), level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return _level_moments(self.probabilities(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        return self.log_probs(outputs).exp()

    def exam_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the Brier score (1950): proper as the likelihood is, but a belief that is too sure of
        itself does not hide how often it is right; how sure it may be is put right after training.
        """
        chances = self.probabilities(outputs)
        return 2 * _at_level(chances, values) - chances.square().sum(-1) - 1

    def rows_of(self, places: Sequence[int]) -> list[int]:
        """Which outputs speak of the variables at these places."""
        return [row for place in places for row in self.pad[place][self.real[place]].tolist()]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        """KL of what ``outputs`` say from what ``other`` outputs say [..., n]."""
        ours, theirs = self.log_probs(outputs), self.log_probs(other)
        return (ours.exp() * (ours - theirs)).sum(-1)


class Ordinal(nn.Module):
    """A variable of ordered levels: the decoder's output moves along learned cut points.

    Proportional odds (McCullagh 1980): P(level <= k) = sigmoid(cut_k - output).
    """

    real: Tensor
    counts: Tensor

    def __init__(self, forms: Sequence[Form]) -> None:
        super().__init__()
        self.n_outputs = len(forms)
        counts = torch.tensor([form.n_levels for form in forms])
        within = torch.arange(int(counts.max()) - 1)
        self.register_buffer("counts", counts, persistent=False)
        self.register_buffer("real", within < counts[:, None] - 1, persistent=False)
        even = torch.logit((within + 1) / counts[:, None]).nan_to_num(posinf=0.0)
        steps = torch.diff(even, dim=-1).clamp(min=0.1)
        self.first = nn.Parameter(even[:, :1].clone())
        self.steps = nn.Parameter(torch.log(torch.expm1(steps)))

    def cuts(self) -> Tensor:
        """Cut points [n, most levels + 1], from -FAR before the first level to FAR after the last."""
        rising = torch.cat([self.first, self.first + F.softplus(self.steps).cumsum(-1)], dim=-1)
        inner = rising.masked_fill(~self.real, FAR)
        return F.pad(F.pad(inner, (1, 0), value=-FAR), (0, 1), value=FAR)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        cuts = self.cuts()
        upper, lower = _at_level(cuts, values + 1), _at_level(cuts, values)
        return _log_sigmoid_between(lower - outputs, upper - outputs, upper - lower)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        cuts = self.cuts()
        upper = _at_level(cuts, (values + 1).clamp(min=0).floor())
        return torch.sigmoid(upper - outputs)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        below = torch.sigmoid(self.cuts()[:, 1:] - outputs[..., None])
        return _level_quantile(below, self.counts, level)

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return _level_moments(self.probabilities(outputs))

    def probabilities(self, outputs: Tensor) -> Tensor:
        return torch.diff(torch.sigmoid(self.cuts() - outputs[..., None]), dim=-1)


class Count(nn.Module):
    """A whole number from 0 up: a logistic on the logarithmic scale, seen through whole numbers.

    P(X <= k) = sigmoid((edge_k - output) / spread) with edge_k the coded value of k + 1/2. It is the
    ordinal likelihood with known cut points and a learned spread: unlike a Poisson it may be narrower
    than its mean as well as wider.
    """

    shift: Tensor
    scale: Tensor

    def __init__(self, forms: Sequence[Form], *, floor: float) -> None:
        super().__init__()
        self.n_outputs, self.floor = len(forms), floor
        self.register_buffer("shift", torch.tensor([form.shift for form in forms]), False)
        self.register_buffer("scale", torch.tensor([form.scale for form in forms]), False)
        self.log_spread = nn.Parameter(torch.full((len(forms),), 0.3).log())

    def spread(self) -> Tensor:
        return self.floor + torch.exp(self.log_spread)

    def place_and_spread(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        return outputs, self.spread()

    def _number(self, values: Tensor) -> Tensor:
        return torch.expm1(values * self.scale + self.shift).round().clamp(min=0)

    def _code(self, number: Tensor) -> Tensor:
        return (torch.log1p(number) - self.shift) / self.scale

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        number = self._number(values)
        outputs, spread = self.place_and_spread(outputs)
        lower = torch.where(number > 0, self._code((number - 0.5).clamp(min=0)) - outputs, -FAR)
        upper = self._code(number + 0.5) - outputs
        # The edges of a large number differ by less than float32 tells apart, so not upper - lower.
        gap = torch.where(number > 0, torch.log1p(1 / (number + 0.5)) / self.scale, FAR)
        return _log_sigmoid_between(lower / spread, upper / spread, gap / spread)

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        whole = torch.expm1(values * self.scale + self.shift) + 1e-3  # float32 keeps whole ones so
        outputs, spread = self.place_and_spread(outputs)
        reached = torch.sigmoid((self._code(whole.floor() + 0.5) - outputs) / spread)
        return torch.where(whole < 0, 0.0, reached)

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        outputs, spread = self.place_and_spread(outputs)
        point = outputs + spread * torch.logit(level)
        number = torch.expm1((point * self.scale + self.shift).clamp(max=LARGEST_LOG)) - 0.5
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
    gap = gap.clamp(min=SMALLEST_GAP)
    return F.logsigmoid(upper) + F.logsigmoid(-lower) + torch.log(-torch.expm1(-gap))


def _at_level(by_level: Tensor, values: Tensor) -> Tensor:
    index = values.round().long().clamp(0, by_level.shape[-1] - 1)
    # values may lack the axis of the draws
    shape = torch.broadcast_shapes(by_level.shape[:-1], index.shape)  # type: ignore[no-untyped-call]
    return by_level.expand(*shape, -1).gather(-1, index.expand(shape)[..., None]).squeeze(-1)


def _level_quantile(below: Tensor, counts: Tensor, level: Tensor) -> Tensor:
    reached = (below < level[..., None]).sum(-1)
    return torch.minimum(reached, counts - 1).to(below.dtype)


def _level_moments(probabilities: Tensor) -> tuple[Tensor, Tensor]:
    position = torch.arange(probabilities.shape[-1], device=probabilities.device).float()
    mean = (probabilities * position).sum(-1)
    return mean, (probabilities * (position - mean[..., None]).square()).sum(-1)
