"""The installed command, in a process of its own, on real files."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("eddi"))
# Two threads on a busy core wait for each other far longer than so small a network takes.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"}

Eddi = Callable[..., subprocess.CompletedProcess[str]]


def start(*words: object, folder: Path, command: tuple[str, ...] = (COMMAND,)) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, *map(str, words)],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture
def eddi(tmp_path: Path) -> Eddi:
    """Run the command in the test's own folder."""

    def run(*words: object, folder: Path = tmp_path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *map(str, words)],
            cwd=folder,
            env={**ENVIRONMENT, **env},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def people_csv() -> str:
    """120 people with unicode names, an identifier, holes of three kinds, and numbers as people type."""
    dice = random.Random(0)  # noqa: S311  # no secrets here
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
    path = tmp_path / "people.csv"
    path.write_text(people_csv, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory, people_csv: str) -> Path:
    """A model of the people, trained once for all tests."""
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "people.csv").write_text(people_csv, encoding="utf-8")
    words = [
        "fit",
        "people.csv",
        "-t",
        "risk",
        "-o",
        "people.eddi",
        "--steps",
        "100",
        "--recipe",
        "paper",
    ]
    subprocess.run([COMMAND, *words], cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return folder / "people.eddi"
