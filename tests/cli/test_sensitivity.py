"""`eddi sensitivity`: the table in words, and as JSON."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from eddi import PartialVAE
from eddi.cli import app
from eddi.cli.sensitivity import describe_difference


@pytest.fixture
def table(model: PartialVAE, people: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Rows with missing values, with their model and their table in the working folder."""
    monkeypatch.chdir(tmp_path)
    model.save("people.eddi")
    table = people(20, seed=3, missing=0.3)
    table.to_csv("people.csv", index=False)
    return table


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["sensitivity", "people.eddi", "people.csv", "-t", "age", *arguments])


def test_assumptions_are_printed_in_words(table: Any) -> None:
    result = run("--variable", "pain", "--largest", "2")
    assert result.exit_code == 0, result.stderr
    assert f"pain: {table['pain'].isna().sum()} rows have no value" in result.stdout
    for words in ("2 sd lower", "1 sd lower", "like the others", "1 sd higher", "2 sd higher"):
        assert words in result.stdout
    assert "prediction of age" in result.stdout


@pytest.mark.usefixtures("table")
def test_every_variable_with_missing_values_is_analysed_by_default() -> None:
    documents = json.loads(run("--json").stdout)
    assert len(documents) > 2
    assert all(document["target"] == "age" for document in documents)
    assert documents[0]["deltas"] == [-1.0, -0.5, 0.0, 0.5, 1.0]


def test_complete_rows_need_no_assumption(table: Any) -> None:
    table.dropna().to_csv("people.csv", index=False)
    result = run()
    assert result.exit_code == 0
    assert "no value is missing, so no assumption is needed" in result.stderr


def test_a_difference_is_described_in_standard_deviations() -> None:
    assert describe_difference(-0.5) == "0.5 sd lower"
    assert describe_difference(0.0) == "like the others"
