"""What later rooms may count on."""

import inspect

import numpy as np
import torch

from eddi.model.base import Model
from eddi.partial_vae import PartialVAE
from eddi.table.evidence import Evidence


def test_a_partial_vae_has_every_verb_of_a_model():
    for verb in ("code", "term", "posterior", "draw"):
        promised = inspect.signature(getattr(Model, verb)).parameters
        assert list(inspect.signature(getattr(PartialVAE, verb)).parameters) == list(promised)


def test_hearing_an_answer_adds_its_term_to_the_code(model, people):
    evidence = model.evidence(people(6, 1, holes=0))
    before = evidence.hide([3, 4])
    values = torch.from_numpy(evidence.values[:, [3, 4]])
    after = model.code(before) + model.term(values, [3, 4]).sum(-2)
    assert torch.allclose(after, model.code(evidence), atol=1e-5)


def test_joint_draws_are_coded_values_of_all_variables_for_any_leading_shape(model):
    posterior = model.posterior(model.code(Evidence.empty(6, 8)).view(2, 3, -1))
    draws = model.draw(posterior, 32, seed=0)
    assert draws.shape == (32, 2, 3, 8)
    town = draws[..., 4]
    assert set(town.unique().tolist()) == {0.0, 1.0, 2.0}


def test_draws_depend_on_the_seed_and_not_on_the_company(model, people):
    posterior = model.posterior(model.code(model.evidence(people(5, 2))))
    alone = model.posterior(model.code(model.evidence(people(5, 2))[3:4]))
    draws = model.draw(posterior, 16, seed=3)
    assert torch.equal(draws, model.draw(posterior, 16, seed=3))
    assert not torch.equal(draws, model.draw(posterior, 16, seed=4))
    assert np.allclose(draws[:, 3], model.draw(alone, 16, seed=3)[:, 0], atol=1e-4)
