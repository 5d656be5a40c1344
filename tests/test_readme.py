"""The README's code is run as it stands, so that it stays true."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eddi

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    assert len(found) == 1
    return found[0]


@pytest.fixture
def patients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    age = random.uniform(20, 80, 120)
    ldl = random.normal(3, 1, 120)
    table = pd.DataFrame(
        {"age": age, "ldl": ldl, "hdl": random.normal(1.4, 0.3, 120), "risk": age / 100 + ldl / 10}
    )
    table.mask(random.random(table.shape) < 0.1).to_csv("patients.csv", index=False)
    return table


def test_the_twenty_lines_run_as_they_stand(patients, monkeypatch):
    asked = []

    def answer(prompt):
        asked.append(prompt)
        return "2.5"

    monkeypatch.setattr("builtins.input", answer)
    code = block("python").replace("random_state=0)", "random_state=0, max_steps=40)")
    said = {"held_out": patients.iloc[:10]}
    exec(compile(code, "README.md", "exec"), said)  # noqa: S102  # our own words
    assert len(asked) == 2  # the blood panel, two values; age was volunteered
    assert said["filled"].isna().sum().sum() == 0
    assert said["curves"].rmse.shape == (3,)


def test_the_schema_in_the_readme_is_a_schema():
    document = block("toml")
    assert tomllib.loads(document)["targets"] == ["risk"]
    whole = document.replace(
        "[variables]\n", '[variables]\nrisk = { kind = "real" }\nldl = { kind = "real" }\n'
    )
    schema = eddi.Schema.from_toml(
        whole.replace("[variables]\n", '[variables]\nhdl = { kind = "real" }\n')
    )
    assert schema.question("blood panel").cost == 40
