"""Regressions of targets with levels: how much of them predictions contain."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.model.recipe import DEFAULT
from eddi.model.training import level_regressions
from eddi.model.training.folds import cross_validation
from eddi.model.training.level_regressions import TrainingRows
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

SMALL = replace(DEFAULT, latent=4, identity=4, term=16, hidden=(16, 16), batch_size=16, folds=3)

pytestmark = pytest.mark.usefixtures("short_rounds")


def draw_scores(n_rows, seed=0):
    """Eight skewed items of 0 to 3 points; who has at least 9 points is ill, which is rare."""
    random = np.random.default_rng(seed)
    z = random.normal(size=(n_rows, 1))
    items = np.clip(np.floor(0.3 + 0.7 * z + 0.8 * random.normal(size=(n_rows, 8))), 0, 3)
    table = pd.DataFrame(items.astype(int).astype(str), columns=[f"item{place}" for place in range(8)])
    table["ill"] = np.where(items.sum(1) >= 9, "yes", "no")
    return table


def draw_circle(n_rows, seed=0):
    """A class that depends on the distance from 0, so that no sum tells anything about it."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(random.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    table["ill"] = np.where(table["a"] ** 2 + 0.1 * table["b"] > 0.5, "yes", "no")
    return table


def fit(table, target="ill", **settings):
    settings = {"recipe": SMALL, "max_steps": 200, "random_state": 0, **settings}
    return eddi.PartialVAE(schema=make_schema(table), target=target, device="cpu", **settings).fit(table)


def make_schema(table):
    kinds = {name: eddi.Variable(name, "real") for name in table if name in "abc"}
    items = {
        name: eddi.Variable(name, "ordinal", levels=tuple("0123")) for name in table if "item" in name
    }
    ill = eddi.Variable("ill", "binary", levels=("no", "yes"))
    return eddi.Schema(variables=(*kinds.values(), *items.values(), ill))


def mixing_weights(model):
    """The weight of each regression, by variable."""
    return weights_of(model.fitted().network, model.schema_.names)


def weights_of(network, names):
    marginals = network.marginals
    weight = marginals.level_regressions.mixing_weight
    return {
        name: float(weight[marginals.output_rows([place])].max()) for place, name in enumerate(names)
    }


def brier_score(model, table):
    rows = model.fitted().evidence(table.drop(columns="ill"), optional=["ill"])
    prediction = model.fitted().predict_evidence(rows, ("ill",))["ill"]
    return float(np.mean((prediction.probabilities[:, 1] - (table["ill"] == "yes")) ** 2))


@pytest.mark.parametrize(("n_rows", "folds"), [(60, 3), (400, 0)], ids=["folds", "held-out rows"])
def test_a_rare_class_that_is_a_matter_of_a_sum_is_predicted_better(n_rows, folds, monkeypatch):
    table, test = draw_scores(n_rows), draw_scores(2000, seed=1)
    settings = {"recipe": replace(SMALL, folds=folds)}
    with_regression = fit(table, **settings)
    monkeypatch.setattr(level_regressions, "MAX_LEVELS", 0)
    without = fit(table, **settings)
    assert mixing_weights(with_regression)["ill"] > 0.3
    assert mixing_weights(without)["ill"] == 0
    assert brier_score(with_regression, test) < 0.9 * brier_score(without, test)


def test_a_class_that_no_sum_tells_anything_about_has_a_small_weight():
    assert mixing_weights(fit(draw_circle(200)))["ill"] < 0.35  # one half if the rows told nothing


def test_only_declared_targets_with_levels_have_a_regression():
    by_name = mixing_weights(fit(draw_scores(60)))
    assert [name for name, weight in by_name.items() if weight] == ["ill"]
    table = draw_circle(60)
    assert not any(mixing_weights(fit(table, target="c")).values())
    assert not any(mixing_weights(fit(table, target=None)).values())


def test_a_target_that_few_rows_have_has_no_regression():
    table = draw_circle(60)
    table.loc[level_regressions.MIN_ROWS :, "ill"] = None
    assert mixing_weights(fit(table))["ill"] == 0  # each fold trains on fewer rows


def test_the_file_of_a_model_keeps_the_regression(tmp_path):
    model, test = fit(draw_scores(60)), draw_scores(50, seed=1)
    model.save(tmp_path / "model.eddi")
    loaded = eddi.load(tmp_path / "model.eddi")
    assert mixing_weights(loaded) == mixing_weights(model)
    assert brier_score(loaded, test) == pytest.approx(brier_score(model, test), abs=1e-6)


def test_rewards_of_a_model_with_a_regression_are_those_of_encoding_every_answer():
    model = fit(draw_scores(60)).fitted()
    assert model.network.marginals.level_regressions.mixing_weight.any()
    target, question = model.schema.position("ill"), model.schema.position("item1")
    values, observed = np.zeros((1, 9), dtype=np.float32), np.zeros((1, 9), dtype=bool)
    values[0, 0], observed[0, 0] = 2.0, True
    context = RewardContext.from_evidence(model, Evidence(values, observed), [target])
    reward = context.rewards(EnumerationSettings())[0, question]
    chances = context.level_probabilities(question)[0].numpy()
    after = []
    observed[0, question] = True
    for level in range(4):
        values[0, question] = level
        prediction = model.predict_evidence(Evidence(values.copy(), observed), ("ill",))["ill"]
        after.append(prediction.probabilities[0])
    after = np.array(after)
    mixture = chances @ after
    expected = chances @ (after * np.log(after / mixture)).sum(1)
    assert float(reward) == pytest.approx(expected, rel=1e-3)


def test_variables_are_ignored_unless_predictions_with_a_regression_are_better_with_all(monkeypatch):
    """The folds' networks alone would ignore most items of a score."""

    monkeypatch.setattr(
        cross_validation, "find_ignored_variables", lambda *arguments: list(arguments[2])[1:]
    )
    assert fit(draw_scores(60)).fitted().ignored_variables == {}


def test_the_regression_of_many_rows_uses_some_of_them(monkeypatch):
    monkeypatch.setattr(level_regressions, "MAX_ROWS", 20)
    model, target = fit(draw_scores(60)).fitted(), 8
    evidence = model.evidence(draw_scores(60))
    rows = level_regressions.select_rows(model.network, TrainingRows(evidence), target, [target])
    assert len(rows.features) == 20
    assert torch.equal(rows.weights, torch.ones(20, dtype=torch.float64))


def test_a_regression_does_not_see_hidden_variables():
    model, target = fit(draw_scores(60)).fitted(), 8
    table = draw_scores(60)
    other = table.assign(item0="3")
    rows, changed = (
        level_regressions.select_rows(
            model.network, TrainingRows(model.evidence(own)), target, [target, 0]
        )
        for own in (table, other)
    )
    assert torch.equal(rows.features, changed.features)


def test_the_folds_have_regressions_too_so_that_quality_is_that_of_such_predictions():
    fitted = fit(draw_scores(60)).fitted()
    names = fitted.schema.names
    weight = weights_of(fitted.network, names)["ill"]
    assert weight > 0
    assert [weights_of(network, names)["ill"] for network, _ in fitted.folds] == [weight] * 3


def test_a_warm_start_removes_the_regressions_of_the_earlier_fit():
    table = draw_scores(200)
    model = fit(table, warm_start=True, recipe=replace(SMALL, folds=0))
    assert mixing_weights(model)["ill"] > 0
    model.fit(table.head(20))  # too few rows to hold any out
    assert mixing_weights(model)["ill"] == 0


def test_a_target_with_three_levels_has_a_regression():
    table = draw_scores(120)
    points = table.drop(columns="ill").astype(int).sum(axis=1)
    table["grade"] = np.select([points >= 9, points >= 4], ["severe", "mild"], "none")
    schema = make_schema(table).with_variable(
        eddi.Variable("grade", "ordinal", levels=("none", "mild", "severe"))
    )
    model = eddi.PartialVAE(
        schema=schema, target="grade", recipe=SMALL, max_steps=100, random_state=0, device="cpu"
    ).fit(table)
    assert mixing_weights(model)["grade"] > 0.3
    assert model.score(table) > -0.7
