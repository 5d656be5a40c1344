"""A model with factors, variables of every kind, and rows with some answers."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import eddi
from eddi.model.fitted import FittedModel
from eddi.model.inference.frozen import Encoding
from eddi.model.inference.variable_head import VariableHead
from eddi.model.network.factors.factor_model import FactorMoments
from eddi.reward.candidates import RevealedVariables
from eddi.reward.fused.dense_rewards import DenseRewards, Tail
from eddi.table.evidence import Evidence

RECIPE = replace(
    eddi.recipes.DEFAULT,
    identity=8,
    offset=8,
    term=32,
    hidden=(96, 96),
    folds=0,
    max_steps=20,
    passes=None,
)


@pytest.fixture(scope="session")
def wide_model(people: Any, people_schema: eddi.Schema) -> FittedModel:
    """A model with the widths that the kernel supports, trained for a few steps."""
    estimator = eddi.PartialVAE(people_schema, target="age", recipe=RECIPE, random_state=0, device="cpu")
    return estimator.fit(people(300, seed=0)).fitted()


@pytest.fixture(scope="session")
def some_rows(people: Any, wide_model: FittedModel) -> Evidence:
    """Rows in which some answers are known, one without any, and one with all."""
    rows = wide_model.evidence(people(20, seed=3))
    hidden = np.random.default_rng(0).random(rows.observed.shape) < 0.5
    hidden[0] = True
    hidden[1] = False
    return rows.hide(hidden)


class PlainTail:
    """The tail in plain PyTorch, for all answers."""

    def __init__(self, model: FittedModel, head: VariableHead) -> None:
        self.frozen, self.head = model.frozen, head

    def outputs(
        self, encoding: Encoding, values: Tensor, variables: Tensor, is_candidate: Tensor
    ) -> tuple[Tensor, FactorMoments]:
        rows = torch.arange(len(values)).repeat_interleave(len(variables))
        flat, owners = values.flatten(), variables.repeat(len(values))
        terms = self.frozen.first_layer_term(flat, owners)
        assert self.frozen.factors is not None
        assert encoding.factors is not None
        updates = self.frozen.factors.updates(encoding.factors)
        inputs = self.frozen.factors.factors.inputs(flat, owners)
        cells = rows * len(self.frozen.factors.precision) + owners
        factors = updates.moments(rows, cells, inputs)
        features = self.frozen.features_from(encoding.first_layer[rows] + terms, factors)
        outputs = F.linear(features.inputs, *self.head.weights)
        return outputs.masked_fill(~is_candidate.flatten()[:, None], torch.nan), factors


@pytest.fixture(scope="session")
def dense_rewards() -> Callable[..., DenseRewards]:
    """A function that returns rewards with dense tensors, by default with a tail in plain PyTorch."""
    return build_dense_rewards


def build_dense_rewards(
    model: FittedModel, target: Sequence[str], tail: Tail | None = None, *, n_points: int = 8
) -> DenseRewards:
    positions = model.schema.positions(target)
    assert model.marginal_predictor is not None
    return DenseRewards.from_predictor(
        model.marginal_predictor,
        positions,
        tail or PlainTail(model, model.marginal_predictor.target_head(positions)),
        RevealedVariables.from_model(model, positions),
        n_points=n_points,
        n_questions=len(model.schema.questions),
    )
