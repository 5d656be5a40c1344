"""Fixtures of the decisions suite: runs on an artificial problem with hardly any training."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import eddi
from eddi.table.variable import Kind
from eddi_benchmarks.decisions import experiment as decisions
from eddi_benchmarks.decisions.problem import Problem, load_problem
from eddi_benchmarks.harness.run_result import RunResult

SETTINGS = {
    **{"max_train": 150, "max_test": 20, "max_test_classes": 20, "max_questions": 20, "most_ahead": 4},
    **{"our_steps": 20, "paper_steps": 20, "peer_steps": 20, "n_draws": 5},
    "own_order_only": False,
}
MODELS = ("ours", "paper", "gdfs", "dime", "linear")  # boosted trees take longer


def make_run_settings(dataset, model, seed=0):
    return {**SETTINGS, "dataset": dataset, "model": model, "seed": seed}


def run_dataset(dataset, model, seed=0):
    settings = make_run_settings(dataset, model, seed)
    measurements = decisions.run_on_problem(load_problem(settings), settings)
    return RunResult(f"{dataset}-{model}-{seed}", settings, measurements, {})


@pytest.fixture(scope="session")
def make_settings():
    return make_run_settings


@pytest.fixture(scope="session")
def run_model():
    return run_dataset


@pytest.fixture(scope="session")
def results():
    """Two seeds of xor with all models."""
    return [run_dataset("xor", model, seed) for model, seed in product(MODELS, (0, 1))]


def make_small_problem(n_rows=120, *, is_class):
    random = np.random.default_rng(0)
    x = random.normal(5, 2, size=(n_rows, 3))
    x[::4, 1] = np.nan
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    table["colour"] = random.choice(["red", "green", "blue"], n_rows)
    table["y"] = (x[:, 0] > 5).astype(int) if is_class else 10 * x[:, 0]
    numbers = tuple(eddi.Variable(name, Kind.REAL) for name in "abc")
    colour = eddi.Variable("colour", Kind.CATEGORY, levels=("blue", "green", "red"))
    target = (
        eddi.Variable("y", Kind.BINARY, levels=(0, 1)) if is_class else eddi.Variable("y", Kind.REAL)
    )
    schema = eddi.Schema((*numbers, colour, target)).with_question("pair", reveals=["b", "c"], cost=5)
    return Problem(table.iloc[:80].copy(), table.iloc[80:], schema, "y", 3)


@pytest.fixture(scope="session")
def make_problem():
    """Three quantities, one with missing values, and a colour; the first quantity is the target's."""
    return make_small_problem


def pytest_collection_modifyitems(items):
    """Tests of complete runs are slow, because all methods are trained."""
    for item in items:
        if "results" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
