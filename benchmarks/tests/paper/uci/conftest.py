"""Fixtures for UCI: runs on small artificial tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.paper.uci import experiment as uci

SETTINGS = {"dataset": "small", "set_encoder": "pnp", "seed": 0, "max_steps": 60, "n_draws": 10}


def make_regression_table(n_rows=120):
    random = np.random.default_rng(0)
    x = random.normal(size=(n_rows, 4))
    table = pd.DataFrame(x, columns=["strong", "weak", "noise", "more_noise"])
    table["y"] = 20 * (2 * x[:, 0] - x[:, 1] + 0.1 * random.normal(size=n_rows))
    return table


@pytest.fixture(scope="session")
def settings():
    return SETTINGS


@pytest.fixture(scope="session")
def make_table():
    return make_regression_table


@pytest.fixture(scope="session")
def results():
    """Two datasets, four encoders and two seeds with hardly any training."""
    results = []
    for dataset, encoder, seed in product(["small", "tiny"], ["zi", "zi-m", "pn", "pnp"], [0, 1]):
        settings = {**SETTINGS, "dataset": dataset, "set_encoder": encoder, "seed": seed, "max_steps": 5}
        table = make_regression_table(60 if dataset == "small" else 40)
        measurements = uci.run_on_table(table, settings)
        name = f"{dataset}-{encoder}-{seed}"
        results.append(RunResult(name, settings, measurements, {"seconds": 1.0}))
    return results
