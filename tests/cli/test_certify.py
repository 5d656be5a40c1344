"""`eddi certify` and ``--risk``: a promise from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import eddi
from eddi.cli.app import app


@pytest.fixture(scope="module")
def fitted(people: Any, people_schema: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model as `eddi fit` writes it, hardly trained."""
    folder = tmp_path_factory.mktemp("fitted")
    people(80, seed=0).to_csv(folder / "people.csv", index=False)
    people(60, seed=1).to_csv(folder / "held_out.csv", index=False)
    (folder / "people.toml").write_text(people_schema.to_toml(), encoding="utf-8")
    known = ("--schema", folder / "people.toml", "--target", "smoker", "--steps", 1)
    done = eddi_("fit", folder / "people.csv", "-o", folder / "people.eddi", *known)
    assert done.exit_code == 0, done.output
    return folder / "people.eddi"


def eddi_(*words: object, typed: str = "") -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], input=typed)


def test_fitting_certifies_a_declared_target_of_levels(fitted: Path) -> None:
    (found,) = eddi.load(fitted).certificates_.values()
    assert found.target == ("smoker",)
    assert 0 < found.n_rows <= 8
    asked = eddi_("ask", fitted, "--risk", 0.9, typed="{}")
    assert asked.exit_code == 0, asked.output
    assert "prediction" in asked.stdout


def test_a_quantity_is_certified_on_rows_of_ones_own(fitted: Path, tmp_path: Path) -> None:
    refused = eddi_("ask", fitted, "-t", "age", "--risk", 0.5, "--within", 500, typed="{}")
    assert refused.exit_code == 1
    assert "Certify it on a held-out table" in " ".join(refused.stderr.split())
    output = tmp_path / "certified.eddi"
    held_out = fitted.with_name("held_out.csv")
    done = eddi_("certify", fitted, held_out, "-t", "age", "--within", 500, "-o", output, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["n_wrong"][0] == 0
    assert "least risk" in " ".join(done.stderr.split())
    asked = eddi_("ask", output, "-t", "age", "--risk", 0.5, "--within", 500, typed="{}")
    assert json.loads(asked.stdout)["question"] is None  # certain from the start
