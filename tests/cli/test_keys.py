"""`eddi keys` creates, lists and revokes keys."""

from pathlib import Path

from typer.testing import CliRunner, Result

from eddi.cli import app


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["keys", *map(str, arguments)])


def test_keys_are_issued_listed_and_revoked(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/answers.db")
    key = run("issue", "respondent", "--days", 2, *store).stdout.strip()
    name = key.split("_")[1]
    listed = run("list", *store).stdout
    assert name in listed
    assert "respondent" in listed
    assert key not in listed
    assert run("revoke", name, *store).exit_code == 0
    assert "yes" in run("list", *store).stdout


def test_an_unknown_role_is_rejected(tmp_path: Path) -> None:
    result = run("issue", "boss", "--store", f"sqlite:///{tmp_path}/answers.db")
    assert result.exit_code == 1
    assert "there is no role 'boss'. Roles are: respondent, analyst, operator." in result.stderr
