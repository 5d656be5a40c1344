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
    find_reversible,
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


def reverse(model, evidence, target=3):
    """The reverse estimates [rows, questions]; NaN where there is none."""
    with torch.inference_mode():
        context = RewardContext.from_evidence(model, evidence, [target])
        is_enumerated = context.find_enumerated()
        zeros = torch.zeros((len(evidence), len(model.schema.questions)))
        known = average_with_reverse(context, zeros, is_enumerated, SETTINGS)
        unchanged = average_with_reverse(context, zeros - 1, is_enumerated, SETTINGS) == -1
    return torch.where(unchanged, torch.nan, 2 * known)


def test_the_information_of_a_quantity_is_that_of_a_mixture_of_its_distributions(model):
    support = model.marginal_predictor.answer_support()
    (part,) = (part for part in support.parts if isinstance(part, QuantitySupport))
    (group,) = part.heads.heads()
    means = torch.tensor(MEANS).float()[None, :, None].repeat(1, 1, 2)  # [rows, components, quantities]
    outputs = torch.cat([means, group.likelihood.scale_output(means * 0 + 1)], -1)
    _, sd = group.likelihood.mean_and_sd(outputs[0])
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
    assert find_reversible(context, SETTINGS).tolist() == [[True, False, True, True]]
    assert reverse(model, Evidence.empty(1, 4))[0].isnan().tolist() == [False, True, False, True]


def test_closed_questions_have_no_reverse_estimate(model, rows):
    assert reverse(model, rows).isnan()[torch.from_numpy(rows.observed)].all()


def test_information_about_several_targets_is_added_up_and_known_targets_do_not_count(model, rows):
    single = [mutual_information(model, rows, [name], n_draws=8, seed=0) for name in ("yes", "class")]
    both = mutual_information(model, rows, ["yes", "class"], n_draws=8, seed=0)
    assert rows.observed[:, 2].any()  # some rows have the first target
    torch.testing.assert_close(both[:, :2], sum(single)[:, :2], rtol=1e-4, atol=1e-6)


def test_no_rows_have_no_rewards(model):
    assert mutual_information(model, Evidence.empty(0, 4), ["class"], n_draws=8, seed=0).shape == (0, 4)


@pytest.mark.parametrize(("n_levels", "set_encoder"), [(5, "precision"), (3, "pnp")])
def test_many_levels_and_models_without_factors_have_no_reverse_estimate(n_levels, set_encoder):
    levels = np.random.default_rng(0).integers(n_levels, size=200)
    table = np.column_stack([levels + np.random.default_rng(1).normal(size=200), levels])
    target = Variable("y", "category", levels=tuple(range(n_levels)))
    estimator = PartialVAE(
        Schema((Variable("x", "real"), target)),
        "y",
        set_encoder=set_encoder,
        max_steps=5,
        random_state=0,
    )
    model = estimator.fit(pd.DataFrame(table, columns=["x", "y"])).fitted()
    empty = Evidence.empty(1, 2)
    with torch.inference_mode():
        expected = RewardContext.from_evidence(model, empty, [1]).rewards(SETTINGS)
    rewards = mutual_information(model, empty, ["y"], n_draws=8, seed=0)
    torch.testing.assert_close(rewards, expected, rtol=1e-4, atol=1e-7)


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
