"""A messy table goes through all commands: schema, fit, impute, simulate, interview."""

import csv

import numpy as np
import pytest
from typer.testing import CliRunner

import eddi
from eddi.cli import app
from eddi.errors import AnswerError

N_ROWS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, its schema, and a model that was trained on it for a few steps."""
    folder = tmp_path_factory.mktemp("messy")
    rng = np.random.default_rng(0)
    rows = [["pay", "share", "temp", "height", "zip", "tools", "overall", "sbp", "smoker", "risk"]]
    for _ in range(N_ROWS):
        pay = float(np.exp(rng.normal(10, 0.5)))
        tools = "; ".join(tool for tool in ("Excel", "R", "Stata") if rng.random() < 0.5)
        rows.append(
            [
                *("" if rng.random() < 0.1 else f"${pay:,.2f}", f"{rng.integers(50)}%"),
                *(f"{rng.normal(37, 0.5):.1f} °C".replace(".", ","), f"5'{rng.integers(12)}\""),
                *(rng.choice(["02139", "10001", "60601"]), tools),
                rng.choice(["1 - Very poor", "2 - Poor", "3 - Fair"]),
                *(-99 if rng.random() < 0.1 else int(rng.normal(120, 15)),),
                *(rng.choice(["no", "yes", "refused"]), "yes" if pay > 22_000 else "no"),
            ]
        )
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    toml = run("schema", folder / "t.csv", "--missing", "-99", "--declined", "refused").stdout
    (folder / "t.toml").write_text(toml, encoding="utf-8")
    options = [
        "--schema",
        folder / "t.toml",
        "--target",
        "risk",
        "--steps",
        "5",
        "-o",
        folder / "t.eddi",
    ]
    run("fit", folder / "t.csv", *options)
    return folder


def run(*arguments, text=""):
    result = CliRunner().invoke(app, list(map(str, arguments)), input=text)
    assert result.exit_code == 0, result.output
    return result


def test_imputed_cells_are_written_like_the_observed_ones(folder):
    run("impute", folder / "t.eddi", folder / "t.csv", "-o", folder / "filled.csv")
    tables = []
    for name in ("t.csv", "filled.csv"):
        with (folder / name).open(encoding="utf-8", newline="") as file:
            tables.append(list(csv.DictReader(file)))
    n_filled = dict.fromkeys(("pay", "tools", "sbp"), 0)
    for before, after in zip(*tables, strict=True):
        for name in before:
            is_filled = before[name] in ("", "-99")
            assert is_filled or after[name] == before[name]
            if is_filled and after[name]:
                n_filled[name] += 1
        assert after["pay"].startswith("$")
    assert min(n_filled["pay"], n_filled["sbp"]) > 0
    schema = eddi.Schema.from_toml(folder / "t.toml")
    assert schema["pay"].number(tables[1][0]["pay"]) > 0


def test_a_simulation_asks_for_the_options_at_once(folder):
    output = run("simulate", folder / "t.eddi", folder / "t.csv", "--target", "risk", "--json").stdout
    assert '"tools"' in output
    assert "tools: R" not in output


def test_an_interview_takes_formatted_answers_in_the_terminal(folder):
    result = run("interview", folder / "t.eddi", "--target", "risk", text="$30,000\nq\n" * 3)
    assert "Interview stopped." in result.output


def test_an_interview_takes_options_and_codes_as_they_are_in_the_table(folder):
    interview = eddi.Interview(eddi.load(folder / "t.eddi"), target="risk")
    interview.tell("tools", "Excel; r")
    interview.tell("temp", "36,9 °C")
    interview.tell("height", "5'11\"")
    interview.tell("smoker", "refused")
    interview.tell("sbp", -99)
    tools, temp, height, smoker, sbp = interview.record.answers
    assert tools.values == {"tools: Excel": "yes", "tools: R": "yes", "tools: Stata": "no"}
    assert (temp.values, height.values) == ({"temp": 36.9}, {"height": 71.0})
    assert (smoker.without, sbp.without) == ({"smoker": eddi.DECLINED}, {"sbp": eddi.UNKNOWN})
    assert eddi.Interview(interview.model, record=interview.record).record == interview.record


def test_an_unknown_option_is_refused_with_the_known_ones(folder):
    interview = eddi.Interview(eddi.load(folder / "t.eddi"), target="risk")
    with pytest.raises(
        AnswerError, match=r"'tools' has no option 'Julia'. Options are: Excel, R, Stata"
    ):
        interview.tell("tools", ["R", "Julia"])
