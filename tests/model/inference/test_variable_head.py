"""The marginal heads of some variables are those of all variables, restricted to these."""

import copy
from dataclasses import replace

import pytest
import torch

from eddi.model.network.factors.factor_model import FactorPosterior
from eddi.model.network.features import Features
from eddi.model.network.likelihood import Count


@pytest.fixture(scope="module")
def fitted(people_model):
    """A model with factors, whose logits are a part of every prediction of levels."""
    fitted = people_model(set_encoder="precision").fitted()
    network = copy.deepcopy(fitted.network)
    for head in network.marginals.heads():
        network.marginals.factor_share[head.outputs] = 0.5 * head.likelihood.has_levels
    return replace(fitted, network=network)


@pytest.fixture(scope="module")
def predictor(fitted):
    return fitted.marginal_predictor


@pytest.fixture(scope="module")
def features(fitted, people):
    with torch.inference_mode():
        return fitted.frozen.features(fitted.code(fitted.evidence(people(6, seed=2))))


def all_outputs(fitted, features):
    """The outputs of the network plus the share of the factor model."""
    network = fitted.network
    logits = network.factor_outputs(features)
    return network.marginals(features.inputs) + network.marginals.factor_share * logits


def first_and_second(features):
    """The features of the first and of the second row."""
    posteriors = (
        FactorPosterior(features.factors.mean[[row]], features.factors.covariance[[row]])
        for row in (0, 1)
    )
    return [Features(features.inputs[[row]], p) for row, p in enumerate(posteriors)]


@pytest.mark.parametrize("variable", range(8))
def test_the_head_of_a_variable_computes_its_own_outputs(fitted, predictor, features, variable):
    marginals = fitted.network.marginals
    head = predictor.target_head([variable])
    outputs = all_outputs(fitted, features)[:, marginals.output_rows([variable])]
    torch.testing.assert_close(head(features), outputs)


def test_the_head_of_several_variables_is_in_their_order(fitted, predictor, features):
    level = torch.full((6, 8), 0.3)
    target = [5, 0, 4]
    head = predictor.target_head(target)
    marginals = fitted.network.marginals
    expected = marginals.quantile(all_outputs(fitted, features), level)[:, target]
    torch.testing.assert_close(head.heads.quantile(head(features), level[:, :3]), expected)


def test_the_kl_of_a_prediction_from_itself_is_zero(fitted, predictor, features):
    n_variables = len(fitted.schema.variables)
    head = predictor.target_head(range(n_variables))
    outputs = head(features)
    divergence = head.kl_by_variable(outputs, outputs)
    assert divergence.shape == (6, n_variables)
    assert divergence.abs().max() < 1e-5


def test_the_order_of_the_kl_is_that_of_the_heads(predictor, features):
    target = [4, 0, 5, 2]
    head = predictor.target_head(target)
    first, second = first_and_second(features)
    by_variable = head.kl_by_variable(head(first), head(second))[0]
    for divergence, place in zip(by_variable, head.order.tolist(), strict=True):
        single = predictor.target_head([target[place]])
        torch.testing.assert_close(
            divergence, single.kl_by_variable(single(first), single(second))[0, 0]
        )


def test_an_answer_that_is_certain_has_no_information(predictor, features):
    target = [4, 0, 5, 2]
    head = predictor.target_head(target)
    first, second = first_and_second(features)
    after, before = head(first), head(second)
    nats = head.information_by_variable(head.divergence_terms(after, before), before)[0]
    is_known = torch.tensor([not is_count(predictor, target[place]) for place in head.order.tolist()])
    expected = torch.where(is_known, 0.0, head.kl_by_variable(after, before)[0])
    torch.testing.assert_close(nats, expected, rtol=1e-3, atol=1e-4)


def test_the_first_divergence_term_is_the_kl(predictor, features):
    head = predictor.target_head([4, 0, 5, 2])
    first, second = first_and_second(features)
    after, before = head(first), head(second)
    divergence = torch.cat([terms[..., 0] for terms in head.divergence_terms(after, before)], dim=-1)
    torch.testing.assert_close(divergence, head.kl_by_variable(after, before))


def is_count(predictor, variable):
    return isinstance(predictor.target_head([variable]).groups[0].likelihood, Count)
