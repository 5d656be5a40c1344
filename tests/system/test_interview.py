"""The commands interview, ask and simulate, end to end."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import COMMAND, ENVIRONMENT, Eddi, Invoke

ANSWERS: dict[str, Any] = {"Größe": 181.5, "体重": 80, "smoker": "yes", "city": "Zürich"}


def ask(invoke: Invoke, fitted: Path, answers: dict[str, Any], *options: object) -> dict[str, Any]:
    """One step of `eddi ask`."""
    document = json.dumps({"answers": answers})
    result = invoke("ask", fitted, "--target", "risk", *options, stdin=document)
    assert result.exit_code == 0, result.stderr
    step = json.loads(result.stdout, parse_constant=pytest.fail)
    assert isinstance(step, dict)
    return step


def ask_all(invoke: Invoke, fitted: Path) -> list[str]:
    """The questions that `eddi ask` asks one after the other."""
    answers: dict[str, Any] = {}
    while (question := ask(invoke, fitted, answers)["question"]) is not None:
        answers[question["name"]] = ANSWERS[question["name"]]
    return list(answers)


def to_lines(names: list[str]) -> str:
    return "".join(f"{ANSWERS[name]}\n" for name in names)


@pytest.mark.slow
def test_an_interview_that_was_killed_resumes_and_asks_the_questions_of_eddi_ask(
    eddi: Eddi, invoke: Invoke, fitted: Path, tmp_path: Path
) -> None:
    asked = ask_all(invoke, fitted)
    assert sorted(asked) == sorted(ANSWERS)
    interview = ("interview", str(fitted), "--target", "risk", "--record", "r.json")
    kill_after_two_answers(interview, to_lines(asked[:2]), tmp_path / "r.json")

    resumed = eddi(*interview, stdin=to_lines(asked[2:]))
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming from r.json" in resumed.stderr
    assert "Interview complete. 4 questions." in resumed.stdout
    assert "\x1b" not in resumed.stdout
    document = (tmp_path / "r.json").read_text(encoding="utf-8")
    answers = json.loads(document)["answers"]
    assert [answer["question"] for answer in answers] == asked
    assert answers[asked.index("体重")]["values"] == {"体重": 80.0}
    assert not list(tmp_path.glob("*.unfinished"))

    # The record is valid input of `eddi ask`, with the same prediction.
    step = json.loads(invoke("ask", fitted, stdin=document).stdout)
    assert step["question"] is None
    assert step == ask(invoke, fitted, ANSWERS)


def kill_after_two_answers(interview: tuple[str, ...], lines: str, record: Path) -> None:
    process = subprocess.Popen(
        [COMMAND, *interview],
        cwd=record.parent,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    process.stdin.write(lines)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not (record.exists() and len(json.loads(record.read_text("utf-8"))["answers"]) == 2):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.stdin.close()
    assert process.wait() == -signal.SIGKILL


def test_a_stopping_rule_ends_the_interview(invoke: Invoke, fitted: Path) -> None:
    assert ask(invoke, fitted, {"smoker": "yes"}, "--after", 1)["question"] is None
    assert ask(invoke, fitted, {"smoker": None}, "--budget", 1)["question"] is None
    step = ask(invoke, fitted, {"smoker": {"without": "declined"}}, "--budget", 2)
    assert set(step["prediction"]["risk"]) == {"mean", "sd", "interval"}
    assert set(step["rewards"]) == {"Größe", "体重", "city"}


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
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
def test_an_error_states_what_is_wrong(
    invoke: Invoke, fitted: Path, arguments: list[str], text: str, message: str
) -> None:
    command, *options = arguments
    result = invoke(command, fitted, *options, stdin=text.encode("utf-8", "surrogateescape"))
    assert result.exit_code == 1
    assert result.stdout == ""
    assert message in " ".join(result.stderr.split())


def test_a_simulation_prints_a_table_or_json_and_plots_its_curve(
    invoke: Invoke, fitted: Path, people: Path, tmp_path: Path
) -> None:
    simulate = ("simulate", fitted, people, "--target", "risk", "--steps", 2)
    shown = invoke(*simulate, "--plot", "curve.svg")
    assert shown.exit_code == 0, shown.stderr
    assert "RMSE" in shown.stdout
    assert "AUIC" in shown.stdout
    assert "wrote curve.svg" in shown.stderr
    assert b"<svg" in (tmp_path / "curve.svg").read_bytes()
    printed = invoke(*simulate, "--json", "--strategy", "random").stdout
    curves = json.loads(printed, parse_constant=pytest.fail)
    assert len(curves["rmse"]) == 3
    assert len(curves["order"]) == 120
    assert curves["target"] == "risk"
    assert curves["auic"] > 0
