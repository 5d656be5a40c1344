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


def test_a_key_has_a_holder_and_is_rotated(tmp_path: Path) -> None:
    store = ("--store", f"sqlite:///{tmp_path}/answers.db")
    old = run("issue", "analyst", "--holder", "Ada [Lovelace]", *store).stdout.strip()
    assert "Ada [Lovelace]" in run("list", *store).stdout
    new = run("rotate", old.split("_")[1], "--days", 30, *store).stdout.strip()
    assert new.split("_")[1] == old.split("_")[1]
    assert new != old
    again = run("issue", "analyst", "--holder", "Ada [Lovelace]", *store)
    assert again.exit_code == 1
    assert "already holds the key" in again.stderr


def test_an_unknown_role_is_rejected(tmp_path: Path) -> None:
    result = run("issue", "boss", "--store", f"sqlite:///{tmp_path}/answers.db")
    assert result.exit_code == 1
    assert (
        "there is no role 'boss'. Roles are: respondent, analyst, administrator, operator."
        in result.stderr
    )
