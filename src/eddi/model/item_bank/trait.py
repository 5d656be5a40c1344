"""A latent trait that items measure, and the scale on which it is reported."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eddi.errors import SchemaError

N_POINTS = 161  # of the grid; with 121 points, the posterior of 50 sharp items is already exact to 1e-6
RANGE = 6.0  # of the grid, in standard deviations of the population
MAX_UNIT = 1e9


@dataclass(frozen=True)
class Trait:
    """A latent trait with a normal distribution in the population.

    Args:
        name: of its variable.
        mean: of the population, on the scale of the item parameters.
        sd: of the population, on the scale of the item parameters.
        report_mean: the reported score of a trait of 0. By default, scores are T-scores: 50 + 10 theta.
        report_sd: how much a trait that is higher by 1 raises the reported score.
        unit: of the reported score.
    """

    name: str = "trait"
    mean: float = 0.0
    sd: float = 1.0
    report_mean: float = 50.0
    report_sd: float = 10.0
    unit: str = ""

    def __post_init__(self) -> None:
        numbers = (self.mean, self.sd, self.report_mean, self.report_sd)
        if not all(math.isfinite(number) and abs(number) <= MAX_UNIT for number in numbers):
            raise SchemaError(f"trait {self.name!r} has a number that is not finite or too large.")
        if not (self.sd >= 1 / MAX_UNIT and self.report_sd >= 1 / MAX_UNIT):
            raise SchemaError(f"trait {self.name!r} has a standard deviation that is not above 0.")

    @property
    def grid(self) -> NDArray[np.float64]:
        """Equally spaced values of the trait, on the scale of the item parameters [points]."""
        return self.mean + self.sd * np.linspace(-RANGE, RANGE, N_POINTS)

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Log probabilities of the grid's values in the population [points]."""
        log_density = -0.5 * ((self.grid - self.mean) / self.sd) ** 2
        return np.asarray(log_density - np.logaddexp.reduce(log_density))
