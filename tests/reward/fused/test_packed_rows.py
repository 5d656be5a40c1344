"""Codes and factors of rows, compared with plain PyTorch."""

import pytest
import torch
from torch import Tensor

from eddi.model.fitted import FittedModel
from eddi.reward.fused.packed_rows import PackedRows, RowFactors, is_power_of_two
from eddi.reward.fused.packed_tail import PackedTail
from eddi.table.evidence import Evidence

pytestmark = pytest.mark.usefixtures("triton")


def encode(model: FittedModel, rows: Evidence) -> tuple[Tensor, RowFactors]:
    assert model.marginal_predictor is not None
    tail = PackedTail.from_network(model.frozen, model.marginal_predictor.target_head([0]))
    assert tail is not None
    packed = PackedRows.from_encoder(model.frozen.encoder, tail)
    with torch.inference_mode():
        return packed.encode(*model.inputs(rows))


def test_the_code_is_that_of_the_encoder(
    single_input_model: FittedModel, single_input_rows: Evidence
) -> None:
    code, _ = encode(single_input_model, single_input_rows)
    expected = single_input_model.frozen.encoder.code(*single_input_model.inputs(single_input_rows))
    torch.testing.assert_close(code, expected[:, : code.shape[1]], atol=1e-5, rtol=1e-4)


def test_the_factors_are_those_of_the_factor_model(
    single_input_model: FittedModel, single_input_rows: Evidence
) -> None:
    frozen = single_input_model.frozen
    assert frozen.factors is not None
    code = frozen.encoder.code(*single_input_model.inputs(single_input_rows))
    posterior = frozen.factor_posterior(code)
    assert posterior is not None
    updates = frozen.factors.updates(posterior)
    _, factors = encode(single_input_model, single_input_rows)
    n_factors = posterior.mean.shape[1]
    loadings = frozen.factors.loadings[:, :1]
    pairs = [
        (factors.features[:, -n_factors:], posterior.mean),
        (factors.variance, posterior.variance),
        (factors.covariance, posterior.covariance),
        (factors.expected.flatten(), updates.expected[:, 0]),
        (factors.spread, posterior.project(loadings)[1][..., 0, 0]),
        (factors.gain.flatten(0, 1), updates.gain[:, 0]),
        (factors.variance_after.flatten(0, 1), updates.variance),
    ]
    for ours, expected in pairs:
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-4)


def test_powers_of_two_are_found() -> None:
    assert [n for n in range(9) if is_power_of_two(n)] == [1, 2, 4, 8]
