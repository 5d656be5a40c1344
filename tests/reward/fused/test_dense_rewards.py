"""Rewards with dense tensors, compared with those of the reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from eddi.model.fitted import FittedModel
from eddi.reward.fused.dense_rewards import DenseRewards
from eddi.table.evidence import Evidence

MakeRewards = Callable[[FittedModel, list[str]], DenseRewards]


def compute(make: MakeRewards, model: FittedModel, evidence: Evidence, target: list[str]) -> Tensor:
    observed = torch.from_numpy(evidence.observed)
    with torch.inference_mode():
        return make(model, target)(*model.inputs(evidence), observed)


@pytest.mark.parametrize("target", [["age"], ["smoker"], ["town"], ["visits"], ["age", "pain"]])
def test_the_rewards_are_those_of_the_reference(
    wide_model: FittedModel,
    some_rows: Evidence,
    dense_rewards: MakeRewards,
    target: list[str],
    reference_rewards: Any,
) -> None:
    ours = compute(dense_rewards, wide_model, some_rows, target)
    reference = reference_rewards(wide_model, some_rows, target)
    torch.testing.assert_close(ours, reference, atol=1e-5, rtol=1e-4)


def test_a_row_whose_target_is_known_has_no_rewards(
    wide_model: FittedModel, some_rows: Evidence, dense_rewards: MakeRewards
) -> None:
    rewards = compute(dense_rewards, wide_model, some_rows[1:2].repeat(2), ["age"])
    assert not rewards.any()


def test_a_value_that_the_network_does_not_see_is_not_asked_for_again(
    wide_model: FittedModel, some_rows: Evidence, dense_rewards: MakeRewards
) -> None:
    town = wide_model.schema.position("town")
    values = np.zeros_like(some_rows.values[:2])
    values[:, town] = 99.0  # no level
    evidence = Evidence(values, values > 0)
    assert not wide_model.inputs(evidence)[1].any()
    rewards = compute(dense_rewards, wide_model, evidence, ["age"])
    assert not rewards[:, wide_model.schema.positions(["town"])].any()
    assert rewards.any()
