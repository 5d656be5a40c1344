"""The GPU benchmark: what can be checked without a GPU."""

from pathlib import Path

import numpy as np
import pytest
import torch

from eddi.reward.paper.torch_backend import TorchBackend
from eddi.reward.paper.triton_backend import QuestionTable
from eddi_benchmarks.speed import gpu_speed, reward_speed
from eddi_benchmarks.speed.gpu_speed import PlainReward

pytestmark = pytest.mark.slow


def test_without_a_gpu_the_benchmark_is_rejected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(gpu_speed.NoGpuError, match="torch finds no GPU"):
        gpu_speed.run(tmp_path)


def test_the_groups_have_the_sizes_of_the_survey() -> None:
    assert len(gpu_speed.NHANES.groups) == 73
    assert sum(gpu_speed.NHANES.groups) == 665
    assert min(gpu_speed.NHANES.groups) >= 1


def test_the_plain_reward_equals_the_reward() -> None:
    model, rows = reward_speed.fit_numbers(np.random.default_rng(0).random((20, 4)))
    unobserved = rows[:3].hide(np.ones((3, 4), bool))
    questions = QuestionTable.from_model(model, [3], torch.device("cpu"))
    code = model.code(unobserved)
    values = model.draw(model.posterior(code), 5, seed=0)
    plain = PlainReward.from_network(model.frozen, questions, torch.float64)(code, values)
    expected = TorchBackend(model).rewards(unobserved, [3], n_draws=5, seed=0)
    torch.testing.assert_close(plain.float(), expected[:, questions.places], rtol=1e-3, atol=1e-5)
