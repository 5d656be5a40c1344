"""Metrics of one step, compared with the model's own predictive distribution."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from eddi.evaluate.simulate import simulate
from eddi.evaluate.step_metrics import (
    StepMetrics,
    compute_joint_metrics,
    compute_step_metrics,
    true_numbers,
)
from eddi.model.fitted import FittedModel
from eddi.partial_vae import PartialVAE
from eddi.strategy import Random
from eddi.table.evidence import Evidence

KINDS = ("age", "visits", "smoker", "pain", "town")
N_VARIABLES = 8


@pytest.fixture(scope="module")
def full(people: Any) -> pd.DataFrame:
    """Rows without missing values."""
    return people(12, seed=7, missing=0.0)


@pytest.fixture(scope="module")
def incomplete(people: Any) -> pd.DataFrame:
    return people(40, seed=8, missing=0.3)


def step_metrics_without_evidence(model: FittedModel, table: pd.DataFrame, target: str) -> StepMetrics:
    truth = model.evidence(table)
    return compute_step_metrics(model, Evidence.empty(len(truth), N_VARIABLES), truth, target)


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("target", KINDS)
def test_the_log_probability_is_that_of_the_model(
    people_model: Any, incomplete: pd.DataFrame, target: str, recipe: str
) -> None:
    model = people_model(recipe=recipe).fitted()
    truth, position = model.evidence(incomplete), model.schema.position(target)
    known, evidence = truth.observed[:, position], truth.hide([position])
    metrics = compute_step_metrics(model, evidence, truth, target)
    if recipe == "paper" and target in ("pain", "town"):  # levels coded as numbers have a density
        level = true_numbers(model, truth, target)[known].astype(int)
        assert metrics.probabilities is not None
        probability = metrics.probabilities[known][np.arange(len(level)), level]
        expected = np.log(probability)
    else:
        expected = model.log_prob(evidence, truth)[known, position]
    np.testing.assert_allclose(metrics.log_prob[known], expected, atol=1e-5)


@pytest.mark.parametrize("target", ["age", "smoker", "pain"])
def test_the_squared_error_of_draws_is_squared_error_plus_variance(
    model: PartialVAE, full: pd.DataFrame, target: str
) -> None:
    fitted = model.fitted()
    metrics = step_metrics_without_evidence(fitted, full, target)
    predictive = next(fitted.predictive_distributions(Evidence.empty(len(full), N_VARIABLES)))
    position = fitted.schema.position(target)
    means = predictive.heads.moments(predictive.outputs)[0][..., position].detach().numpy()
    truth = true_numbers(fitted, fitted.evidence(full), target)
    expected = means.var(0) + (means.mean(0) - truth) ** 2
    np.testing.assert_allclose(metrics.draw_squares, expected, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("recipe", ["default", "paper"])
def test_the_rmse_of_draws_is_at_least_the_rmse(
    people_model: Any, full: pd.DataFrame, recipe: str
) -> None:
    curves = simulate(people_model(recipe=recipe), full, "age", strategy=Random(), max_steps=2)
    assert (curves.draw_rmse >= curves.rmse).all()


def test_the_squared_error_of_a_category_is_the_distance_of_its_probabilities(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    fitted = model.fitted()
    metrics = step_metrics_without_evidence(fitted, full, "town")
    predictive = next(fitted.predictive_distributions(Evidence.empty(len(full), N_VARIABLES)))
    head, column = predictive.heads.head_of(fitted.schema.position("town"))
    with torch.no_grad():
        probabilities = head.likelihood.probabilities(predictive.outputs[..., head.outputs])
    by_draw = probabilities[:, :, column, :3].numpy()
    one_hot = np.eye(3)[true_numbers(fitted, fitted.evidence(full), "town").astype(int)]
    expected = ((by_draw - one_hot) ** 2).sum(-1).mean(0) / 2
    np.testing.assert_allclose(metrics.draw_squares, expected, rtol=1e-5)
    assert np.isnan(metrics.mean).all()


def test_the_rank_is_the_predicted_probability_below_the_truth(
    people_model: Any, full: pd.DataFrame
) -> None:
    model = people_model(recipe="paper")  # its intervals reach from the 5% to the 95% quantile
    low, high = model.predict(full, "age").interval.T
    fitted = model.fitted()
    evidence = fitted.evidence(full).hide([fitted.schema.position("age")])
    for edge, share in ((low, 0.05), (high, 0.95)):
        truth = fitted.evidence(full.assign(age=edge))
        metrics = compute_step_metrics(fitted, evidence, truth, "age")
        np.testing.assert_allclose(metrics.rank, share, atol=1e-4)


def test_the_rank_of_a_count_includes_half_the_probability_of_the_truth(
    model: PartialVAE, full: pd.DataFrame
) -> None:
    zero, one = (
        step_metrics_without_evidence(model.fitted(), full.assign(visits=n), "visits") for n in (0, 1)
    )
    np.testing.assert_allclose(zero.rank, np.exp(zero.log_prob) / 2, rtol=1e-5)
    np.testing.assert_allclose(one.rank, np.exp(zero.log_prob) + np.exp(one.log_prob) / 2, rtol=1e-5)


@pytest.mark.parametrize("target", ["age", "visits", "pain"])
def test_true_numbers_are_those_of_the_table(model: PartialVAE, full: pd.DataFrame, target: str) -> None:
    fitted = model.fitted()
    levels = fitted.schema[target].levels
    expected = full[target].map(levels.index) if levels else full[target]
    numbers = true_numbers(fitted, fitted.evidence(full), target)
    np.testing.assert_allclose(numbers, expected.astype(float), rtol=1e-6)
    assert target == "age" or (numbers == np.rint(numbers)).all()


def test_chunks_of_rows_give_the_metrics_of_all_rows(
    model: PartialVAE, full: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted = model.fitted()
    truth = fitted.evidence(full)
    whole = compute_step_metrics(fitted, truth.hide([0]), truth, "age")
    monkeypatch.setattr("eddi.model.fitted.CHUNK_CELLS", 1)
    chunked = compute_step_metrics(fitted, truth.hide([0]), truth, "age")
    np.testing.assert_allclose(chunked.mean, whole.mean, rtol=1e-5)
    np.testing.assert_allclose(chunked.log_prob, whole.log_prob, rtol=1e-4)


@pytest.mark.parametrize("target", ["age", "pain"])
def test_metrics_of_several_steps_at_once_are_those_of_each_step(
    model: PartialVAE, full: pd.DataFrame, target: str
) -> None:
    fitted = model.fitted()
    truth = fitted.evidence(full)
    steps = [Evidence.empty(len(truth), N_VARIABLES), truth.hide([fitted.schema.position(target)])]
    for joint, step in zip(compute_joint_metrics(fitted, steps, truth, target), steps, strict=True):
        alone = compute_step_metrics(fitted, step, truth, target)
        np.testing.assert_allclose(joint.log_prob, alone.log_prob, atol=1e-5)
        np.testing.assert_allclose(joint.mean, alone.mean, rtol=1e-5)
