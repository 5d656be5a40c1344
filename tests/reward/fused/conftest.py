"""Models with factors, and rows with some answers; Triton's interpreter."""

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
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
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

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


@pytest.fixture(scope="session")
def single_input_model() -> FittedModel:
    """A model of every kind of variable that is one input of the factors."""
    schema = eddi.Schema(
        (
            eddi.Variable("weight", Kind.REAL),
            eddi.Variable("height", Kind.REAL),
            eddi.Variable("visits", Kind.COUNT),
            eddi.Variable("smoker", Kind.BINARY, levels=("no", "yes")),
            eddi.Variable("pain", Kind.ORDINAL, levels=("none", "some", "much")),
            eddi.Variable("sex", Kind.CATEGORY, levels=("f", "m")),
        )
    )
    estimator = eddi.PartialVAE(
        schema, target="weight", recipe=replace(RECIPE, max_steps=60), random_state=0, device="cpu"
    )
    return estimator.fit(make_correlated(300, schema)).fitted()


@pytest.fixture(scope="session")
def single_input_rows(single_input_model: FittedModel) -> Evidence:
    """Rows of this model in which some answers are known; the first one has none."""
    return hide_half(single_input_model)


@pytest.fixture(scope="session")
def real_model() -> FittedModel:
    """A model of real variables."""
    schema = eddi.Schema(tuple(eddi.Variable(f"x{d}", Kind.REAL) for d in range(6)))
    recipe = replace(RECIPE, max_steps=60)
    estimator = eddi.PartialVAE(schema, target="x5", recipe=recipe, random_state=0, device="cpu")
    return estimator.fit(make_correlated(300, schema)).fitted()


@pytest.fixture(scope="session")
def real_rows(real_model: FittedModel) -> Evidence:
    """Rows of this model in which some answers are known; the first one has none."""
    return hide_half(real_model)


def make_correlated(n_rows: int, schema: eddi.Schema) -> pd.DataFrame:
    random = np.random.default_rng(0)
    numbers = random.normal(size=(n_rows, 2)) @ random.normal(size=(2, len(schema.variables)))
    numbers += 0.3 * random.normal(size=numbers.shape)
    columns: dict[str, Any] = {}
    for variable, column in zip(schema.variables, numbers.T, strict=True):
        edges = np.linspace(-1, 1, len(variable.levels) + 1)[1:-1]
        columns[variable.name] = column
        if variable.kind is Kind.COUNT:
            columns[variable.name] = np.floor(np.exp(column.clip(-2, 2)))
        elif variable.kind.is_discrete:
            columns[variable.name] = np.array(variable.levels)[np.digitize(column, edges)]
    return pd.DataFrame(columns)


def hide_half(model: FittedModel) -> Evidence:
    rows = model.evidence(make_correlated(20, model.schema))
    hidden = np.random.default_rng(1).random(rows.observed.shape) < 0.5
    hidden[0] = True
    return rows.hide(hidden)


@pytest.fixture
def triton() -> Iterator[None]:
    """Triton with its interpreter."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed, so the kernels cannot run")
    if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        pytest.skip("Triton's interpreter does not support this NumPy")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("TRITON_INTERPRET", "1")
        warnings.simplefilter("ignore")  # the interpreter uses deprecated parts of NumPy
        yield


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


@pytest.fixture(scope="session")
def reference_rewards() -> Callable[[FittedModel, Evidence, list[str]], Tensor]:
    """Rewards from predictions of the target after each answer, in plain PyTorch."""

    def compute(model: FittedModel, evidence: Evidence, target: list[str]) -> Tensor:
        with torch.inference_mode():
            context = RewardContext.from_evidence(model, evidence, model.schema.positions(target))
            return context.rewards(EnumerationSettings(n_draws=1))

    return compute
