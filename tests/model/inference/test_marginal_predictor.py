"""The marginal predictor builds heads and answers once; the paper's recipe has none."""

import pytest
import torch

from eddi.table.evidence import Evidence


@pytest.fixture(scope="module")
def fitted(model):
    return model.fitted()


@pytest.fixture(scope="module")
def predictor(fitted):
    return fitted.marginal_predictor


def test_heads_and_answers_are_cached(predictor):
    assert predictor.target_head([0, 2]) is predictor.target_head((0, 2))
    assert predictor.answer_support(4) is predictor.answer_support(4)


def test_the_probabilities_of_the_answers_to_every_variable_sum_to_one(fitted, predictor):
    n_variables = len(fitted.schema.variables)
    with torch.inference_mode():
        features = fitted.frozen.features(fitted.code(Evidence.empty(1, n_variables)))
        probabilities = predictor.answer_support()(features).probabilities
    assert float(probabilities.sum()) == pytest.approx(n_variables, rel=1e-5)


def test_the_recipe_of_the_paper_has_no_marginal_predictor(people_model):
    assert people_model(recipe="paper").fitted().marginal_predictor is None
