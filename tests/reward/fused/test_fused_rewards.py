"""Rewards in a dozen kernels, compared with plain PyTorch. They run on a GPU or in Triton's interpreter."""

from typing import Any

import numpy as np
import pytest
import torch

import eddi
from eddi.model.fitted import FittedModel
from eddi.reward.candidates import RevealedVariables
from eddi.reward.fused.fused_rewards import FusedRewards
from eddi.reward.fused.packed_tail import PackedTail
from eddi.table.evidence import Evidence


def build(model: FittedModel, target: list[str]) -> FusedRewards | None:
    predictor, positions = model.marginal_predictor, model.schema.positions(target)
    assert predictor is not None
    tail = PackedTail.from_network(model.frozen, predictor.target_head(positions))
    assert tail is not None
    return FusedRewards.from_predictor(
        predictor,
        positions,
        tail,
        RevealedVariables.from_model(model, positions),
        n_points=8,
        n_questions=len(model.schema.questions),
    )


def compute(model: FittedModel, rows: Evidence, target: list[str]) -> torch.Tensor:
    rewards = build(model, target)
    assert rewards is not None
    with torch.inference_mode():
        return rewards(*model.inputs(rows), torch.from_numpy(rows.observed))


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("target", ["weight", "smoker"])
def test_the_rewards_are_those_of_the_reference(
    single_input_model: FittedModel, single_input_rows: Evidence, target: str, reference_rewards: Any
) -> None:
    ours = compute(single_input_model, single_input_rows, [target])
    reference = reference_rewards(single_input_model, single_input_rows, [target])
    torch.testing.assert_close(ours, reference, atol=2e-5, rtol=1e-3)
    assert torch.equal(ours == 0, reference == 0)


@pytest.mark.usefixtures("triton")
def test_a_table_of_real_variables_uses_kernels_alone(
    real_model: FittedModel, real_rows: Evidence, reference_rewards: Any
) -> None:
    rewards = build(real_model, ["x5"])
    assert rewards is not None
    assert None not in rewards.support.packed
    ours = compute(real_model, real_rows, ["x5"])
    reference = reference_rewards(real_model, real_rows, ["x5"])
    torch.testing.assert_close(ours, reference, atol=2e-5, rtol=1e-3)


@pytest.mark.usefixtures("triton")
def test_a_row_whose_target_is_known_has_no_rewards(
    real_model: FittedModel, real_rows: Evidence
) -> None:
    complete = Evidence(real_rows.values, np.ones_like(real_rows.observed))
    assert not compute(real_model, complete, ["x5"]).any()


@pytest.mark.parametrize("target", [["age"], ["town"], ["age", "smoker"]])
def test_other_tables_and_targets_are_not_supported(wide_model: FittedModel, target: list[str]) -> None:
    assert build(wide_model, target) is None


@pytest.mark.parametrize("target", [["visits"], ["pain"], ["weight", "smoker"]])
def test_other_targets_are_not_supported(single_input_model: FittedModel, target: list[str]) -> None:
    assert build(single_input_model, target) is None


def test_the_sizes_of_the_kernels_are_those_of_the_model(real_model: FittedModel) -> None:
    rewards: Any = build(real_model, ["x5"])
    assert rewards.n_questions == 6
    assert isinstance(real_model.schema, eddi.Schema)
