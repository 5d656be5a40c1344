"""Errors become messages and exit codes."""

from pathlib import Path

import pytest
import typer

from eddi.cli.errors import check_writable, report_errors
from eddi.errors import EddiError


def test_a_location_that_cannot_be_written_is_rejected(tmp_path: Path) -> None:
    check_writable(tmp_path / "m.eddi")
    with pytest.raises(EddiError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(EddiError, match="no folder"):
        check_writable(tmp_path / "no" / "m.eddi")


def test_an_operating_system_error_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, report_errors():
        raise OSError(28, "No space left on device", "m.eddi")
    assert ended.value.exit_code == 1
    assert "error: m.eddi: No space left on device." in capsys.readouterr().err


def test_an_interruption_exits_with_130(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, report_errors():
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ZeroDivisionError), report_errors():
        1 / 0  # noqa: B018
