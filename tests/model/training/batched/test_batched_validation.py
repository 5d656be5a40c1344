"""Validation of several networks at once, compared with separate ones."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT
from eddi.model.training.batched.batched_validation import BatchedValidation
from eddi.model.training.batched_training import BatchedStep, StackedWeights
from eddi.model.training.validation import Validation
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SPECS = [VariableSpec(Kind.REAL), VariableSpec(Kind.COUNT), VariableSpec(Kind.BINARY, n_levels=2)]
RECIPE = replace(DEFAULT, hidden=(16, 16), latent=3, identity=3, term=6)
CPU = torch.device("cpu")


def validate(n_rows: int, seed: int) -> Validation:
    values = np.random.default_rng(seed).integers(0, 2, (n_rows, 3)).astype(np.float32)
    evidence = Evidence(values, np.ones_like(values, dtype=bool))
    return Validation(evidence, RECIPE, seed=seed, device=CPU, targets=[0])


def test_the_scores_are_those_of_separate_validations() -> None:
    networks = [Network(SPECS, "precision", RECIPE) for _ in range(3)]
    validations = [validate(20, seed) for seed in range(3)]
    batched = BatchedValidation.if_possible(networks[0], validations)
    assert batched is not None
    expected = [v.score(network) for v, network in zip(validations, networks, strict=True)]
    weights = StackedWeights(networks, RECIPE)
    step = BatchedStep(weights, networks, RECIPE, torch.ones(3, 3))
    scores = batched.scores({**weights.candidates_by_name(), **step.buffers})
    assert scores == pytest.approx(expected, rel=1e-5)


def test_held_out_rows_of_different_numbers_are_validated_one_by_one() -> None:
    network = Network(SPECS, "precision", RECIPE)
    assert BatchedValidation.if_possible(network, [validate(20, 0), validate(21, 1)]) is None
    assert BatchedValidation.if_possible(network, [validate(20, 0), None]) is None


def test_networks_without_marginal_predictions_are_validated_one_by_one() -> None:
    network = Network(SPECS, "pnp", replace(RECIPE, objective="observed"))
    assert BatchedValidation.if_possible(network, [validate(20, 0)]) is None
