"""`eddi fit` reports the quality of a model, and says how to resume when training ends early."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from eddi import Schema, Series
from eddi.cli import app
from eddi.cli.errors import report_errors
from eddi.cli.fit import _hold_out, _read_series, report_interruption, silence_other_ranks
from eddi.errors import TableError


def test_a_full_disk_is_reported_with_the_checkpoint(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = tmp_path / "m.eddi.partial"
    checkpoint.touch()
    error = OSError(28, "No space left on device", "m.eddi")
    with pytest.raises(typer.Exit) as ended, report_errors(), report_interruption(checkpoint):
        raise error
    assert ended.value.exit_code == 1
    messages = capsys.readouterr().err
    assert "error: m.eddi: No space left on device." in messages
    assert "Run the same command to resume." in messages


def test_an_interruption_before_the_first_checkpoint_does_not_offer_to_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, report_interruption(tmp_path / "m.eddi.partial"):
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    messages = capsys.readouterr().err
    assert "no checkpoint was saved yet" in messages
    assert "resume" not in messages


@pytest.mark.parametrize(("rank", "is_main"), [("0", True), ("1", False)])
def test_only_the_main_process_prints_messages(
    rank: str, is_main: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", rank)
    with silence_other_ranks() as yielded:
        print("training", file=sys.stderr)
    assert yielded == is_main
    assert capsys.readouterr().err == ("training\n" if is_main else "")


def test_the_report_has_warnings_and_the_quality_on_test_rows(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    x, z = random.normal(size=(2, 120))
    table = pd.DataFrame({"x": x, "z": z, "ill": np.where(x > 1.3, "yes", "no")})
    table.to_csv(tmp_path / "t.csv", index=False)
    arguments = [
        "fit",
        "t.csv",
        "--target",
        "ill",
        "-o",
        "m.eddi",
        "--steps",
        "5",
        "--test",
        "0.25",
        "--json",
    ]
    paths = [str(tmp_path / text) if "." in text and text[0] in "tm" else text for text in arguments]
    result = CliRunner().invoke(app, paths)
    assert result.exit_code == 0, result.output
    messages = " ".join(result.stderr.split())
    assert "warning: 'x': Explains 100% of 'ill' on its own" in messages
    assert "only 90 rows" in messages
    assert "always guessing the most frequent class" in messages
    report = json.loads(result.stdout)
    assert report["rows"] == 90
    is_ignored = "'z' did not improve predictions of held-out rows: ignored." in messages
    assert report["ignored_variables"] == ({"ill": ["z"]} if is_ignored else {})
    assert (report["quality"][0]["n_rows"], report["quality"][0]["source"]) == (30, "test rows")
    # Parsed by Python: the parser of older versions of pandas loses the last digit.
    held_out = pd.read_csv(tmp_path / "m.test.csv", dtype=str).astype({"x": float, "z": float})
    assert len(held_out) == 30
    assert len(held_out.merge(table, on=["x", "z", "ill"])) == 30


def test_a_share_that_is_no_row_is_rejected(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1.5, 2.5, 3.5], "b": [1.0, 2.5, 3.1]}).to_csv(tmp_path / "t.csv", index=False)
    paths = (str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.eddi"))
    result = CliRunner().invoke(app, ["fit", *paths, "--test", "0.1"])
    assert result.exit_code == 1
    assert "0.1 of 3 rows is no row" in " ".join(result.stderr.split())


def test_without_a_table_the_model_follows_from_the_beliefs_of_the_schema(tmp_path: Path) -> None:
    schema = tmp_path / "s.toml"
    schema.write_text(
        '[variables]\nage = { kind = "real", low = 0, high = 9 }\nill = { kind = "count", high = 3 }\n'
    )
    output = tmp_path / "m.eddi"
    result = CliRunner().invoke(app, ["fit", "--schema", str(schema), "-o", str(output), "--steps", "5"])
    assert result.exit_code == 0, result.output
    assert "no data, only beliefs" in result.output
    assert output.exists()


def test_neither_a_table_nor_a_schema_is_an_error(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["fit", "-o", str(tmp_path / "m.eddi")])
    assert result.exit_code == 2
    assert "give a table, or --schema with beliefs" in result.output


def test_all_rows_of_a_person_are_training_rows_or_test_rows() -> None:
    rows = pa.table({"id": [1, 1, 2, 2, 3, 3, 4, 4], "x": range(8)})
    train, test = _hold_out(rows, 0.5, 0, person="id")
    assert test is not None
    assert len(test) == 4
    assert not set(train["id"].to_pylist()) & set(test["id"].to_pylist())
    with pytest.raises(TableError, match=r"--test 0\.1 of 4 persons is nobody"):
        _hold_out(rows, 0.1, 0, person="id")


def test_repeated_measurements_become_decision_rows(
    series: Callable[..., Series], series_schema: Schema, tmp_path: Path
) -> None:
    source = series(5, seed=0)
    source.static.to_csv(tmp_path / "people.csv", index=False)
    rows, person = _read_series(source.measurements, tmp_path / "people.csv", series_schema)
    assert isinstance(rows, pa.Table)
    assert (len(rows), person) == (5 * 3, "id")


def test_a_static_table_needs_a_schema_with_time(tmp_path: Path) -> None:
    for name in ("visits.csv", "people.csv"):
        pd.DataFrame({"id": [1, 2, 3], "x": [1.5, 2.5, 3.5]}).to_csv(tmp_path / name, index=False)
    paths = [str(tmp_path / name) for name in ("visits.csv", "people.csv")]
    result = CliRunner().invoke(app, ["fit", *paths, "-o", str(tmp_path / "m.eddi")])
    assert result.exit_code == 2
    assert "section" in result.stderr
