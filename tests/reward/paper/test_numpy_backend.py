"""The latent reward of a single row in NumPy equals that of the PyTorch back end."""

import numpy as np
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.reward.paper import numpy_backend
from eddi.reward.paper.numpy_backend import NumpyBackend
from eddi.reward.paper.torch_backend import TorchBackend

ENCODERS = ("zi", "zi-m", "pn", "pnp")


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    return random.normal(size=(200, 2)) @ random.normal(size=(2, 7)) + random.normal(size=(200, 7))


@pytest.fixture(scope="module", params=ENCODERS)
def fitted(request, table):
    """A model of quantities; one question reveals three of them."""
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(7)))
    schema = schema.with_question("panel", reveals=["x1", "x3", "x4"])
    model = PartialVAE(
        schema, recipe="paper", set_encoder=request.param, max_steps=100, random_state=0, device="cpu"
    )
    return model.fit(table).fitted()


@pytest.fixture(scope="module")
def backend(fitted):
    return NumpyBackend.from_model(fitted)


@pytest.mark.parametrize("target", [[6], [5, 6], [0, 3]])
@pytest.mark.parametrize("observed", [[], [2], [1, 2], [0, 5], [0, 1, 2, 3, 4]])
def test_rewards_equal_those_of_pytorch(fitted, backend, table, target, observed):
    hidden = [place for place in range(7) if place not in observed]
    row = fitted.evidence(table[:1]).hide(hidden)
    rewards = backend.rewards(row, target, n_draws=30, seed=5)
    assert rewards.shape == (1, len(fitted.schema.questions))
    expected = TorchBackend(fitted).rewards(row, target, n_draws=30, seed=5)
    torch.testing.assert_close(rewards, expected, rtol=1e-4, atol=1e-5)


def test_a_row_whose_target_is_observed_has_no_rewards(fitted, backend, table):
    row = fitted.evidence(table[:1]).hide([0, 1])
    assert (backend.rewards(row, [6], n_draws=30, seed=0) == 0).all()


def test_a_row_without_an_open_question_has_no_rewards(fitted, backend, table):
    row = fitted.evidence(table[:1]).hide([6])
    assert (backend.rewards(row, [6], n_draws=30, seed=0) == 0).all()


def test_codes_and_draws_equal_those_of_the_model(fitted, backend, table):
    row = fitted.evidence(table[:1]).hide([3, 6])
    code = backend.code(row)
    torch.testing.assert_close(torch.from_numpy(code), fitted.code(row)[0], rtol=1e-4, atol=1e-5)
    drawn = backend.draw(code, 16, seed=3)
    expected = fitted.draw(fitted.posterior(fitted.code(row)), 16, seed=3)[:, 0]
    torch.testing.assert_close(torch.from_numpy(drawn), expected, rtol=1e-4, atol=1e-4)


def test_several_rows_and_very_many_questions_are_left_to_pytorch(backend, fitted, table, monkeypatch):
    rows = fitted.evidence(table[:2]).hide([5, 6])
    assert backend.rewards(rows, [6], n_draws=30, seed=0) is None
    assert backend.rewards(rows[:1], [6], n_draws=30, seed=0) is not None
    monkeypatch.setattr(numpy_backend, "MAX_PASSES", 100)
    assert backend.rewards(rows[:1], [6], n_draws=30, seed=0) is None


def test_a_model_with_levels_is_not_supported(people_model):
    assert NumpyBackend.from_model(people_model(set_encoder="pnp").fitted()) is None
