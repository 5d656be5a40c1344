"""Who chooses in a simulation at the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from eddi import simulate
from eddi.cli.app import app
from eddi.strategy import Information, Lookahead, Random


@pytest.fixture
def rows(model, people, tmp_path, monkeypatch):
    """A few held-out people, their model and their table in the working folder."""
    monkeypatch.chdir(tmp_path)
    model.save("people.eddi")
    table = people(6, seed=3)
    table.to_csv("people.csv", index=False)
    return table


@pytest.mark.parametrize(
    ("name", "strategy"),
    [("information", Information()), ("lookahead", Lookahead()), ("random", Random())],
)
def test_a_strategy_at_the_command_line_is_the_library_s(model, rows, name, strategy):
    words = ("simulate", "people.eddi", "people.csv", "-t", "stage", "--steps", "2", "--json")
    done = CliRunner().invoke(app, [*words, "--strategy", name])
    assert done.exit_code == 0, done.stderr
    expected = simulate(model, rows, "stage", strategy=strategy, max_steps=2)
    assert np.array_equal(json.loads(done.stdout)["order"], expected.order)


@pytest.mark.usefixtures("rows")
def test_a_strategy_that_is_none_is_wrong_usage():
    done = CliRunner().invoke(app, ["simulate", "people.eddi", "people.csv", "--strategy", "guess"])
    assert done.exit_code == 2
