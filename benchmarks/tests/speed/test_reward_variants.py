"""Variants of the reward's kernels: constants are restored, and wrong rewards are found."""

import numpy as np
import pytest
import torch

from eddi.reward.fused import packed_tail
from eddi.reward.fused.fused_rewards import FusedRewards
from eddi_benchmarks.speed.reward_variants import VARIANTS, compare, find_failures, use_variant


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_constants_are_restored(variant):
    before = (packed_tail.OUTER_PRODUCTS, packed_tail.BLOCK_ANSWERS, FusedRewards.from_predictor)
    with use_variant(variant):
        assert (variant.answers or before[1]) == packed_tail.BLOCK_ANSWERS
    after = (packed_tail.OUTER_PRODUCTS, packed_tail.BLOCK_ANSWERS, FusedRewards.from_predictor)
    assert after == before


def test_equal_rewards_have_no_failures():
    exact = np.random.default_rng(0).random((50, 4))
    assert not find_failures(compare(torch.from_numpy(exact), exact))


@pytest.mark.parametrize("wrong", [np.nan, 2.0])
def test_other_rewards_fail(wrong):
    exact = np.random.default_rng(0).random((50, 4))
    other = exact.copy()
    other[:, 0] = wrong
    assert find_failures(compare(torch.from_numpy(other), exact))
