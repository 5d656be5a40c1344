"""A latent trait: its grid, its prior and invalid numbers."""

import math

import numpy as np
import pytest

from eddi.errors import SchemaError
from eddi.model.item_bank.trait import Trait


def test_the_prior_has_the_moments_of_the_population():
    trait = Trait(mean=0.5, sd=2.0)
    probability = np.exp(trait.log_prior)
    mean = probability @ trait.grid
    assert probability.sum() == pytest.approx(1)
    assert mean == pytest.approx(0.5)
    assert math.sqrt(probability @ (trait.grid - mean) ** 2) == pytest.approx(2.0, rel=1e-4)


@pytest.mark.parametrize(
    "settings", [{"sd": 0.0}, {"report_sd": -1.0}, {"mean": math.nan}, {"sd": 1e12}]
)
def test_invalid_numbers_are_refused(settings):
    with pytest.raises(SchemaError, match="trait 'trait' has a"):
        Trait(**settings)
