"""The code and the schema in the README work as printed."""

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import eddi
from eddi.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SCIKIT_LEARN = (ROOT / "docs" / "how-to" / "scikit-learn.md").read_text(encoding="utf-8")


def read_code_block(language: str, containing: str = "", page: str = README) -> str:
    """The only block of code in this language that contains a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", page, flags=re.DOTALL)
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


@pytest.mark.usefixtures("patients")
def test_the_python_example_runs(monkeypatch):
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return "2.5"

    monkeypatch.setattr("builtins.input", answer)
    code = read_code_block("python", "eddi.PartialVAE(")
    code = code.replace("random_state=0)", "random_state=0, max_steps=40)")
    assert "max_steps=40" in code
    names = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # our own example
    assert len(prompts) == 2  # the two values of the blood panel; the age was volunteered
    assert names["filled"].notna().all(axis=None)
    assert names["curves"].truth.shape == (40,)
    assert names["curves"].rmse.shape == (3,)


def test_the_scikit_learn_example_runs(patients):
    code = read_code_block("python", "PartialVAEClassifier", SCIKIT_LEARN)
    code = code.replace("random_state=0)", "random_state=0, max_steps=20)")
    table = patients.dropna()
    names = {"eddi": eddi, "X": table.drop(columns="risk"), "y": table["risk"] > table["risk"].median()}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  # our own example
    assert list(names["model"].classes_) == [False, True]


@pytest.mark.usefixtures("patients")
def test_the_commands_work_in_sequence_starting_from_one_table(monkeypatch):
    served = []
    monkeypatch.setattr("eddi.cli.serve.run_server", served.append)
    commands = re.search(r"```\n(eddi schema patients.csv.*?)```", README, flags=re.DOTALL)[1]
    for line in commands.splitlines():
        command, _, redirected = line.partition("#")[0].strip().partition(" > ")
        text, _, command = command.rpartition(" | ")
        words = shlex.split(command)
        assert words[0] == "eddi"
        steps = ["--steps", "20"] if words[1] == "fit" else []
        result = CliRunner().invoke(app, [*words[1:], *steps], input=text.strip("echo '") + "\n")
        assert result.exit_code == 0, result.output
        if redirected:
            Path(redirected).write_text(result.stdout, encoding="utf-8")
    assert {path.name for path in Path().iterdir()} == {
        *("patients.csv", "patients.toml", "patients.eddi", "patients.test.csv"),
        *("filled.csv", "curve.png"),
    }
    assert len(pd.read_csv("patients.test.csv")) == 24
    assert pd.read_csv("filled.csv").notna().all(axis=None)
    assert served[0].target == "risk"


def test_the_schema_example_is_a_valid_schema():
    document = read_code_block("toml")
    assert tomllib.loads(document)["targets"] == ["risk"]
    omitted = "".join(f'{name} = {{ kind = "real" }}\n' for name in ("risk", "ldl", "hdl"))
    schema = eddi.Schema.from_toml(document.replace("[variables]\n", f"[variables]\n{omitted}"))
    assert schema.question("blood panel").cost == 40
    assert schema["age"].unit == "years"
