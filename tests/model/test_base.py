"""The `Model` protocol, and what strategies and interviews rely on."""

import inspect

import pytest
import torch

from eddi.model.base import Model, ModelSource
from eddi.model.fitted import FittedModel
from eddi.table.evidence import Evidence

PROTOCOL_MEMBERS = sorted(
    name for cls in (Model, ModelSource) for name in vars(cls) if not name.startswith("_")
)


@pytest.fixture(scope="module")
def fitted(model):
    return model.fitted()


@pytest.mark.parametrize("name", PROTOCOL_MEMBERS)
def test_the_fitted_model_has_every_member_of_the_protocol(fitted, name):
    declared = getattr(Model, name)
    assert hasattr(fitted, name)
    if inspect.isfunction(declared):
        implemented = inspect.signature(getattr(FittedModel, name)).parameters
        assert list(implemented)[: len(inspect.signature(declared).parameters)] == list(
            inspect.signature(declared).parameters
        )


def test_the_estimator_and_the_fitted_model_give_the_same_fitted_model(model, fitted):
    assert model.fitted() is fitted
    assert fitted.fitted() is fitted


def test_an_answer_adds_its_term_to_the_code(fitted, people):
    evidence = fitted.evidence(people(6, 1, missing=0))
    before = evidence.hide([3, 4])
    values = torch.from_numpy(evidence.values[:, [3, 4]])
    after = fitted.code(before) + fitted.term(values, [3, 4]).sum(-2)
    assert torch.allclose(after, fitted.code(evidence), atol=1e-5)


def test_joint_draws_are_coded_values_for_any_leading_shape(fitted):
    posterior = fitted.posterior(fitted.code(Evidence.empty(6, 8)).view(2, 3, -1))
    draws = fitted.draw(posterior, 32, seed=0)
    assert draws.shape == (32, 2, 3, 8)
    town = draws[..., 4]
    assert set(town.unique().tolist()) == {0.0, 1.0, 2.0}


def test_draws_depend_on_the_seed_and_not_on_the_batch(fitted, people):
    rows = fitted.evidence(people(5, 2))
    posterior = fitted.posterior(fitted.code(rows))
    single = fitted.posterior(fitted.code(rows[3:4]))
    draws = fitted.draw(posterior, 16, seed=3)
    assert torch.equal(draws, fitted.draw(posterior, 16, seed=3))
    assert not torch.equal(draws, fitted.draw(posterior, 16, seed=4))
    assert torch.allclose(draws[:, 3], fitted.draw(single, 16, seed=3)[:, 0], atol=1e-4)
