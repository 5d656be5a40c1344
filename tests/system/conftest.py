"""The installed command in its own process, and the same command in this process.

A process that imports torch takes seconds to start. Tests of what a command prints or writes therefore
call it in this process (`invoke`). Tests of processes, signals and encodings start it (`eddi`).
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import eddi as library
from eddi.cli import app

COMMAND = str(Path(sys.executable).with_name("eddi"))
SOURCE = str(Path(library.__file__).parents[1])
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",  # more threads are slower for so small a network, above all on a busy core
    "COLUMNS": "100",
    # The processes run the code under test, whichever version is installed.
    "PYTHONPATH": os.pathsep.join([SOURCE, *filter(None, [os.environ.get("PYTHONPATH")])]),
}

Eddi = Callable[..., subprocess.CompletedProcess[str]]
Invoke = Callable[..., Result]


def start(
    *arguments: object, folder: Path, command: tuple[str, ...] = (COMMAND,)
) -> subprocess.Popen[str]:
    """Start the command in its own process."""
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture
def eddi(tmp_path: Path) -> Eddi:
    """Runs the command in its own process, in the folder of the test."""

    def run(*arguments: object, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            env={**ENVIRONMENT, **env},
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Runs the command in this process, in the folder of the test."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: str | bytes = "") -> Result:
        return CliRunner().invoke(app, [*map(str, arguments)], input=stdin, env={"COLUMNS": "100"})

    return run


@pytest.fixture(scope="session")
def people_csv() -> str:
    """120 people: non-ASCII names, an identifier, and missing values spelled in three ways."""
    dice = random.Random(0)  # noqa: S311  # not for secrets
    lines = ["patient_id,Größe,体重,smoker,city,risk"]
    for number in range(120):
        height = dice.gauss(170, 10)
        weight = f"{height - 100 + dice.gauss(0, 8):.2f}"
        smoker = dice.choice(["yes", "no"])
        risk = f"{(height - 150) / 10 + 2 * (smoker == 'yes') + dice.gauss(0, 0.3):.3f}"
        city = dice.choice(["Zürich", "São Paulo", '"Paris, France"'])
        cells = [f"{height:.1f}", weight, smoker, city]
        cells = [dice.choice(["", "?", "NA"]) if dice.random() < 0.15 else cell for cell in cells]
        lines.append(",".join([f"{number:05d}", *cells, risk]))
    return "\n".join(lines) + "\n"


@pytest.fixture
def people(tmp_path: Path, people_csv: str) -> Path:
    """The table of people in the folder of the test."""
    path = tmp_path / "people.csv"
    path.write_text(people_csv, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory, people_csv: str) -> Path:
    """The file of a model of the people, trained once for all tests."""
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "people.csv").write_text(people_csv, encoding="utf-8")
    model = library.PartialVAE(target="risk", recipe="paper", max_steps=100, random_state=0)
    model.fit(folder / "people.csv").save(folder / "people.eddi")
    return folder / "people.eddi"
