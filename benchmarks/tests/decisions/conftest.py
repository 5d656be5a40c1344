"""Fixtures of the decisions suite: runs on an artificial problem with hardly any training."""

from itertools import product

import pytest

from eddi_benchmarks.decisions import experiment as decisions
from eddi_benchmarks.decisions.problem import load_problem
from eddi_benchmarks.harness.run_result import RunResult

SETTINGS = {
    **{"max_train": 150, "max_test": 20, "max_test_classes": 20, "max_questions": 20, "most_ahead": 4},
    **{"our_steps": 20, "paper_steps": 20, "peer_steps": 20, "n_draws": 5},
}
MODELS = ("ours", "paper", "gdfs", "dime")


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
