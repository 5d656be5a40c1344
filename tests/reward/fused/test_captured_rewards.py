"""Captured rewards need a GPU; without one, a model has none."""

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.reward.fused.captured_rewards import CapturedRewards


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_on_a_cpu_has_no_captured_rewards(wide_model: FittedModel) -> None:
    assert CapturedRewards.from_model(wide_model, [0], n_points=8) is None
