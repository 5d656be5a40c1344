"""Likelihoods of quantities whose spread the network tells, not only their place.

A belief that comes straight from what is seen has no z to mix over, so it must be able by itself to be
broad for one row and narrow for the next.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from eddi.model.network.likelihood import LOG_SQRT_2PI, Count, Form

KL_POINTS = 64  # of the quadrature for divergences that have no closed form


class FreeGaussian(nn.Module):
    """A real variable: normal, its mean and its spread both told by the network."""

    shift: Tensor
    scale: Tensor
    dial: Tensor  # [2, n] what calibration stretches a spread by, and the power it raises it to before

    def __init__(self, forms: Sequence[Form], *, floor: float) -> None:
        super().__init__()
        exact = torch.tensor([(form.shift, form.scale) for form in forms], dtype=torch.float64)
        self.register_buffer("shift", exact[:, 0], persistent=False)
        self.register_buffer("scale", exact[:, 1], persistent=False)
        self.n_outputs, self.floor = 2 * len(forms), floor
        self.register_buffer("dial", torch.ones(2, len(forms)))

    def place_and_spread(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        mean, spread = outputs.chunk(2, dim=-1)
        return mean, _dialled(self.floor + F.softplus(spread), self.dial)

    def log_prob(self, outputs: Tensor, values: Tensor) -> Tensor:
        mean, sd = self.place_and_spread(outputs)
        return -0.5 * ((values - mean) / sd).square() - sd.log() - LOG_SQRT_2PI

    def fit_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """The log-likelihood times the spread, as beta-NLL with beta 1/2 (Seitzer et al. 2022).

        By likelihood alone a mean that is hard to learn is given up: its spread grows, and with it the
        gradient vanishes.
        """
        mean, sd = self.place_and_spread(outputs)
        return (-0.5 * ((values - mean) / sd).square() - sd.log()) * sd.detach()

    def exam_score(self, outputs: Tensor, values: Tensor) -> Tensor:
        """Minus the continuous ranked probability score, in coded units (Gneiting & Raftery 2007).

        Proper as the likelihood is, but a belief that is too narrow does not hide how good its mean is;
        widths are put right after training.
        """
        mean, sd = self.place_and_spread(outputs)
        z = (values - mean) / sd
        density = torch.exp(-0.5 * z.square() - LOG_SQRT_2PI)
        score: Tensor = sd * (z * (2 * torch.special.ndtr(z) - 1) + 2 * density - math.pi**-0.5)
        return -score

    def cdf(self, outputs: Tensor, values: Tensor) -> Tensor:
        mean, sd = self.place_and_spread(outputs)
        return torch.special.ndtr((values - mean) / sd)  # type: ignore[no-any-return]

    def quantile(self, outputs: Tensor, level: Tensor) -> Tensor:
        mean, sd = self.place_and_spread(outputs)
        return mean + sd * torch.special.ndtri(level)  # type: ignore[no-any-return]

    def moments(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        mean, sd = self.place_and_spread(outputs)
        return mean * self.scale + self.shift, (sd * self.scale).square()

    def rows_of(self, places: Sequence[int]) -> list[int]:
        """Which outputs speak of the variables at these places."""
        return [*places, *(self.n_outputs // 2 + place for place in places)]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        """KL of what ``outputs`` say from what ``other`` outputs say [..., n]."""
        (mean, sd), (mean2, sd2) = self.place_and_spread(outputs), self.place_and_spread(other)
        return torch.log(sd2 / sd) + 0.5 * ((sd / sd2).square() + ((mean - mean2) / sd2).square() - 1)


class FreeCount(Count):
    """A whole number from 0 up, whose spread the network tells too."""

    dial: Tensor  # as that of `FreeGaussian`

    def __init__(self, forms: Sequence[Form], *, floor: float) -> None:
        super().__init__(forms, floor=floor)
        del self.log_spread
        self.n_outputs = 2 * len(forms)
        self.register_buffer("dial", torch.ones(2, len(forms)))

    def place_and_spread(self, outputs: Tensor) -> tuple[Tensor, Tensor]:
        place, spread = outputs.chunk(2, dim=-1)
        return place, _dialled(self.floor + F.softplus(spread), self.dial)

    def rows_of(self, places: Sequence[int]) -> list[int]:
        """Which outputs speak of the variables at these places."""
        return [*places, *(self.n_outputs // 2 + place for place in places)]

    def kl(self, outputs: Tensor, other: Tensor) -> Tensor:
        """KL of what ``outputs`` say from what ``other`` outputs say [..., n], by quadrature."""
        level = (torch.arange(KL_POINTS, device=outputs.device) + 0.5) / KL_POINTS
        level = level.view(-1, *[1] * outputs.dim())
        values = self.quantile(outputs[None], level)
        gaps = self.log_prob(outputs[None], values) - self.log_prob(other[None], values)
        return gaps.mean(0)


def _dialled(spread: Tensor, dial: Tensor) -> Tensor:
    """stretch * spread ** power, both of which are 1 until `calibration` turns the dials."""
    stretch, power = dial
    return torch.pow(spread, power).mul(stretch)
