"""The reward benchmark compares equal rewards, and prints and stores its measurements."""

import json

import numpy as np
import pytest
import torch

from eddi.reward.paper.latent_information import latent_information
from eddi_benchmarks.__main__ import main
from eddi_benchmarks.speed import reward_speed
from eddi_benchmarks.speed.plain_network import ComparisonError

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def no_datasets(data):
    """Without datasets, random rows of the same sizes are used."""


@pytest.fixture(scope="module")
def small():
    return reward_speed.fit_numbers(np.random.default_rng(0).random((60, 5)))


def test_the_plain_implementation_gives_our_rewards(small):
    model, rows = small
    plain = reward_speed.PlainReward.from_model(model)
    evidence = rows[:1].hide([1, 3, 4])
    expected = plain.score(evidence, 4, n_draws=10, seed=3)
    ours = latent_information(model, evidence, ["x4"], n_draws=10, seed=3)
    assert (expected != 0).sum() == 2
    torch.testing.assert_close(ours, expected, rtol=1e-3, atol=1e-4)


def test_rewards_that_differ_are_not_compared():
    with pytest.raises(ComparisonError, match=r"differ by 0\.5 nats"):
        reward_speed.check_rewards(torch.zeros(1, 3), torch.tensor([[0.0, 0.5, 0.0]]))


def test_an_interview_asks_everything_once_and_the_best_question_first(small):
    _, rows = small
    order = reward_speed.interview(lambda _: torch.tensor([[1.0, 5.0, 3.0, 2.0, 9.0]]), rows[:1], 4)
    assert order == [1, 2, 3, 0]


def test_each_answer_of_an_interview_is_observed(small):
    _, rows = small
    n_observed = []

    def score(evidence):
        n_observed.append(evidence.observed.sum())
        return torch.zeros(1, 5)

    reward_speed.interview(score, rows[:1], 4)
    assert n_observed == [0, 1, 2, 3]


def test_plain_draws_differ_from_quasi_random_draws(small):
    model, rows = small
    plain = reward_speed.PlainDraws(model)
    posterior = model.posterior(model.code(rows[:2]))
    draws = plain.draw(posterior, 6, seed=0)
    assert draws.shape == (6, 2, 5)
    assert not torch.equal(draws, model.draw(posterior, 6, seed=0))
    assert plain.level_probabilities(posterior, 6, seed=0) == {}


def test_the_command_prints_a_table_and_stores_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(reward_speed, "N_ERROR_SEEDS", 4)
    monkeypatch.setattr(reward_speed, "N_DRAWS", 4)
    monkeypatch.setattr(reward_speed, "MATRIX_SIZE", 64)
    assert main(["reward-speed", "--quick", "--results", str(tmp_path)]) == 0
    assert "times faster" in capsys.readouterr().out
    content = json.loads((tmp_path / "quick" / "reward-speed.json").read_text())
    values = {entry["what"]: entry["value"] for entry in content["figures"]}
    assert values["times faster"] > 1
    assert all(value >= 0 for value in values.values())
    assert content["circumstances"]["machine"]
