"""The imputation benchmark scores hidden cells, ranks methods, and continues after an interruption."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from eddi_benchmarks.__main__ import main
from eddi_benchmarks.quality import imputation
from eddi_benchmarks.quality.imputation import Method, Result

pytestmark = pytest.mark.filterwarnings("ignore:data.csv of the dataset:eddi.errors.EddiWarning")
SEEDS = [0, 1]


def constant(name, value=0.0):
    """A method that imputes one number, and a list of its calls."""
    calls = []

    def impute(table, seed):
        calls.append((table, seed))
        numbers = imputation.to_numbers(table)
        return np.where(np.isnan(numbers), value, numbers)

    return Method(name, impute, {"value": value}), calls


def silent(_):
    """Print nothing."""


def make_result(dataset, seed, method, error):
    return Result(dataset, seed, method, error, {}, seconds=1.0, inputs={}, circumstances={})


def test_the_exact_share_is_hidden_and_the_cells_depend_on_the_seed():
    hidden = imputation.draw_hidden((50, 4), 0)
    assert hidden.sum() == 60
    assert (hidden == imputation.draw_hidden((50, 4), 0)).all()
    assert (hidden != imputation.draw_hidden((50, 4), 1)).any()


def test_only_the_hidden_cells_are_missing():
    table = pa.table({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
    hidden = np.array([[True, False], [False, False], [False, True]])
    incomplete = imputation.hide_cells(table, hidden)
    assert incomplete.to_pydict() == {"a": [None, 2, 3], "b": [0.5, 1.5, None]}
    assert incomplete.schema.types == table.schema.types


def test_only_hidden_cells_are_scored_in_standard_deviations_of_the_column():
    truth = np.array([[0.0, 10.0], [2.0, 30.0], [0.0, 10.0], [2.0, 30.0]])  # sd 1 and 10
    hidden = np.array([[True, False], [True, False], [False, False], [False, True]])
    imputed = truth + np.array([[3.0, 99.0], [4.0, 99.0], [99.0, 99.0], [99.0, 5.0]])
    errors = imputation.column_errors(truth, imputed, hidden)
    np.testing.assert_allclose(errors, [np.sqrt((9 + 16) / 2), 0.5])


def test_a_column_without_hidden_cells_has_no_error():
    truth = np.array([[0.0, 1.0], [2.0, 3.0]])
    errors = imputation.column_errors(truth, truth + 1, np.array([[True, False], [True, False]]))
    assert errors[0] == 1
    assert np.isnan(errors[1])


@pytest.mark.parametrize("method", imputation.methods(max_steps=20), ids=lambda method: method.name)
def test_every_method_imputes_all_hidden_cells_and_leaves_the_others(method):
    first = np.random.default_rng(0).normal(size=60)
    table = pa.table({"a": first, "b": 50 + 3 * first, "c": np.arange(60) % 2})
    hidden = imputation.draw_hidden((60, 3), 0)
    imputed = method.impute(imputation.hide_cells(table, hidden), 0)
    truth = imputation.to_numbers(table)
    assert np.isfinite(imputed).all()
    np.testing.assert_allclose(imputed[~hidden], truth[~hidden], rtol=1e-6, atol=1e-9)
    assert not np.allclose(imputed[hidden], truth[hidden])


def test_the_mean_method_imputes_the_mean_of_the_observed_values():
    (mean,) = [method for method in imputation.methods() if method.name == "mean"]
    imputed = mean.impute(pa.table({"a": [1.0, None, 3.0], "b": [None, 5.0, 7.0]}), 0)
    np.testing.assert_allclose(imputed, [[1, 6], [2, 5], [3, 7]])


def test_the_forest_can_be_left_out():
    assert "forest" in [method.name for method in imputation.methods()]
    assert "forest" not in [method.name for method in imputation.methods(forest=False)]


@pytest.mark.usefixtures("yacht")
def test_a_result_file_has_the_data_the_seed_the_versions_and_the_error(tmp_path):
    method, _ = constant("zero")
    results = imputation.run(["yacht"], SEEDS, [method], tmp_path, say=silent)
    content = json.loads((tmp_path / "yacht-1-zero.json").read_text())
    assert content["seed"] == 1
    mean_error = np.mean(list(content["by_column"].values()))
    assert content["error"] == results[1].error == pytest.approx(mean_error)
    assert len(content["inputs"]["sha256"]) == 64
    assert content["seconds"] >= 0
    assert {"torch", "eddi-ml", "python"} <= set(content["circumstances"]["versions"])


@pytest.mark.usefixtures("yacht")
def test_a_method_does_not_get_the_hidden_cells(tmp_path):
    method, calls = constant("zero")
    imputation.run(["yacht"], [3], [method], tmp_path, say=silent)
    [(table, seed)] = calls
    assert seed == 3
    assert (np.isnan(imputation.to_numbers(table)) == imputation.draw_hidden((40, 3), 3)).all()


@pytest.mark.usefixtures("yacht")
def test_an_interrupted_run_continues_where_it_stopped(tmp_path):
    zero, zero_calls = constant("zero")

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imputation.run(
            ["yacht"], SEEDS, [zero, Method("interrupt", interrupt, {})], tmp_path, say=silent
        )
    one, one_calls = constant("one", 1.0)
    results = imputation.run(["yacht"], SEEDS, [zero, one], tmp_path, say=silent)
    assert [seed for _, seed in zero_calls] == [0, 1]  # seed 0 is not repeated
    assert [seed for _, seed in one_calls] == [0, 1]
    repeated = imputation.run(["yacht"], SEEDS, [zero, one], tmp_path, say=silent)
    assert repeated == results
    assert len(zero_calls) == len(one_calls) == 2


@pytest.mark.usefixtures("yacht")
def test_a_result_with_other_settings_or_a_damaged_file_is_computed_again(tmp_path):
    method, calls = constant("zero")
    imputation.run(["yacht"], [0], [method], tmp_path, say=silent)
    imputation.run(["yacht"], [0], [replace(method, settings={"value": 2})], tmp_path, say=silent)
    assert len(calls) == 2
    (tmp_path / "yacht-0-zero.json").write_text('{"dataset": "ya')
    imputation.run(["yacht"], [0], [method], tmp_path, say=silent)
    assert len(calls) == 3


def test_average_ranks_are_over_datasets_and_seeds_and_ties_share():
    results = [
        *(make_result("boston", 0, name, error) for name, error in [("a", 0.1), ("b", 0.2), ("c", 0.3)]),
        *(make_result("boston", 1, name, error) for name, error in [("a", 0.3), ("b", 0.2), ("c", 0.1)]),
        *(make_result("yacht", 0, name, error) for name, error in [("a", 0.5), ("b", 0.5), ("c", 0.9)]),
        *(make_result("yacht", 1, name, error) for name, error in [("a", 0.2), ("b", 0.4), ("c", 0.3)]),
    ]
    # a: 1 3 1.5 1, b: 2 2 1.5 3, c: 3 1 3 2
    assert imputation.average_ranks(results) == {"a": 1.625, "b": 2.125, "c": 2.25}


def test_the_table_shows_mean_and_standard_error_with_the_best_method_first():
    results = [
        *(make_result("boston", seed, "bad", 0.9) for seed in SEEDS),
        *(
            make_result("boston", seed, "good", error)
            for seed, error in zip(SEEDS, [0.4, 0.6], strict=True)
        ),
    ]
    table = imputation.as_table(results)
    methods, boston, average_ranks = (list(column.cells) for column in table.columns)
    assert methods == ["good", "bad"]
    assert boston[0] == "0.500 ±0.100\n1.0 s"  # sd 0.1414 over the square root of 2
    assert average_ranks == ["1.00", "2.00"]


@pytest.mark.slow
@pytest.mark.usefixtures("yacht")
def test_the_command_stores_quick_results_in_a_separate_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("eddi_benchmarks.__main__.QUICK_STEPS", 20)
    options = ["imputation", "--quick", "--no-forest", "--sets", "yacht", "--results", str(tmp_path)]
    assert main(options) == 0
    assert "EDDI, inferred kinds" in capsys.readouterr().out
    assert len(list((tmp_path / "quick" / "imputation").glob("yacht-0-*.json"))) == 5


@pytest.mark.usefixtures("yacht")
def test_the_command_fails_at_once_if_a_dataset_is_missing(tmp_path, capsys):
    options = ["imputation", "--sets", "yacht", "kin8nm", "--results", str(tmp_path / "results")]
    assert main(options) == 1
    assert "the dataset 'kin8nm' is not on this machine" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
