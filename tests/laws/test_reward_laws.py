"""Laws of the information reward, whatever the evidence."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddi.reward.paper.latent_information import information
from eddi.table.evidence import Evidence

N_VARIABLES = 8
TOPS = (None, None, 1, 3, 2, None, 4, 2)  # the last level of each of people's variables

quick = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
targets = st.sampled_from([["weight"], ["smoker"], ["age", "town"], ["colour"], ["visits", "weight"]])
masks = st.lists(st.booleans(), min_size=N_VARIABLES, max_size=N_VARIABLES)


@st.composite
def rows(draw, n_rows=1):
    """Rows of coded values that people's variables can take, partly seen."""
    numbers = st.floats(-3, 3, width=32)
    cells = [
        [draw(numbers if top is None else st.integers(0, top)) for top in TOPS] for _ in range(n_rows)
    ]
    return Evidence(np.array(cells, np.float32), np.array([draw(masks) for _ in range(n_rows)]))


@pytest.fixture(params=["default", "paper"])
def any_model(request, people_model):
    return people_model(recipe=request.param)


def rewards(model, evidence, target, seed=0):
    return information(model, evidence, target, n_draws=16, seed=seed)


@quick
@given(evidence=rows(n_rows=5), target=targets, place=st.integers(0, 4))
def test_a_row_is_rewarded_the_same_alone_and_in_a_batch(any_model, evidence, target, place):
    together = rewards(any_model, evidence, target)[place]
    alone = rewards(any_model, evidence[[place]], target)[0]
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)


@quick
@given(evidence=rows(), target=targets, rubbish=st.floats(width=32))
def test_unseen_values_never_matter(any_model, evidence, target, rubbish):
    dirty = Evidence(
        np.where(evidence.observed, evidence.values, np.float32(rubbish)), evidence.observed
    )
    assert torch.equal(rewards(any_model, evidence, target), rewards(any_model, dirty, target))


@quick
@given(evidence=rows(), target=targets, seed=st.integers(0, 1000))
def test_the_same_seed_gives_the_same_rewards(any_model, evidence, target, seed):
    once = rewards(any_model, evidence, target, seed)
    assert torch.equal(once, rewards(any_model, evidence, target, seed))
    assert torch.isfinite(once).all()


@quick
@given(evidence=rows(), target=targets)
def test_what_is_known_is_worth_nothing(any_model, evidence, target):
    found = rewards(any_model, evidence, target)[0]
    positions = any_model.schema_.positions(target)
    assert (found[torch.from_numpy(evidence.observed[0])] == 0).all()
    assert (found[positions] == 0).all()
    if evidence.observed[0, positions].all():
        assert (found == 0).all()


@quick
@given(evidence=rows(), target=targets)
def test_what_is_known_of_a_target_is_as_if_it_were_none(any_model, evidence, target):
    """Of two target variables, the one already seen only closes its own question."""
    positions = any_model.schema_.positions(target)
    left = [name for name, d in zip(target, positions, strict=True) if not evidence.observed[0, d]]
    if len(left) != 1 or len(target) == 1 or any_model.schema_[left[0]].kind.has_levels:
        return
    found, alone = rewards(any_model, evidence, target), rewards(any_model, evidence, left)
    torch.testing.assert_close(found, alone, rtol=1e-5, atol=1e-5)
