"""Fixtures of the paper's experiments: results without running anything."""

import pytest

from eddi_benchmarks.harness.run_result import RunResult


def make_comparison_result(dataset, encoder, seed, areas, metric="rmse"):
    """A result whose strategies have these areas by row, and curves that start at 2."""
    strategies = {
        name: {"auic": {metric: rows}, "curves": {metric: [2.0, 1.0 + seed]}}
        for name, rows in areas.items()
    }
    settings = {"dataset": dataset, "set_encoder": encoder, "seed": seed}
    return RunResult(f"{dataset}-{encoder}-{seed}", settings, {"strategies": strategies}, {})


@pytest.fixture
def make_result():
    return make_comparison_result


@pytest.fixture
def comparison_results():
    """Two repetitions of a dataset with two rows, two encoders and two strategies."""
    return [
        make_comparison_result("a", "zi", 0, {"eddi": [1.0, 2.0], "rand": [3.0, 3.0]}),
        make_comparison_result("a", "pn", 0, {"eddi": [2.0, 1.0], "rand": [4.0, 4.0]}),
        make_comparison_result("a", "zi", 1, {"eddi": [1.0, 1.0], "rand": [2.0, 2.0]}),
        make_comparison_result("a", "pn", 1, {"eddi": [3.0, 2.0], "rand": [4.0, 4.0]}),
    ]
