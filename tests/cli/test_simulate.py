"""`eddi simulate`: strategies and large tables."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from eddi import simulate
from eddi.cli import app
from eddi.strategy import Information, Lookahead, Random
from eddi.table import formats, streaming


@pytest.fixture
def rows(model, people, tmp_path, monkeypatch):
    """Held-out rows, with their model and their table in the working folder."""
    monkeypatch.chdir(tmp_path)
    model.save("people.eddi")
    table = people(6, seed=3)
    table.to_csv("people.csv", index=False)
    return table


def run(*arguments):
    return CliRunner().invoke(app, ["simulate", "people.eddi", *arguments])


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("information", Information()), ("lookahead", Lookahead()), ("random", Random())],
)
def test_a_strategy_asks_the_same_questions_as_in_the_library(model, rows, name, strategy):
    result = run("people.csv", "-t", "stage", "--steps", "2", "--json", "--strategy", name)
    assert result.exit_code == 0, result.stderr
    expected = simulate(model, rows, "stage", strategy=strategy, max_steps=2)
    assert np.array_equal(json.loads(result.stdout)["order"], expected.order)


@pytest.mark.usefixtures("rows")
def test_an_unknown_strategy_is_wrong_usage():
    assert run("people.csv", "--strategy", "guess").exit_code == 2


@pytest.mark.usefixtures("rows")
def test_a_large_file_gives_the_same_error_as_a_table_in_memory(people, monkeypatch):
    pq.write_table(formats.read(people(40, seed=3)), "people.parquet", row_group_size=9)
    arguments = ("people.parquet", "-t", "pain", "--steps", "2")
    in_memory = json.loads(run(*arguments, "--json").stdout)
    monkeypatch.setattr(streaming, "MAX_CELLS_IN_MEMORY", 10)
    streamed = json.loads(run(*arguments, "--json").stdout)
    assert streamed["rmse"] == pytest.approx(in_memory["rmse"])
    assert streamed["n_rows"] == len(in_memory["truth"])
    shown = run(*arguments, "--plot", "curve.png")
    assert shown.exit_code == 0
    assert "most frequent question" in shown.stdout


@pytest.mark.usefixtures("rows")
def test_a_random_and_a_fixed_order_are_simulated_for_comparison():
    arguments = ("people.csv", "-t", "smoker", "--steps", "2")
    document = json.loads(run(*arguments, "--json").stdout)
    assert list(document["baselines"]) == ["random", "fixed"]
    assert [result["name"] for result in document["comparison"]] == ["information", "random", "fixed"]
    shown = run(*arguments)
    assert "AUROC" in shown.stdout
    assert "Always guessing the most frequent class" in shown.stdout
    assert "AUIC, the mean Brier score over all steps" in shown.stdout
    assert "95% interval" in shown.stdout
    alone = json.loads(run(*arguments, "--json", "--no-baselines").stdout)
    assert alone["baselines"] == {}
    assert alone["order"] == document["order"]


@pytest.mark.usefixtures("rows")
def test_the_stopping_rule_of_the_schema_is_used_and_reported(with_schema, people_schema):
    with_schema(replace(people_schema, stop={"after": 1})).save("people.eddi")
    arguments = ("people.csv", "-t", "stage", "--json", "--no-baselines")
    by_schema = run(*arguments)
    assert "stops after one answer" in by_schema.stderr
    document = json.loads(by_schema.stdout)
    assert np.shape(document["order"])[1] == 1
    assert document["stop"] == {"after": 1}
    by_option = run(*arguments, "--after", "2")
    assert "stops after 2 answers" in by_option.stderr
    assert np.shape(json.loads(by_option.stdout)["order"])[1] == 2
