"""Captured rewards need a GPU; without one, a model has none."""

from typing import Any

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.reward.fused import captured_rewards
from eddi.reward.fused.captured_rewards import CapturedRewards
from eddi.table.evidence import Evidence


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_on_a_cpu_has_no_captured_rewards(wide_model: FittedModel) -> None:
    assert CapturedRewards.from_model(wide_model, [0], n_points=8) is None


def test_there_are_no_captured_rewards_if_no_graph_is_possible(
    wide_model: FittedModel,
    some_rows: Evidence,
    dense_rewards: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(captured_rewards._CapturedRun, "capture", fail)
    captured = CapturedRewards(dense_rewards(wide_model, ["age"]), len(wide_model.schema.variables))
    assert captured(wide_model, some_rows) is None
    assert "no graph is possible: operation not permitted" in caplog.text
