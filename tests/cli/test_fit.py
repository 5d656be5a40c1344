"""`eddi fit` says how to resume when training ends early."""

import sys
from pathlib import Path

import pytest
import typer

from eddi.cli.errors import report_errors
from eddi.cli.fit import report_interruption, silence_other_ranks


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
