"""`eddi store`: what it prints, what it writes, and how it ends."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import store
from eddi.cli.app import app
from eddi.store.factory import open_store
from eddi.store.sql import SqlStore


def eddi(*words: object) -> Result:
    return CliRunner().invoke(app, ["store", *map(str, words)])


@pytest.fixture
def kept(store_url: str) -> str:
    """The address of a store with two interviews of two events, and a key."""
    store = open_store(store_url)
    for stream in ("interview/a", "interview/b"):
        store.append(stream, "opened", {"target": "risk"}, after=0)
        store.append(stream, "told", {"question": "age", "values": {"age": 61}}, after=1)
    store.append("key/k", "made", {}, after=0)
    store.close()
    return store_url


def test_upgrade_makes_the_tables_and_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    first, second = eddi("upgrade", url), eddi("upgrade", url, "--json")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "had no tables; it is at revision 0001" in first.stderr
    assert "was up to date" in second.stderr
    assert json.loads(second.stdout) == {"before": "0001", "now": "0001"}


def test_upgrade_makes_the_tables_on_a_server(postgres_url: str) -> None:
    assert json.loads(eddi("upgrade", postgres_url, "--json").stdout) == {"before": None, "now": "0001"}


def test_export_prints_a_line_an_event(kept: str) -> None:
    result = eddi("export", kept, "--prefix", "interview/")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(event["stream"], event["number"]) for event in events] == [
        ("interview/a", 1),
        ("interview/a", 2),
        ("interview/b", 1),
        ("interview/b", 2),
    ]
    assert events[1]["facts"] == {"question": "age", "values": {"age": 61}}


def test_export_writes_a_new_file_for_its_owner_alone(kept: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert eddi("export", kept, "-o", file).exit_code == 0
    assert len(file.read_text().splitlines()) == 5
    assert file.stat().st_mode & 0o777 == 0o600
    again = eddi("export", kept, "-o", file)
    assert again.exit_code == 1
    assert "is there already" in again.stderr


def test_forget_erases_and_says_what_it_cannot_reach(kept: str) -> None:
    result = eddi("forget", kept, "interview/a", "key/k", "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"forgotten": ["interview/a", "key/k"]}
    assert "backups and exports still hold" in result.stderr
    store = open_store(kept)
    assert [event.facts for event in store.read("interview/a")] == [{}, {}, {}]
    assert store.read("interview/b")[1].facts["values"] == {"age": 61}
    store.close()
    assert eddi("verify", kept).exit_code == 0


def test_forget_sweeps_once_for_all(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[SqlStore] = []
    monkeypatch.setattr(SqlStore, "sweep", lambda store: swept.append(store))
    eddi("forget", kept, "interview/a", "interview/b", "--yes")
    assert len(swept) == 1


def test_forget_with_one_name_wrong_forgets_none(kept: str) -> None:
    result = eddi("forget", kept, "interview/a", "interview/z", "--yes")
    assert result.exit_code == 1
    assert "no 'interview/z'; nothing was forgotten" in result.stderr
    store = open_store(kept)
    assert len(store.read("interview/a")) == 2
    store.close()


def test_forget_without_a_yes_forgets_none(kept: str) -> None:
    result = eddi("forget", kept, "interview/a")
    assert result.exit_code == 1
    assert "1 stream would be erased for good. Say --yes" in result.stderr


def test_forget_takes_no_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Person:
        @staticmethod
        def isatty() -> bool:
            return True

    monkeypatch.setattr(store.sys, "stdin", Person)
    monkeypatch.setattr(store.typer, "confirm", lambda *_, **__: False)
    with pytest.raises(Exception, match="nothing was forgotten"):
        store._confirm(2)


def test_backup_copies_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_store(url).append("a", "opened", {}, after=0)
    result = eddi("backup", url, tmp_path / "b.db", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["bytes"] == (tmp_path / "b.db").stat().st_size
    assert "1 events in 1 streams" in eddi("verify", f"sqlite:///{tmp_path}/b.db").stderr


def test_backup_of_a_server_is_an_export_with_a_word_on_pg_dump(
    postgres_url: str, tmp_path: Path
) -> None:
    eddi("upgrade", postgres_url)
    store = open_store(postgres_url)
    store.append("a", "opened", {}, after=0)
    store.close()
    result = eddi("backup", postgres_url, tmp_path / "b.jsonl")
    assert result.exit_code == 0, result.output
    assert "pg_dump" in result.stderr
    assert len((tmp_path / "b.jsonl").read_text().splitlines()) == 1


def test_verify_counts_what_it_checked(kept: str) -> None:
    result = eddi("verify", kept, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"streams": 3, "events": 5, "faults": []}
    assert "5 events in 3 streams: all as they were written." in result.stderr


def test_verify_ends_with_1_and_the_faults_in_words(kept: str) -> None:
    edit(kept, "UPDATE eddi_events SET facts = '{}' WHERE stream = 'interview/b' AND number = 2")
    result = eddi("verify", kept, "--json")
    assert result.exit_code == 1
    assert "fault: interview/b, event 2: its facts were edited" in result.stderr
    (fault,) = json.loads(result.stdout)["faults"]
    assert (fault["stream"], fault["number"]) == ("interview/b", 2)


def test_verify_against_an_export_finds_a_stream_that_is_gone(kept: str, tmp_path: Path) -> None:
    file = tmp_path / "earlier.jsonl"
    eddi("export", kept, "-o", file)
    eddi("forget", kept, "interview/a", "--yes")
    assert eddi("verify", kept, "--against", file).exit_code == 0
    edit(
        kept,
        "DELETE FROM eddi_events WHERE stream = 'interview/b'",
        "DELETE FROM eddi_heads WHERE stream = 'interview/b'",
    )
    assert eddi("verify", kept).exit_code == 0  # nobody could know, but for the export
    result = eddi("verify", kept, "--against", file)
    assert result.exit_code == 1
    assert "interview/b, event 1: is in the earlier export and no longer in the store" in result.stderr


def edit(url: str, *statements: str) -> None:
    """Change a store behind its back."""
    store = SqlStore(url)
    with store._engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    store.close()


@pytest.mark.parametrize(
    "words", [("export",), ("forget", "a", "--yes"), ("backup", "b.db"), ("verify",)]
)
def test_a_store_that_is_not_there_is_not_made(words: tuple[str, ...], tmp_path: Path) -> None:
    verb, *rest = words
    result = eddi(verb, f"sqlite:///{tmp_path}/a.db", *rest)
    assert result.exit_code == 1
    assert "there is no store" in result.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_password_is_not_repeated() -> None:
    result = eddi("verify", "postgresql://anna:hunter2@127.0.0.1:9/answers")
    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
    assert "hunter2" not in result.output
