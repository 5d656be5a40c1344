"""Results are stored as JSON and read back unchanged."""

import json

import numpy as np

from eddi_benchmarks.harness.run_result import RunResult, read_result, to_json_values, write_result


def test_a_result_is_read_back_as_it_was_written(tmp_path):
    settings = {"dataset": "yacht", "seed": 0, "share": 0.5, "sizes": [1, 2]}
    write_result(tmp_path, RunResult("yacht-0", settings, {"rmse": [1.5]}, {"seconds": 2.0}))
    assert read_result(tmp_path, "yacht-0", settings) == RunResult(
        "yacht-0", settings, {"rmse": [1.5]}, {"seconds": 2.0}, tmp_path / "yacht-0"
    )


def test_the_keys_of_a_result_file_are_those_of_earlier_results(tmp_path):
    write_result(tmp_path, RunResult("yacht-0", {"seed": 0}, {"rmse": [1.5]}, {"seconds": 2.0}))
    assert json.loads((tmp_path / "yacht-0.json").read_text()) == {
        "run": "yacht-0",
        "settings": {"seed": 0},
        "figures": {"rmse": [1.5]},
        "circumstances": {"seconds": 2.0},
    }


def test_json_values_have_six_significant_digits_and_no_nan():
    values = {"curve": np.array([1 / 3, np.nan]), "n": 3, "name": "x", "more": [np.float32(0.5), np.inf]}
    assert to_json_values(values) == {
        "curve": [0.333333, None],
        "n": 3,
        "name": "x",
        "more": [0.5, None],
    }
