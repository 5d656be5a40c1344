"""The kernels against plain PyTorch: on a GPU where there is one, else in Triton's interpreter."""

import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

import eddi
from eddi.model.recipe import PAPER, Recipe
from eddi.reward.paper import fused, latent_information
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

SMALL = replace(PAPER, latent=4, identity=4, term=8, hidden=(20, 12), max_steps=150)
TWO_CHUNKS = replace(SMALL, hidden=(100, 50))
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
N_VARIABLES = 6


@pytest.fixture
def kernels() -> Iterator[None]:
    """Triton, able to run what it compiles or to interpret it."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed, so the kernels cannot run here")
    with pytest.MonkeyPatch.context() as patched, warnings.catch_warnings():
        if DEVICE == "cpu":
            if np.lib.NumpyVersion(np.__version__) >= "2.4.0":
                pytest.skip("there is no GPU here, and Triton's interpreter does not take this NumPy")
            patched.setenv("TRITON_INTERPRET", "1")
            warnings.simplefilter("ignore")  # what the interpreter asks of NumPy is its own affair
        yield


def fitted(
    recipe: Recipe = SMALL, *, grouped: bool = False, set_encoder: str = "pnp"
) -> eddi.PartialVAE:
    schema = eddi.Schema(tuple(eddi.Variable(f"x{d}", Kind.REAL) for d in range(N_VARIABLES)))
    if grouped:
        schema = schema.with_question("first", reveals=["x0", "x1", "x2"])
    numbers = np.random.default_rng(0).normal(size=(200, 2)) @ np.ones((2, N_VARIABLES))
    numbers += np.random.default_rng(1).normal(size=numbers.shape)
    model = eddi.PartialVAE(
        schema, recipe=recipe, set_encoder=set_encoder, random_state=0, device=DEVICE
    )
    return model.fit(numbers)


def partly_told(n_rows: int) -> Evidence:
    random = np.random.default_rng(2)
    values = random.random((n_rows, N_VARIABLES)).astype(np.float32)
    return Evidence(values, random.random(values.shape) < 0.4)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize(
    ("recipe", "grouped", "set_encoder", "target"),
    [
        (SMALL, False, "pnp", ["x5"]),
        (TWO_CHUNKS, False, "pn", ["x5"]),
        (SMALL, True, "pnp", ["x5"]),
        (SMALL, True, "pnp", ["x4", "x5"]),
    ],
)
def test_kernels_give_the_rewards_of_plain_pytorch(
    recipe: Recipe, grouped: bool, set_encoder: str, target: list[str]
) -> None:
    model, rows = fitted(recipe, grouped=grouped, set_encoder=set_encoder), partly_told(70)
    positions = model.schema_.positions(target)
    pack = fused.Packed.of(model.network_, model.settled_)
    assert pack is not None
    ours = fused.information(model, pack, rows, positions, n_draws=4, seed=3)
    plain = latent_information.eagerly(model, rows, positions, n_draws=4, seed=3)
    assert ours is not None
    assert float((ours - plain).norm() / plain.norm()) < 2e-3
    assert torch.equal(ours == 0, plain == 0)  # what is closed is worth nothing, and nothing else is


@pytest.mark.usefixtures("kernels")
def test_rows_in_chunks_are_the_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, rows = fitted(), partly_told(9)
    pack = fused.Packed.of(model.network_, model.settled_)
    assert pack is not None
    whole = fused.information(model, pack, rows, [5], n_draws=2, seed=0)
    monkeypatch.setattr(fused, "MAX_NUMBERS", 1_000)  # two or three rows at once
    parts = fused.information(model, pack, rows, [5], n_draws=2, seed=0)
    assert whole is not None
    assert parts is not None
    torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-6)


@pytest.mark.usefixtures("kernels")
def test_activations_too_large_for_the_kernels_are_left_to_plain_pytorch() -> None:
    model = fitted()
    pack = fused.Packed.of(model.network_, model.settled_)
    assert pack is not None
    large = replace(pack, slope=pack.slope * 1e9)
    assert fused.information(model, large, partly_told(3), [5], n_draws=2, seed=0) is None


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
def test_networks_that_do_not_fit_are_not_served(recipe: Recipe, set_encoder: str) -> None:
    model = fitted(replace(recipe, max_steps=1), set_encoder=set_encoder)
    assert fused.Packed.of(model.network_, model.settled_) is None


def test_tables_with_levels_are_not_served() -> None:
    table = {"answer": ["yes", "no"] * 20, "number": np.arange(40.0)}
    import pandas as pd

    model = eddi.PartialVAE(recipe=SMALL, max_steps=1, device=DEVICE).fit(pd.DataFrame(table))
    assert fused.Packed.of(model.network_, model.settled_) is None


def test_on_a_cpu_a_model_is_asked_in_plain_pytorch() -> None:
    model = fitted(replace(SMALL, max_steps=1))
    assert fused._can_run(model.settled_.device) or fused.packed(model) is None
    assert not fused._can_run(torch.device("cpu"))


def test_a_layers_bias_comes_back_from_its_constant_units() -> None:
    model = fitted(replace(SMALL, max_steps=1))
    pack = fused.Packed.of(model.network_, model.settled_)
    assert pack is not None
    code = torch.randn((5, pack.width), device=DEVICE)
    x = torch.zeros((5, pack.slope.shape[1]), device=DEVICE)
    x[:, : pack.width], x[:, pack.width] = code, 1.0
    hidden = torch.relu(x @ pack.first.float().sum(0))
    both = torch.relu(hidden @ pack.second.float()) @ pack.last.float()
    mean, log_var = both.view(5, -1, 2).unbind(-1)
    belief = model.posterior(code)
    n = model.network_.latent
    torch.testing.assert_close(mean[:, :n], belief.mean, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(log_var[:, :n], belief.log_var, rtol=1e-2, atol=1e-3)
