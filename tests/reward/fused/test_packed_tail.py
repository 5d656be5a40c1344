"""The kernel, compared with plain PyTorch. It runs on a GPU or in Triton's interpreter."""

from typing import Any

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.reward.fused.packed_tail import PackedTail, list_candidates
from eddi.table.evidence import Evidence


def pack(model: FittedModel, target: list[str]) -> PackedTail | None:
    assert model.marginal_predictor is not None
    head = model.marginal_predictor.target_head(model.schema.positions(target))
    return PackedTail.from_network(model.frozen, head)


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize("target", [["age"], ["town"]])
def test_rewards_with_the_kernel_are_those_of_the_reference(
    wide_model: FittedModel,
    some_rows: Evidence,
    dense_rewards: Any,
    target: list[str],
    reference_rewards: Any,
) -> None:
    with torch.inference_mode():
        compute = dense_rewards(wide_model, target, pack(wide_model, target))
        ours = compute(*wide_model.inputs(some_rows), torch.from_numpy(some_rows.observed))
    reference = reference_rewards(wide_model, some_rows, target)
    torch.testing.assert_close(ours, reference, atol=2e-5, rtol=1e-3)


def test_candidates_are_listed_in_their_order() -> None:
    answers, n_answers = list_candidates(torch.tensor([[False, True], [True, False]]))
    assert n_answers.tolist() == [2]
    assert answers[:2].tolist() == [1, 2]


def test_other_widths_are_not_supported(model: Any) -> None:
    assert pack(model.fitted(), ["age"]) is None


def test_a_number_and_its_remainder_give_the_weight(wide_model: FittedModel) -> None:
    packed = pack(wide_model, ["age"])
    assert packed is not None
    assert wide_model.frozen.residual is not None
    high, remainder = packed.term_weight.double()
    weight = wide_model.frozen.residual.first[0].T.double()
    torch.testing.assert_close(high + remainder, weight, atol=1e-7, rtol=1e-6)
