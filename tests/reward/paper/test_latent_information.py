"""The paper's reward, whichever back end computes it."""

import numpy as np
import pytest
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.errors import SchemaError
from eddi.reward.paper.latent_information import latent_information
from eddi.reward.paper.numpy_backend import NumpyBackend
from eddi.reward.paper.options import JointDraws
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.table.evidence import Evidence


@pytest.fixture
def rows(fitted, people):
    """Partially observed rows."""
    hidden = np.random.default_rng(1).random((12, 8)) < 0.6
    return fitted.evidence(people(12, 3)).hide(hidden)


def test_closed_questions_and_the_target_have_no_reward(fitted, rows):
    rewards = latent_information(fitted, rows, ["weight"], n_draws=20, seed=0)
    assert rewards.shape == (12, 8)
    closed = rows.observed | rows.observed[:, [5]]
    closed[:, 5] = True
    assert ((rewards == 0).numpy() == closed).all()


def test_a_completely_observed_row_has_no_rewards(fitted, people):
    complete = fitted.evidence(people(2, 1, missing=0))
    assert (latent_information(fitted, complete, ["age"], n_draws=5, seed=0) == 0).all()


def test_an_empty_batch_has_no_rewards(fitted):
    rewards = latent_information(fitted, Evidence.empty(0, 8), ["age"], n_draws=5, seed=0)
    assert rewards.shape == (0, 8)


def test_naming_a_target_twice_changes_nothing(fitted, rows):
    once, twice = (
        latent_information(fitted, rows, target, n_draws=10, seed=0)
        for target in (["weight", "age"], ["weight", "age", "weight"])
    )
    assert torch.equal(once, twice)


def test_the_error_about_an_unknown_target_names_it(fitted, rows):
    with pytest.raises(SchemaError, match="'height'"):
        latent_information(fitted, rows, ["height"], n_draws=10, seed=0)


def test_rewards_may_be_modified_in_place(fitted, rows):
    rewards = latent_information(fitted, rows, ["weight"], n_draws=5, seed=0)
    rewards[:, 0] = -torch.inf
    assert not rewards.requires_grad


@pytest.mark.parametrize("target", ["weight", "smoker"])
def test_enumerating_levels_agrees_with_many_draws(fitted, target, monkeypatch):
    no_answers = Evidence.empty(1, 8)
    enumerated = latent_information(fitted, no_answers, [target], n_draws=4_096, seed=0)
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 0)
    drawn = latent_information(fitted, no_answers, [target], n_draws=4_096, seed=0)
    assert not torch.equal(enumerated, drawn)
    torch.testing.assert_close(enumerated, drawn, rtol=0, atol=0.02)


def test_enumerating_levels_reduces_the_monte_carlo_error(fitted, monkeypatch):
    names = [question.name for question in fitted.schema.questions]
    with_levels = [names.index(name) for name in ("smoker", "pain", "town", "colour", "stage")]

    def standard_error():
        no_answers = Evidence.empty(1, 8)
        by_seed = [
            latent_information(fitted, no_answers, ["weight"], n_draws=32, seed=seed)[0]
            for seed in range(24)
        ]
        return torch.stack(by_seed).std(0)[with_levels].mean()

    enumerated = standard_error()
    monkeypatch.setattr("eddi.reward.paper.options.MAX_LEVELS", 0)
    assert enumerated < 0.6 * standard_error()


@pytest.fixture(scope="module")
def panel():
    """Twenty quantities with one common factor; one question reveals three of them."""
    random = np.random.default_rng(0)
    table = random.normal(size=(200, 1)) + 0.5 * random.normal(size=(200, 20))
    schema = Schema(tuple(Variable(f"x{place}", "real") for place in range(20)))
    schema = schema.with_question("panel", reveals=["x0", "x1", "x2"])
    return PartialVAE(schema, recipe="paper", max_steps=300, random_state=0).fit(table).fitted()


def test_the_variables_that_a_question_reveals_are_drawn_jointly(panel):
    no_answers = Evidence.empty(1, 20)
    rewards = latent_information(panel, no_answers, ["x19"], n_draws=64, seed=0)[0]
    code = panel.code(no_answers)
    draws = JointDraws.from_code(panel, code, 64, seed=0)
    answer = panel.term(draws.values[..., :3], [0, 1, 2]).sum(-2)
    with_target = code + panel.term(draws.values[..., 19:], [19])[..., 0, :]
    first = panel.posterior(code + answer).kl(panel.posterior(code))
    second = panel.posterior(with_target + answer).kl(panel.posterior(with_target))
    assert float(rewards[0]) == pytest.approx(float((first - second).mean()), abs=1e-5)


def test_questions_are_scored_for_a_target_of_many_variables(panel):
    target = [f"x{place}" for place in range(4, 20)]
    rewards = latent_information(panel, Evidence.empty(2, 20), target, n_draws=32, seed=0)
    assert (rewards[:, 2:] == 0).all()  # only panel and x3 do not reveal a target
    assert (rewards[:, :2] != 0).all()
    assert torch.allclose(rewards[0], rewards[1], atol=1e-5)


def test_the_numpy_back_end_serves_a_single_row_and_pytorch_a_batch(panel, monkeypatch):
    used = []
    for backend in (NumpyBackend, TorchBackend):

        def rewards(self, *args, original=backend.rewards, name=backend.__name__, **options):
            found = original(self, *args, **options)
            used.append((name, found is not None))
            return found

        monkeypatch.setattr(backend, "rewards", rewards)
    latent_information(panel, Evidence.empty(1, 20), ["x19"], n_draws=8, seed=0)
    assert used == [("NumpyBackend", True)]
    used.clear()
    latent_information(panel, Evidence.empty(2, 20), ["x19"], n_draws=8, seed=0)
    assert used == [("NumpyBackend", False), ("TorchBackend", True)]
