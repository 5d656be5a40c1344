"""Laws of both rewards, for every set encoder and any evidence."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from eddi.reward.mutual_information import mutual_information
from eddi.reward.paper.latent_information import latent_information
from eddi.table.evidence import Evidence

N_VARIABLES = 8
LAST_LEVELS = (None, None, 1, 3, 2, None, 4, 2)  # of the variables of people; None for a quantity
REWARDS = {"latent": latent_information, "target": mutual_information}
CASES = [
    (reward, recipe, set_encoder)
    for reward, recipe in [("latent", "paper"), ("latent", "default"), ("target", "default")]
    for set_encoder in ("zi", "zi-m", "pn", "pnp")
]

quick = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
every_reward = pytest.mark.parametrize("case", CASES, ids="-".join, indirect=True)
targets = st.sampled_from([["weight"], ["smoker"], ["age", "town"], ["colour"], ["visits", "weight"]])
masks = st.lists(st.booleans(), min_size=N_VARIABLES, max_size=N_VARIABLES)


@st.composite
def rows(draw, n_rows=1):
    """Partially observed rows of coded values that the variables of people can have."""
    numbers = st.floats(-3, 3, width=32)
    values = [
        [draw(numbers if last is None else st.integers(0, last)) for last in LAST_LEVELS]
        for _ in range(n_rows)
    ]
    return Evidence(np.array(values, np.float32), np.array([draw(masks) for _ in range(n_rows)]))


@pytest.fixture
def case(request, people_model):
    """A reward and a model that supports it."""
    reward, recipe, set_encoder = request.param
    return REWARDS[reward], people_model(set_encoder, recipe).fitted()


def compute(case, evidence, target, seed=0):
    reward, model = case
    return reward(model, evidence, target, n_draws=16, seed=seed)


@quick
@given(evidence=rows(n_rows=5), target=targets, row=st.integers(0, 4))
@every_reward
def test_the_rewards_of_a_row_do_not_depend_on_its_batch(case, evidence, target, row):
    in_batch = compute(case, evidence, target)[row]
    alone = compute(case, evidence[[row]], target)[0]
    torch.testing.assert_close(in_batch, alone, rtol=1e-5, atol=1e-5)


@quick
@given(evidence=rows(), target=targets, garbage=st.floats(width=32))
@every_reward
def test_unobserved_values_have_no_effect(case, evidence, target, garbage):
    values = np.where(evidence.observed, evidence.values, np.float32(garbage))
    changed = Evidence(values, evidence.observed)
    assert torch.equal(compute(case, evidence, target), compute(case, changed, target))


@quick
@given(evidence=rows(), target=targets, seed=st.integers(0, 1000))
@every_reward
def test_the_same_seed_gives_the_same_finite_rewards(case, evidence, target, seed):
    rewards = compute(case, evidence, target, seed)
    assert torch.equal(rewards, compute(case, evidence, target, seed))
    assert torch.isfinite(rewards).all()


@quick
@given(evidence=rows(), target=targets)
@every_reward
def test_questions_that_reveal_nothing_new_or_a_target_have_no_reward(case, evidence, target):
    rewards = compute(case, evidence, target)[0]
    positions = case[1].schema.positions(target)
    assert (rewards[torch.from_numpy(evidence.observed[0])] == 0).all()
    assert (rewards[positions] == 0).all()


@quick
@given(evidence=rows(), target=targets)
@every_reward
def test_no_question_has_a_reward_if_the_target_is_observed(case, evidence, target):
    observed = evidence.observed.copy()
    observed[:, case[1].schema.positions(target)] = True
    assert (compute(case, Evidence(evidence.values, observed), target) == 0).all()


@quick
@given(evidence=rows(), target=st.sampled_from([["age", "town"], ["visits", "weight"]]))
@every_reward
def test_an_observed_target_variable_only_closes_its_question(case, evidence, target):
    schema = case[1].schema
    remaining = [name for name in target if not evidence.observed[0, schema.position(name)]]
    assume(len(remaining) == 1)
    # The latent reward enumerates the levels of a single target and draws those of several targets.
    assume(case[0] is mutual_information or not schema[remaining[0]].kind.has_levels)
    rewards, expected = compute(case, evidence, target), compute(case, evidence, remaining)
    torch.testing.assert_close(rewards, expected, rtol=1e-5, atol=1e-5)


@quick
@given(evidence=rows(), target=targets)
@pytest.mark.parametrize(
    "case", [case for case in CASES if case[0] == "target"], ids="-".join, indirect=True
)
def test_mutual_information_is_never_negative(case, evidence, target):
    assert (compute(case, evidence, target) >= -1e-6).all()
