"""Likelihoods of quantities whose scale is an output of the network, too.

A marginal prediction p(x_d | x_O) has no z to mix over. It must itself be wide for one row and narrow
for the next.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from eddi.model.network.levels import MIN_RELATIVE_CHANGE
from eddi.model.network.likelihood import (
    LOG_SQRT_2PI,
    Count,
    Likelihood,
    VariableSpec,
)

LOGISTIC_SCALE = math.sqrt(3) / math.pi  # scale of a logistic distribution with standard deviation 1
MIN_SCALE = 1e-4  # of an inverted scale
MAX_SCALE = 80.0  # of an inverted scale, whose exponential is finite in float32


class HasScaleOutput(ABC):
    """A likelihood of quantities whose scale is an output, too."""

    @abstractmethod
    def scale_output(self, sd: Tensor) -> Tensor:
        """The outputs [..., n] that give these standard deviations, in coded units."""


class HeteroscedasticGaussian(Likelihood, HasScaleOutput):
    """A real variable: normal, with mean and standard deviation from the network."""

    shift: Tensor
    scale: Tensor
    calibration_params: Tensor

    def __init__(self, specs: Sequence[VariableSpec], *, floor: float) -> None:
        super().__init__(len(specs), n_outputs=2 * len(specs))
        exact = torch.tensor([(spec.shift, spec.scale) for spec in specs], dtype=torch.float64)
        self.register_buffer("shift", exact[:, 0], persistent=False)
        self.register_buffer("scale", exact[:, 1], persistent=False)
        self.floor = floor
        self.calibration_params = torch.ones(2, len(specs))

    def mean_and_sd(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and calibrated standard deviation in coded units, each [..., n]."""
        mean, raw = outputs.chunk(2, dim=-1)
        return mean, calibrate_scale(self.floor + F.softplus(raw), self.calibration_params)

    def scale_output(self, sd: Tensor) -> Tensor:
        return invert_softplus(sd - self.floor)

    def predictive_scale(self, outputs: Tensor) -> Tensor:
        return self.mean_and_sd(outputs)[1]

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        mean, sd = self.mean_and_sd(outputs)
        return -0.5 * ((values - mean) / sd).square() - sd.log() - LOG_SQRT_2PI

    def training_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """The log-likelihood times the sd: beta-NLL with beta 1/2 (Seitzer et al. 2022).

        With the plain likelihood, training gives up a mean that is hard to learn: its sd grows, and the
        gradient of the mean vanishes.
        """
        mean, sd = self.mean_and_sd(outputs)
        return (-0.5 * ((values - mean) / sd).square() - sd.log()) * sd.detach()

    def validation_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the continuous ranked probability score, in coded units (Gneiting & Raftery 2007).

        It is a proper score like the likelihood, but an sd that is too small does not dominate it.
        Calibration corrects the sd after training.
        """
        mean, sd = self.mean_and_sd(outputs)
        z = (values - mean) / sd
        density = torch.exp(-0.5 * z.square() - LOG_SQRT_2PI)
        score: Tensor = sd * (z * (2 * torch.special.ndtr(z) - 1) + 2 * density - math.pi**-0.5)
        return -score

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        mean, sd = self.mean_and_sd(outputs)
        return torch.special.ndtr((values - mean) / sd)  # type: ignore[no-any-return]

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        mean, sd = self.mean_and_sd(outputs)
        return mean + sd * torch.special.ndtri(level)  # type: ignore[no-any-return]

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        mean, sd = self.mean_and_sd(outputs)
        return mean * self.scale + self.shift, (sd * self.scale).square()

    def output_rows(self, places: Sequence[int]) -> list[int]:
        return [*places, *(self.n_variables + place for place in places)]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        return self.divergence_terms(outputs, other)[..., 0]

    def divergence_terms(self, outputs: Tensor, reference: Tensor) -> Tensor:
        """KL and changes of the mean and of the second moment around the reference mean.

        The changes are in units of the reference sd and variance.
        """
        (mean, sd), (mean2, sd2) = self.mean_and_sd(outputs), self.mean_and_sd(reference)
        mean_shift, sd_change = (mean - mean2) / sd2, (sd - sd2) / sd2
        squares = sd_change.square() + mean_shift.square()
        # log(sd2 / sd) + (sd / sd2)^2 / 2 - 1 / 2 without cancellation: most answers change little.
        divergence = sd_change - torch.log1p(sd_change) + 0.5 * squares
        return torch.stack([divergence, mean_shift, 2 * sd_change + squares], dim=-1)

    def mixture_kl(self, change: Tensor, reference: Tensor) -> Tensor:  # noqa: ARG002  # relative to it
        """KL(normal distribution with the moments of the mixture || reference)."""
        mean_shift, moment_change = change.unbind(-1)
        variance_change = (moment_change - mean_shift.square()).clamp_min(MIN_RELATIVE_CHANGE)
        return 0.5 * (variance_change - torch.log1p(variance_change) + mean_shift.square())


class HeteroscedasticCount(Count, HasScaleOutput):
    """A whole number from 0 up, with location and scale from the network."""

    calibration_params: Tensor

    def __init__(self, specs: Sequence[VariableSpec], *, floor: float) -> None:
        super().__init__(specs, floor=floor)
        del self.log_scale
        self.n_outputs = 2 * len(specs)
        self.calibration_params = torch.ones(2, len(specs))

    def location_and_scale(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        location, raw = outputs.chunk(2, dim=-1)
        return location, calibrate_scale(self.floor + F.softplus(raw), self.calibration_params)

    def scale_output(self, sd: Tensor) -> Tensor:
        return invert_softplus(sd * LOGISTIC_SCALE - self.floor)

    def output_rows(self, places: Sequence[int]) -> list[int]:
        return [*places, *(self.n_variables + place for place in places)]


def invert_softplus(scale: Tensor) -> Tensor:
    """The x with softplus(x) = ``scale``, which is limited to the range from MIN_SCALE to MAX_SCALE."""
    return torch.log(torch.expm1(scale.clamp(MIN_SCALE, MAX_SCALE)))


def calibrate_scale(scale: Tensor, calibration_params: Tensor) -> Tensor:
    """stretch * scale ** power; both are 1 until `training.calibration` sets them."""
    stretch, power = calibration_params.unbind()
    return torch.pow(scale, power).mul(stretch)
