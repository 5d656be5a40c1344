"""Joint draws by the chain rule: observed values stay, and drawn values depend on each other."""

import numpy as np
import pandas as pd
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.sampling import sample_missing
from eddi.table.variable import Kind


@pytest.fixture(scope="module")
def predictor(small_recipe):
    """The marginal predictions of two correlated variables and an independent one."""
    random = np.random.default_rng(0)
    x = random.normal(size=600)
    table = pd.DataFrame({"a": x, "b": x + 0.1 * random.normal(size=600), "c": random.normal(size=600)})
    schema = Schema(tuple(Variable(name, Kind.REAL) for name in "abc"))
    model = PartialVAE(schema, recipe=small_recipe, max_steps=200, random_state=0, device="cpu").fit(
        table
    )
    return model.fitted().marginal_predictor


def draw_levels(*shape):
    return torch.rand(shape, generator=torch.Generator().manual_seed(1))


def test_draws_keep_observed_values_and_the_correlation_of_missing_ones(predictor):
    values, observed = torch.zeros(1, 3), torch.zeros(1, 3)
    values[0, 2], observed[0, 2] = 0.7, 1.0
    drawn = sample_missing(predictor, values, observed, draw_levels(2_000, 1, 3))[:, 0]
    assert torch.equal(drawn[:, 2], torch.full((2_000,), 0.7))
    assert np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1] > 0.9  # independent draws would have none
    assert 0.8 < drawn[:, 0].std() < 1.2


def test_several_variables_are_drawn_per_step_in_wide_tables(predictor, monkeypatch):
    monkeypatch.setattr("eddi.model.inference.sampling.MAX_STEPS", 2)
    zeros = torch.zeros(4, 3)
    drawn = sample_missing(predictor, zeros, zeros, draw_levels(50, 4, 3))
    assert drawn.shape == (50, 4, 3)
    assert torch.isfinite(drawn).all()
