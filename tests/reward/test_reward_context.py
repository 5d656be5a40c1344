"""The possible answers of rows, and what the model predicts after each of them."""

import dataclasses

import numpy as np
import pytest
import torch

from eddi import PartialVAE
from eddi.model.recipe import DEFAULT
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence

SETTINGS = EnumerationSettings(n_draws=4)


@pytest.fixture(scope="module")
def model(people, people_schema):
    recipe = dataclasses.replace(DEFAULT, hidden=(32, 32), term=16, folds=0)
    schema = people_schema.with_question("body", reveals=["age", "weight"])
    return PartialVAE(schema, "stage", recipe=recipe, max_steps=50, random_state=0).fit(people(100, 0))


@pytest.fixture
def context(model):
    fitted = model.fitted()
    return RewardContext.from_evidence(
        fitted, Evidence.empty(3, len(fitted.schema.names)), fitted.schema.positions(["stage"])
    )


def test_the_probabilities_of_the_answers_to_a_question_add_up_to_one(context):
    total = torch.zeros((3, len(context.model.schema.questions), 1))
    with torch.inference_mode():
        for answers in context.candidate_answers(SETTINGS):
            answers.add_expectation(torch.ones((len(answers.rows), 1)), total)
    is_open = [q.name != "stage" for q in context.model.schema.questions]
    torch.testing.assert_close(total[..., 0], torch.tensor([is_open] * 3).float())


def test_the_levels_of_a_variable_have_the_predicted_probabilities(context):
    model, (target,) = context.model, context.target
    with torch.inference_mode():
        probabilities = context.level_probabilities(target)
    name = model.schema.names[target]
    predicted = model.predict_evidence(Evidence.empty(3, context.observed.shape[1]), [name])[name]
    torch.testing.assert_close(probabilities, torch.from_numpy(predicted.probabilities).float())


def test_only_questions_that_reveal_one_variable_are_enumerated(context):
    pairs = context.find_enumerated()
    names = context.model.schema.names
    assert pairs.shape[0] == 3
    assert int(pairs[0].sum()) == len(names) - 3  # all but the target, and the two of the body


def test_a_variable_is_unobserved_where_it_has_no_value(model):
    fitted = model.fitted()
    observed = np.zeros((2, len(fitted.schema.names)), dtype=bool)
    observed[1, 5] = True
    context = RewardContext.from_evidence(fitted, Evidence(np.zeros(observed.shape), observed), [0])
    assert context.is_unobserved(5)[:, 0].tolist() == [True, False]


@pytest.mark.parametrize("set_encoder", ["precision", "pnp"])
@pytest.mark.parametrize("name", ["stage", "town", "smoker"])
def test_features_after_a_level_are_those_of_the_code_with_its_answer(
    people, people_schema, set_encoder, name
):
    recipe = dataclasses.replace(DEFAULT, hidden=(32, 32), term=16, folds=0)
    estimator = PartialVAE(
        people_schema, "stage", recipe=recipe, set_encoder=set_encoder, max_steps=20, random_state=0
    )
    fitted = estimator.fit(people(100, 0)).fitted()
    variable, n_levels = fitted.schema.position(name), fitted.schema[name].n_levels
    evidence = fitted.evidence(people(5, seed=1, missing=0.5))
    evidence = evidence.hide(np.arange(evidence.n_variables) == variable)
    rows = slice(1, 5)
    values, observed = (
        np.repeat(part[rows], n_levels, axis=0) for part in (evidence.values, evidence.observed)
    )
    values[:, variable] = np.tile(np.arange(n_levels), 4)
    observed[:, variable] = True
    with torch.inference_mode():
        context = RewardContext.from_evidence(fitted, evidence, [variable])
        features = context.features_after_levels(variable, n_levels, rows=rows)
        expected = RewardContext.from_evidence(fitted, Evidence(values, observed), [0]).features
        torch.testing.assert_close(features.inputs, expected.inputs, rtol=1e-3, atol=1e-4)
        head = fitted.marginal_predictor.target_head(range(evidence.n_variables))
        torch.testing.assert_close(head(features), head(expected), rtol=1e-3, atol=1e-3)
