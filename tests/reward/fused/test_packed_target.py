"""Targets that the kernels support."""

import copy

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.model.inference.frozen import FrozenNetwork
from eddi.model.inference.variable_head import VariableHead
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


def test_a_binary_target_with_a_regression_is_not_packed(single_input_model: FittedModel) -> None:
    model = copy.deepcopy(single_input_model)
    position = model.schema.position("smoker")
    marginals = model.network.marginals
    assert marginals is not None
    assert marginals.level_regressions is not None
    marginals.level_regressions.mixing_weight[marginals.output_rows([position])] = 0.5
    frozen = FrozenNetwork.from_network(model.network)
    head = VariableHead.from_marginals(marginals, frozen, [position])
    assert frozen.factors is not None
    assert PackedTarget.from_head(head, [position], frozen.factors) is None


@pytest.mark.parametrize("target", [["visits"], ["pain"], ["sex"], ["weight", "height"]])
def test_other_targets_are_not_packed(single_input_model: FittedModel, target: list[str]) -> None:
    assert pack(single_input_model, target) is None
