"""The installed commands interview, ask and simulate, end to end."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from eddi.cli.app import app

from .conftest import COMMAND, ENVIRONMENT, Eddi

ANSWERS: dict[str, Any] = {"Größe": 181.5, "体重": 80, "smoker": "yes", "city": "Zürich"}


def tell(*words: object, typed: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with ``typed`` on its standard input."""
    return subprocess.run(
        [COMMAND, *map(str, words)],
        cwd=folder,
        env=ENVIRONMENT,
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def ask(fitted: Path, answers: dict[str, Any], *words: object) -> dict[str, Any]:
    """One step, in this process, which has torch loaded already."""
    options = ["ask", str(fitted), "--target", "risk", *map(str, words)]
    result = CliRunner().invoke(app, options, input=json.dumps({"answers": answers}))
    assert result.exit_code == 0, result.stderr
    step = json.loads(result.stdout, parse_constant=pytest.fail)
    assert isinstance(step, dict)
    return step


@pytest.fixture(scope="session")
def asked(fitted: Path) -> list[str]:
    """The questions that `eddi ask` asks one after another."""
    told: dict[str, Any] = {}
    while (question := ask(fitted, told)["question"]) is not None:
        told[question["name"]] = ANSWERS[question["name"]]
    return list(told)


def typed(names: list[str]) -> str:
    return "".join(f"{ANSWERS[name]}\n" for name in names)


def test_asking_in_a_loop_is_the_interview(fitted: Path, tmp_path: Path, asked: list[str]) -> None:
    assert sorted(asked) == sorted(ANSWERS)
    words = ("interview", fitted, "-t", "risk", "--record", "r.json")
    result = tell(*words, typed=typed(asked), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Interview complete. 4 questions." in result.stdout
    assert "\x1b" not in result.stdout
    record = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert [answer["question"] for answer in record["answers"]] == asked
    assert record["answers"][asked.index("体重")]["values"] == {"体重": 80.0}

    # What the interview kept is what `ask` takes, and both believe the same.
    document = (tmp_path / "r.json").read_text(encoding="utf-8")
    step = json.loads(tell("ask", fitted, typed=document, folder=tmp_path).stdout)
    assert step["question"] is None
    assert step == ask(fitted, ANSWERS)


def test_an_interview_that_was_killed_goes_on(fitted: Path, tmp_path: Path, asked: list[str]) -> None:
    record = tmp_path / "r.json"
    words = ("interview", fitted, "--target", "risk", "--record", record.name)
    process = subprocess.Popen(
        [COMMAND, *map(str, words)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(typed(asked[:2]))
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (record.exists() and len(json.loads(record.read_text("utf-8"))["answers"]) == 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.stdin.close()
    assert process.wait() == -signal.SIGKILL

    resumed = tell(*words, typed=typed(asked[2:]), folder=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming from r.json" in resumed.stderr
    told = json.loads(record.read_text("utf-8"))["answers"]
    assert [answer["question"] for answer in told] == asked
    assert not list(tmp_path.glob("*.unfinished"))


def test_a_step_stops_when_told_to(fitted: Path) -> None:
    assert ask(fitted, {"smoker": "yes"}, "--after", 1)["question"] is None
    assert ask(fitted, {"smoker": None}, "--budget", 1)["question"] is None
    step = ask(fitted, {"smoker": {"without": "declined"}}, "--budget", 2)
    assert set(step["prediction"]["risk"]) == {"mean", "sd", "interval"}
    assert set(step["rewards"]) == {"Größe", "体重", "city"}


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (["ask"], "{", "standard input is not JSON"),
        (["ask"], "\udcff", "standard input is not JSON"),
        (["ask"], '{"answers": {"mood": 1}}', "there is no question 'mood'. Questions are: 'Größe'"),
        (["ask"], '{"answers": {"smoker": "often"}}', "'smoker' must be one of no, yes, got 'often'"),
        (["ask", "--target", "mood"], "{}", "the target 'mood' is not a variable"),
        (["ask", "--target", "patient_id"], "{}", "the target 'patient_id' is set aside"),
        (["ask", "--budget", "0"], "{}", "the budget must be above 0, got 0"),
        (["interview", "--target", "mood"], "", "the target 'mood' is not a variable"),
        (["interview", "--record", "no/r.json"], "", "there is no folder 'no'"),
        (["simulate", "absent.csv", "--target", "mood"], "", "the target 'mood' is not a variable"),
        (["simulate", "absent.csv"], "", "there is no file 'absent.csv'"),
        (["simulate", "absent.csv", "--plot", "no/c.png"], "", "there is no folder 'no'"),
    ],
)
def test_what_is_wrong_is_said_in_words(fitted: Path, words: list[str], text: str, message: str) -> None:
    verb, *options = words
    content = text.encode("utf-8", "surrogateescape")
    result = CliRunner().invoke(app, [verb, str(fitted), *options], input=content)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in " ".join(result.stderr.split())


def test_a_simulation_is_a_table_json_and_a_picture(
    eddi: Eddi, fitted: Path, people: Path, tmp_path: Path
) -> None:
    words = ("simulate", fitted, people, "--target", "risk", "--steps", 2)
    shown = eddi(*words, "--plot", "curve.svg")
    assert shown.returncode == 0, shown.stderr
    assert "RMSE" in shown.stdout
    assert "AUIC" in shown.stdout
    assert "wrote curve.svg" in shown.stderr
    assert b"<svg" in (tmp_path / "curve.svg").read_bytes()
    facts = json.loads(eddi(*words, "--json", "--strategy", "random").stdout, parse_constant=pytest.fail)
    assert len(facts["rmse"]) == 3
    assert len(facts["order"]) == 120
    assert facts["target"] == "risk"
    assert facts["auic"] > 0
