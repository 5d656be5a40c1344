"""The code and the schema in the README work as printed."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eddi

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def read_code_block(language: str, containing: str = "") -> str:
    """The only block of code in this language that contains a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)
    blocks = [block for block in blocks if containing in block]
    assert len(blocks) == 1
    return str(blocks[0])


@pytest.fixture
def patients(tmp_path, monkeypatch):
    """A table of patients, also as a file in the working folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    age = random.uniform(20, 80, 120)
    ldl = random.normal(3, 1, 120)
    table = pd.DataFrame(
        {"age": age, "ldl": ldl, "hdl": random.normal(1.4, 0.3, 120), "risk": age / 100 + ldl / 5}
    )
    table.mask(random.random(table.shape) < 0.1).to_csv("patients.csv", index=False)
    return table


def test_the_python_example_runs(patients, monkeypatch):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return "2.5"

    monkeypatch.setattr("builtins.input", answer)
    code = read_code_block("python", "eddi.PartialVAE(")
    code = code.replace("random_state=0)", "random_state=0, max_steps=40)")
    assert "max_steps=40" in code
    names = {"held_out": patients.iloc[:10]}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # our own example
    assert len(prompts) == 2  # the two values of the blood panel; the age was volunteered
    assert sum(column.null_count for column in names["filled"].columns) == 0
    assert names["curves"].rmse.shape == (3,)


def test_the_scikit_learn_example_runs(patients):
    code = read_code_block("python", "PartialVAEClassifier")
    code = code.replace("random_state=0)", "random_state=0, max_steps=20)")
    table = patients.dropna()
    names = {"eddi": eddi, "X": table.drop(columns="risk"), "y": table["risk"] > table["risk"].median()}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # our own example
    assert list(names["model"].classes_) == [False, True]


def test_the_schema_example_is_a_valid_schema():
    document = read_code_block("toml")
    assert tomllib.loads(document)["targets"] == ["risk"]
    omitted = "".join(f'{name} = {{ kind = "real" }}\n' for name in ("risk", "ldl", "hdl"))
    schema = eddi.Schema.from_toml(document.replace("[variables]\n", f"[variables]\n{omitted}"))
    assert schema.question("blood panel").cost == 40
    assert schema["age"].unit == "years"
