"""Possible answers, compared with plain PyTorch."""

import pytest
import torch

from eddi.model.fitted import FittedModel
from eddi.model.network.features import Features
from eddi.reward.fused.packed_rows import PackedRows
from eddi.reward.fused.packed_support import PackedSupport
from eddi.reward.fused.packed_tail import PackedTail
from eddi.table.evidence import Evidence


@pytest.mark.usefixtures("triton")
def test_the_answers_to_real_variables_are_those_of_the_reference(
    real_model: FittedModel, real_rows: Evidence
) -> None:
    predictor = real_model.marginal_predictor
    assert predictor is not None
    encoding = real_model.encode(real_rows)
    expected = predictor.answer_support(8)(encoding.features)
    tail = PackedTail.from_network(real_model.frozen, predictor.target_head([0]))
    assert tail is not None
    with torch.inference_mode():
        rows = PackedRows.from_encoder(real_model.frozen.encoder, tail)
        _, factors = rows.encode(*real_model.inputs(real_rows))
        features = Features(encoding.features.inputs, None)
        values, probabilities = PackedSupport.from_predictor(predictor, 8)(features, factors)
    torch.testing.assert_close(probabilities, expected.probabilities, atol=1e-5, rtol=1e-4)
    is_possible = expected.probabilities > 0
    torch.testing.assert_close(values[is_possible], expected.values[is_possible], atol=1e-5, rtol=1e-4)


def test_other_variables_and_merged_answers_use_plain_pytorch(
    single_input_model: FittedModel, real_model: FittedModel
) -> None:
    for model, n_points in ((single_input_model, 8), (real_model, 4)):
        assert model.marginal_predictor is not None
        support = PackedSupport.from_predictor(model.marginal_predictor, n_points)
        assert None in support.packed
