"""Targets that the kernels support."""

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.reward.fused.packed_tail import FACTORS
from eddi.reward.fused.packed_target import PackedTarget


def pack(model: FittedModel, target: list[str]) -> PackedTarget | None:
    positions = model.schema.positions(target)
    assert model.marginal_predictor is not None
    assert model.frozen.factors is not None
    head = model.marginal_predictor.target_head(positions)
    return PackedTarget.from_head(head, positions, model.frozen.factors)


@pytest.mark.parametrize(("target", "n_constants"), [("height", 9), ("smoker", 6)])
def test_a_real_or_binary_target_is_packed(
    single_input_model: FittedModel, target: str, n_constants: int
) -> None:
    packed = pack(single_input_model, [target])
    assert packed is not None
    assert packed.is_real == (target == "height")
    assert packed.constants.shape == (n_constants,)
    assert packed.loadings.shape == (2 * FACTORS,)
    assert torch.isfinite(packed.constants).all()


@pytest.mark.parametrize("target", [["visits"], ["pain"], ["sex"], ["weight", "height"]])
def test_other_targets_are_not_packed(single_input_model: FittedModel, target: list[str]) -> None:
    assert pack(single_input_model, target) is None
