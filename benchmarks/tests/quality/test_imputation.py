"""The imputation benchmark scores what was hidden, ranks rightly, and goes on after a kill."""

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
    """A method that fills every hole with one number, and the tables it was given."""
    given = []

    def fill(holes, seed):
        given.append((holes, seed))
        numbers = imputation.numbers(holes)
        return np.where(np.isnan(numbers), value, numbers)

    return Method(name, fill, {"value": value}), given


def silent(_):
    """Say nothing."""


def result(dataset, seed, method, error):
    return Result(dataset, seed, method, error, {}, seconds=1.0, inputs={}, circumstances={})


def test_exactly_the_share_is_hidden_and_the_seed_says_which():
    hidden = imputation.hide((50, 4), 0)
    assert hidden.sum() == 60
    assert (hidden == imputation.hide((50, 4), 0)).all()
    assert (hidden != imputation.hide((50, 4), 1)).any()


def test_a_table_with_holes_lacks_the_hidden_cells_and_nothing_else():
    table = pa.table({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
    hidden = np.array([[True, False], [False, False], [False, True]])
    holes = imputation.with_holes(table, hidden)
    assert holes.to_pydict() == {"a": [None, 2, 3], "b": [0.5, 1.5, None]}
    assert holes.schema.types == table.schema.types


def test_only_hidden_cells_are_scored_in_units_of_the_columns_sd():
    truth = np.array([[0.0, 10.0], [2.0, 30.0], [0.0, 10.0], [2.0, 30.0]])  # sd 1 and 10
    hidden = np.array([[True, False], [True, False], [False, False], [False, True]])
    filled = truth + np.array([[3.0, 99.0], [4.0, 99.0], [99.0, 99.0], [99.0, 5.0]])
    errors = imputation.column_errors(truth, filled, hidden)
    np.testing.assert_allclose(errors, [np.sqrt((9 + 16) / 2), 0.5])


def test_a_column_without_hidden_cells_has_no_error():
    truth = np.array([[0.0, 1.0], [2.0, 3.0]])
    errors = imputation.column_errors(truth, truth + 1, np.array([[True, False], [True, False]]))
    assert errors[0] == 1
    assert np.isnan(errors[1])


@pytest.mark.parametrize("method", imputation.methods(max_steps=20), ids=lambda method: method.name)
def test_every_method_fills_every_hole_and_leaves_the_rest(method):
    first = np.random.default_rng(0).normal(size=60)
    table = pa.table({"a": first, "b": 50 + 3 * first, "c": np.arange(60) % 2})
    hidden = imputation.hide((60, 3), 0)
    filled = method.fill(imputation.with_holes(table, hidden), 0)
    truth = imputation.numbers(table)
    assert np.isfinite(filled).all()
    np.testing.assert_allclose(filled[~hidden], truth[~hidden], rtol=1e-6, atol=1e-9)
    assert not np.allclose(filled[hidden], truth[hidden])


def test_the_mean_method_fills_the_mean_of_what_is_observed():
    (mean,) = [method for method in imputation.methods() if method.name == "mean"]
    filled = mean.fill(pa.table({"a": [1.0, None, 3.0], "b": [None, 5.0, 7.0]}), 0)
    np.testing.assert_allclose(filled, [[1, 6], [2, 5], [3, 7]])


def test_the_forest_can_be_left_out():
    assert "forest" in [method.name for method in imputation.methods()]
    assert "forest" not in [method.name for method in imputation.methods(forest=False)]


@pytest.mark.usefixtures("yacht")
def test_a_result_names_its_data_seed_versions_and_error(tmp_path):
    method, _ = constant("zero")
    found = imputation.run(["yacht"], SEEDS, [method], tmp_path, say=silent)
    content = json.loads((tmp_path / "yacht-1-zero.json").read_text())
    assert content["seed"] == 1
    assert (
        content["error"] == found[1].error == pytest.approx(np.mean(list(content["by_column"].values())))
    )
    assert len(content["inputs"]["sha256"]) == 64
    assert content["seconds"] >= 0
    assert {"torch", "eddi-ml", "python"} <= set(content["circumstances"]["versions"])


@pytest.mark.usefixtures("yacht")
def test_a_method_never_sees_a_hidden_cell(tmp_path):
    method, given = constant("zero")
    imputation.run(["yacht"], [3], [method], tmp_path, say=silent)
    [(holes, seed)] = given
    assert seed == 3
    assert (np.isnan(imputation.numbers(holes)) == imputation.hide((40, 3), 3)).all()


@pytest.mark.usefixtures("yacht")
def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    zero, given = constant("zero")

    def kill(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        imputation.run(["yacht"], SEEDS, [zero, Method("deadly", kill, {})], tmp_path, say=silent)
    one, given_to_one = constant("one", 1.0)
    found = imputation.run(["yacht"], SEEDS, [zero, one], tmp_path, say=silent)
    assert [seed for _, seed in given] == [0, 1]  # seed 0 not twice
    assert [seed for _, seed in given_to_one] == [0, 1]
    again = imputation.run(["yacht"], SEEDS, [zero, one], tmp_path, say=silent)
    assert again == found
    assert len(given) == len(given_to_one) == 2


@pytest.mark.usefixtures("yacht")
def test_a_result_of_other_settings_or_a_damaged_one_is_taken_anew(tmp_path):
    method, given = constant("zero")
    imputation.run(["yacht"], [0], [method], tmp_path, say=silent)
    imputation.run(["yacht"], [0], [replace(method, settings={"value": 2})], tmp_path, say=silent)
    assert len(given) == 2
    (tmp_path / "yacht-0-zero.json").write_text('{"dataset": "ya')
    imputation.run(["yacht"], [0], [method], tmp_path, say=silent)
    assert len(given) == 3


def test_ranks_are_averaged_over_sets_and_seeds_and_ties_are_shared():
    found = [
        *(result("boston", 0, name, error) for name, error in [("a", 0.1), ("b", 0.2), ("c", 0.3)]),
        *(result("boston", 1, name, error) for name, error in [("a", 0.3), ("b", 0.2), ("c", 0.1)]),
        *(result("yacht", 0, name, error) for name, error in [("a", 0.5), ("b", 0.5), ("c", 0.9)]),
        *(result("yacht", 1, name, error) for name, error in [("a", 0.2), ("b", 0.4), ("c", 0.3)]),
    ]
    # a: 1 3 1.5 1, b: 2 2 1.5 3, c: 3 1 3 2
    assert imputation.average_ranks(found) == {"a": 1.625, "b": 2.125, "c": 2.25}


def test_the_table_has_the_mean_its_standard_error_and_the_best_method_first():
    found = [
        *(result("boston", seed, "bad", 0.9) for seed in SEEDS),
        *(result("boston", seed, "good", error) for seed, error in zip(SEEDS, [0.4, 0.6], strict=True)),
    ]
    table = imputation.as_table(found)
    methods, boston, ranks = (list(column.cells) for column in table.columns)
    assert methods == ["good", "bad"]
    assert boston[0] == "0.500 ±0.100\n1.0 s"  # sd 0.1414 over the root of 2
    assert ranks == ["1.00", "2.00"]


@pytest.mark.usefixtures("yacht")
def test_the_command_runs_and_keeps_a_quick_result_apart(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("eddi_benchmarks.__main__.QUICK_STEPS", 20)
    options = ["imputation", "--quick", "--no-forest", "--sets", "yacht", "--results", str(tmp_path)]
    assert main(options) == 0
    assert "PNP, inferred kinds" in capsys.readouterr().out
    assert len(list((tmp_path / "quick" / "imputation").glob("yacht-0-*.json"))) == 5


@pytest.mark.usefixtures("yacht")
def test_the_command_says_at_once_which_dataset_is_missing(tmp_path, capsys):
    options = ["imputation", "--sets", "yacht", "kin8nm", "--results", str(tmp_path / "results")]
    assert main(options) == 1
    assert "the dataset 'kin8nm' is not on this machine" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()
