"""The benchmark of the reward compares the same rewards, and prints what it measured."""

import json

import numpy as np
import pytest
import torch

from eddi.reward.paper.latent_information import information
from eddi_benchmarks.__main__ import main
from eddi_benchmarks.speed import reward_speed
from eddi_benchmarks.speed.training_speed import UnfairError


@pytest.fixture(autouse=True)
def no_datasets(data):
    """Random rows of the same sizes stand in for the datasets."""


@pytest.fixture(scope="module")
def small():
    return reward_speed._model(np.random.default_rng(0).random((60, 5)))


def test_the_plain_loop_gives_our_rewards(small):
    model, rows = small
    plain = reward_speed.PlainReward.of(model)
    some = rows[:1].hide([1, 3, 4])
    expected = plain.score(some, 4, n_draws=10, seed=3)
    found = information(model, some, ["x4"], n_draws=10, seed=3)
    assert (expected != 0).sum() == 2
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_rewards_that_differ_are_refused():
    with pytest.raises(UnfairError, match=r"differ by 0\.5 nats"):
        reward_speed.check_fair(torch.zeros(1, 3), torch.tensor([[0.0, 0.5, 0.0]]))


def test_an_interview_asks_everything_once_and_best_first(small):
    _, rows = small
    order = reward_speed.interview(lambda _: torch.tensor([[1.0, 5.0, 3.0, 2.0, 9.0]]), rows[:1], 4)
    assert order == [1, 2, 3, 0]


def test_an_interview_hears_what_was_asked(small):
    _, rows = small
    heard = []
    reward_speed.interview(
        lambda seen: heard.append(seen.observed.sum()) or torch.zeros(1, 5), rows[:1], 4
    )
    assert heard == [0, 1, 2, 3]


def test_plain_draws_are_not_quasi_random_ones(small):
    model, rows = small
    plain = reward_speed.PlainDraws(model)
    now = model.posterior(model.code(rows[:2]))
    drawn = plain.draw(now, 6, seed=0)
    assert drawn.shape == (6, 2, 5)
    assert not torch.equal(drawn, model.draw(now, 6, seed=0))
    assert plain.chances(now, 6, seed=0) == {}


def test_the_command_prints_a_table_and_writes_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(reward_speed, "N_ERROR_SEEDS", 4)
    monkeypatch.setattr(reward_speed, "N_DRAWS", 4)
    monkeypatch.setattr(reward_speed, "MATRIX", 64)
    assert main(["reward-speed", "--quick", "--results", str(tmp_path)]) == 0
    assert "times faster" in capsys.readouterr().out
    content = json.loads((tmp_path / "quick" / "reward-speed.json").read_text())
    figures = {figure["what"]: figure["value"] for figure in content["figures"]}
    assert figures["times faster"] > 1
    assert all(value >= 0 for value in figures.values())
    assert content["circumstances"]["machine"]
