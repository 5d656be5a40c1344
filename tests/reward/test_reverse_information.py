"""The information of an answer about a target with levels, from predictions of the answer."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from eddi import PartialVAE, Schema, Variable
from eddi.model.inference.answer_support import QuantitySupport
from eddi.model.recipe import DEFAULT
from eddi.reward.mutual_information import mutual_information
from eddi.reward.reverse_information import (
    average_with_reverse,
    has_reverse,
    level_information,
    quantity_information,
)
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

SETTINGS = EnumerationSettings(n_draws=8)
MEANS = np.array([-1.0, 0.5, 1.5])  # of the number "x" in each class


def draw_table(n_rows, seed):
    """A class, a number with another mean in each class, a skewed number, and yes or no."""
    random = np.random.default_rng(seed)
    levels = random.integers(3, size=n_rows)
    return pd.DataFrame(
        {
            "x": MEANS[levels] + random.normal(size=n_rows),
            "skewed": np.where(random.random(n_rows) < 0.5, 0.0, random.gamma(1.0 + levels)),
            "yes": random.random(n_rows) < 0.3 + 0.2 * levels,
            "class": np.array(list("abc"))[levels],
        }
    )


@pytest.fixture(scope="module")
def model():
    variables = (
        Variable("x", "real"),
        Variable("skewed", "real"),
        Variable("yes", "binary", levels=(False, True)),
        Variable("class", "category", levels=("a", "b", "c")),
    )
    recipe = dataclasses.replace(DEFAULT, hidden=(64, 64), term=32, folds=0)
    estimator = PartialVAE(Schema(variables), "class", recipe=recipe, max_steps=300, random_state=0)
    return estimator.fit(draw_table(2_000, 0)).fitted()


@pytest.fixture
def rows(model):
    """Rows without a class, of which some other values are observed."""
    hidden = np.random.default_rng(1).random((9, 4)) < 0.6
    hidden[:, 3] = True
    return model.evidence(draw_table(9, 2)).hide(hidden)


def reverse(model, evidence):
    """The reverse estimates [rows, questions]; NaN where there is none."""
    with torch.inference_mode():
        context = RewardContext.from_evidence(model, evidence, [3])
        rewards = torch.full((len(evidence), 4), torch.nan)
        is_enumerated = context.find_enumerated()
        known = average_with_reverse(context, torch.zeros_like(rewards), is_enumerated, SETTINGS)
        averaged = average_with_reverse(context, rewards, is_enumerated, SETTINGS)
        unchanged = average_with_reverse(context, torch.ones_like(rewards), is_enumerated, SETTINGS) == 1
    assert averaged.isnan().all()
    return torch.where(unchanged, torch.nan, 2 * known)


def test_the_information_of_a_quantity_is_that_of_a_mixture_of_its_distributions(model):
    support = model.marginal_predictor.answer_support()
    (part,) = (part for part in support.parts if isinstance(part, QuantitySupport))
    head = model.marginal_predictor.target_head(range(4))
    (group,) = (group for group in head.groups if not group.likelihood.has_levels)
    means = torch.tensor(MEANS).float()[None, :, None].repeat(1, 1, 2)  # [rows, components, quantities]
    outputs = torch.zeros(1, 3, len(head.rows))
    outputs[..., group.outputs] = torch.cat([means, group.likelihood.scale_output(means * 0 + 1)], -1)
    _, sd = group.likelihood.mean_and_sd(outputs[0, :, group.outputs])
    weights = torch.tensor([[0.2, 0.5, 0.3]])

    grid = np.linspace(-12, 12, 20_001)
    for place in range(2):
        densities = scipy.stats.norm(MEANS[:, None], sd[:, place, None].numpy()).pdf(grid)
        mixture = weights[0].numpy() @ densities
        integrand = weights[0].numpy() @ scipy.special.rel_entr(densities, mixture)
        exact = float(np.trapezoid(integrand, grid))
        ours = float(quantity_information(part, outputs, weights)[0, place])
        assert ours == pytest.approx(exact, rel=0.02)


def test_both_estimates_agree_where_the_model_is_right(model):
    with torch.inference_mode():
        context = RewardContext.from_evidence(model, Evidence.empty(1, 4), [3])
        rewards = context.rewards(SETTINGS)[0]
    nats = reverse(model, Evidence.empty(1, 4))[0]
    torch.testing.assert_close(nats[[0, 2]], rewards[[0, 2]], rtol=0.2, atol=0.003)


def test_a_skewed_quantity_has_no_reverse_estimate(model):
    context = RewardContext.from_evidence(model, Evidence.empty(1, 4), [3])
    assert has_reverse(context, SETTINGS).tolist() == [[True, False, True, True]]
    assert reverse(model, Evidence.empty(1, 4))[0].isnan().tolist() == [False, True, False, True]


def test_closed_questions_and_rows_with_a_known_target_keep_their_reward(model, rows):
    nats = reverse(model, rows)
    assert nats.isnan()[torch.from_numpy(rows.observed)].all()
    known = model.evidence(draw_table(2, 2)).hide(np.array([[True, True, True, False]] * 2))
    assert mutual_information(model, known, ["class"], n_draws=8, seed=0).eq(0).all()


def test_a_row_has_the_same_estimates_alone_and_in_batches(model, rows, monkeypatch):
    together = reverse(model, rows)
    monkeypatch.setattr("eddi.reward.reverse_information.MAX_CELLS", 1)
    torch.testing.assert_close(reverse(model, rows), together, rtol=1e-4, atol=1e-6, equal_nan=True)
    alone = torch.cat([reverse(model, rows[row : row + 1]) for row in range(len(rows))])
    torch.testing.assert_close(alone, together, rtol=1e-4, atol=1e-6, equal_nan=True)


def test_no_information_exceeds_that_of_the_target(model, rows):
    nats = reverse(model, rows)
    known = nats[~nats.isnan()]
    assert ((known >= 0) & (known <= math.log(3))).all()


def test_components_that_share_no_level_tell_everything_and_equal_ones_nothing():
    probabilities = torch.tensor([[[[1.0, 0.0], [0.3, 0.7]], [[0.0, 1.0], [0.3, 0.7]]]])
    nats = level_information(probabilities, torch.tensor([[0.5, 0.5]]))
    torch.testing.assert_close(nats, torch.tensor([[math.log(2), 0.0]]), rtol=1e-5, atol=1e-7)


def test_a_question_about_another_target_has_no_reward(model):
    targets = ["class", "x"]
    rewards = mutual_information(model, Evidence.empty(1, 4), targets, n_draws=8, seed=0)
    assert (rewards[0] > 0).tolist() == [False, True, True, False]
