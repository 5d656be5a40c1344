"""`eddi certify` and the option ``--risk``: guaranteed error rates on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import eddi
from eddi.cli import app
from eddi.model.recipe import MIN_HOLD_OUT_ROWS


def run(*arguments: object, stdin: str = "") -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture(scope="module")
def model_file(people: Any, people_schema: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A barely trained model, written by `eddi fit`."""
    folder = tmp_path_factory.mktemp("fitted")
    people(MIN_HOLD_OUT_ROWS, seed=0).to_csv(folder / "people.csv", index=False)
    people(60, seed=1).to_csv(folder / "held_out.csv", index=False)
    (folder / "people.toml").write_text(people_schema.to_toml(), encoding="utf-8")
    options = ("--schema", folder / "people.toml", "--target", "smoker", "--steps", 1)
    result = run("fit", folder / "people.csv", "-o", folder / "people.eddi", *options)
    assert result.exit_code == 0, result.output
    return folder / "people.eddi"


def test_fitting_certifies_a_declared_target_with_levels(model_file: Path) -> None:
    (certificate,) = eddi.load(model_file).certificates_.values()
    assert certificate.target == ("smoker",)
    assert 0 < certificate.n_rows <= MIN_HOLD_OUT_ROWS // 10
    result = run("ask", model_file, "--risk", 0.9, stdin="{}")
    assert result.exit_code == 0, result.output
    assert "prediction" in result.stdout


def test_a_numeric_target_is_certified_on_a_held_out_table(model_file: Path, tmp_path: Path) -> None:
    question = ("-t", "age", "--risk", 0.5, "--within", 500)
    rejected = run("ask", model_file, *question, stdin="{}")
    assert rejected.exit_code == 1
    assert "Certify it on a held-out table" in " ".join(rejected.stderr.split())
    output, held_out = tmp_path / "certified.eddi", model_file.with_name("held_out.csv")
    options = ("-t", "age", "--within", 500, "-o", output, "--json")
    certified = run("certify", model_file, held_out, *options)
    assert certified.exit_code == 0, certified.output
    assert json.loads(certified.stdout)["n_wrong"][0] == 0
    assert "smallest risk" in " ".join(certified.stderr.split())
    answered = run("ask", output, *question, stdin="{}")
    assert json.loads(answered.stdout)["question"] is None  # the tolerance makes any prediction correct
