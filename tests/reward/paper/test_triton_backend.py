"""The Triton back end and its kernels, against plain PyTorch.

The kernels run on a GPU if there is one, and in Triton's interpreter otherwise.
"""

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

import eddi
from eddi.model.fitted import FittedModel
from eddi.model.recipe import PAPER, Recipe
from eddi.reward import triton_support
from eddi.reward.paper import triton_backend
from eddi.reward.paper.torch_backend import TorchBackend
from eddi.reward.paper.triton_backend import PackedNetwork, TritonBackend
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SMALL = replace(PAPER, latent=4, identity=4, term=8, hidden=(20, 12), max_steps=150)
TWO_CHUNKS = replace(SMALL, hidden=(100, 50))
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
N_VARIABLES = 6


@pytest.fixture
def triton() -> Iterator[None]:
    """Triton with a GPU or with its interpreter."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed, so the kernels cannot run")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        if DEVICE == "cpu":
            if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
                pytest.skip("there is no GPU, and Triton's interpreter does not support this NumPy")
            patch.setenv("TRITON_INTERPRET", "1")
            warnings.simplefilter("ignore")  # the interpreter uses deprecated parts of NumPy
        yield


def fit(recipe: Recipe = SMALL, *, is_grouped: bool = False, set_encoder: str = "pnp") -> FittedModel:
    schema = eddi.Schema(tuple(eddi.Variable(f"x{d}", Kind.REAL) for d in range(N_VARIABLES)))
    if is_grouped:
        schema = schema.with_question("first", reveals=["x0", "x1", "x2"])
    numbers = np.random.default_rng(0).normal(size=(200, 2)) @ np.ones((2, N_VARIABLES))
    numbers += np.random.default_rng(1).normal(size=numbers.shape)
    model = eddi.PartialVAE(
        schema, recipe=recipe, set_encoder=set_encoder, random_state=0, device=DEVICE
    )
    return model.fit(numbers).fitted()


def pack(model: FittedModel) -> PackedNetwork | None:
    return PackedNetwork.from_network(model.network, model.frozen)


def build_backend(model: FittedModel) -> TritonBackend:
    """The back end of a model, on any device."""
    packed = pack(model)
    assert packed is not None
    return TritonBackend(model, packed)


def make_partial_rows(n_rows: int) -> Evidence:
    random = np.random.default_rng(2)
    values = random.random((n_rows, N_VARIABLES)).astype(np.float32)
    return Evidence(values, random.random(values.shape) < 0.4)


@pytest.mark.usefixtures("triton")
@pytest.mark.parametrize(
    ("recipe", "is_grouped", "set_encoder", "target"),
    [
        (SMALL, False, "pnp", ["x5"]),
        (TWO_CHUNKS, False, "pn", ["x5"]),
        (SMALL, True, "pnp", ["x5"]),
        (SMALL, True, "pnp", ["x4", "x5"]),
    ],
)
def test_the_kernels_give_the_rewards_of_pytorch(
    recipe: Recipe, is_grouped: bool, set_encoder: str, target: list[str]
) -> None:
    model = fit(recipe, is_grouped=is_grouped, set_encoder=set_encoder)
    rows, positions = make_partial_rows(70), model.schema.positions(target)
    rewards = build_backend(model).rewards(rows, positions, n_draws=4, seed=3)
    expected = TorchBackend(model).rewards(rows, positions, n_draws=4, seed=3)
    assert rewards is not None
    assert float((rewards - expected).norm() / expected.norm()) < 2e-3
    assert torch.equal(rewards == 0, expected == 0)  # closed questions, and only those, have reward 0


@pytest.mark.usefixtures("triton")
def test_chunks_of_rows_have_the_rewards_of_all_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, rows = build_backend(fit()), make_partial_rows(9)
    at_once = backend.rewards(rows, [5], n_draws=2, seed=0)
    monkeypatch.setattr(triton_backend, "MAX_NUMBERS", 1_000)  # two or three rows per chunk
    in_chunks = backend.rewards(rows, [5], n_draws=2, seed=0)
    assert at_once is not None
    assert in_chunks is not None
    torch.testing.assert_close(in_chunks, at_once, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("triton")
def test_activations_that_are_too_large_for_float16_are_left_to_pytorch() -> None:
    backend = build_backend(fit())
    packed = replace(backend.packed, slope=backend.packed.slope * 1e9)
    too_large = replace(backend, packed=packed)
    assert too_large.rewards(make_partial_rows(3), [5], n_draws=2, seed=0) is None


@pytest.mark.parametrize(
    ("recipe", "set_encoder"),
    [
        (SMALL, "zi"),
        (replace(SMALL, hidden=(20, 12, 8)), "pnp"),
        (replace(SMALL, hidden=(127, 12)), "pnp"),
        (replace(SMALL, hidden=(20, 63)), "pnp"),
        (replace(SMALL, term=64), "pnp"),
        (replace(SMALL, latent=33), "pnp"),
    ],
)
def test_networks_that_do_not_fit_the_kernels_are_not_supported(
    recipe: Recipe, set_encoder: str
) -> None:
    assert pack(fit(replace(recipe, max_steps=1), set_encoder=set_encoder)) is None


def test_models_with_levels_are_not_supported() -> None:
    table = pd.DataFrame({"answer": ["yes", "no"] * 20, "number": np.arange(40.0)})
    model = eddi.PartialVAE(recipe=SMALL, max_steps=1, device=DEVICE).fit(table)
    assert pack(model.fitted()) is None


def test_a_cpu_is_not_supported() -> None:
    model = fit(replace(SMALL, max_steps=1))
    is_supported = triton_support.can_run_kernels(model.frozen.device)
    assert (TritonBackend.from_model(model) is not None) == is_supported
    assert not triton_support.can_run_kernels(torch.device("cpu"))


def test_the_packed_layers_give_the_posterior_of_the_model() -> None:
    """Each bias is added through two constant units."""
    model = fit(replace(SMALL, max_steps=1))
    packed = pack(model)
    assert packed is not None
    code = torch.randn((5, packed.width), device=DEVICE)
    padded = torch.zeros((5, packed.slope.shape[1]), device=DEVICE)
    padded[:, : packed.width], padded[:, packed.width] = code, 1.0
    hidden = torch.relu(padded @ packed.first.float().sum(0))
    both = torch.relu(hidden @ packed.second.float()) @ packed.last.float()
    mean, log_var = both.view(5, -1, 2).unbind(-1)
    posterior, n_latent = model.posterior(code), model.network.latent
    torch.testing.assert_close(mean[:, :n_latent], posterior.mean, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(log_var[:, :n_latent], posterior.log_var, rtol=1e-2, atol=1e-3)
