"""`eddi store`: output, files and exit codes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eddi.cli import app
from eddi.cli import store as store_module
from eddi.service.analyst.data.blob_store import BlobStore
from eddi.store.factory import open_store
from eddi.store.sql import SqlStore

SECRET = "a-secret-nobody-shall-find"  # noqa: S105  # an answer


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["store", *map(str, arguments)])


@pytest.fixture
def filled_url(store_url: str) -> str:
    """The URL of a store with two interviews of two events each, and a key."""
    store = open_store(store_url)
    for stream in ("interview/a", "interview/b"):
        store.append(stream, "opened", {"target": "risk"}, after=0)
        store.append(stream, "told", {"question": "age", "values": {"age": 61}}, after=1)
    store.append("key/k", "made", {}, after=0)
    store.close()
    return store_url


def test_upgrade_creates_the_tables_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    first, second = run("upgrade", url), run("upgrade", url, "--json")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "created the tables of sqlite:///" in first.stderr
    assert "is already at revision 0002" in second.stderr
    assert json.loads(second.stdout) == {"before": "0002", "now": "0002"}


def test_upgrade_creates_the_tables_on_a_server(postgres_url: str) -> None:
    assert json.loads(run("upgrade", postgres_url, "--json").stdout) == {"before": None, "now": "0002"}


def test_export_prints_one_line_per_event(filled_url: str) -> None:
    result = run("export", filled_url, "--prefix", "interview/")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(event["stream"], event["number"]) for event in events] == [
        ("interview/a", 1),
        ("interview/a", 2),
        ("interview/b", 1),
        ("interview/b", 2),
    ]
    assert events[1]["facts"] == {"question": "age", "values": {"age": 61}}


def test_export_writes_a_new_file_that_only_its_owner_can_read(filled_url: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert run("export", filled_url, "-o", file).exit_code == 0
    assert len(file.read_text().splitlines()) == 5
    assert file.stat().st_mode & 0o777 == 0o600
    again = run("export", filled_url, "-o", file)
    assert again.exit_code == 1
    assert "exists already" in again.stderr


def test_forget_erases_the_facts_and_mentions_older_copies(filled_url: str) -> None:
    result = run("forget", filled_url, "interview/a", "key/k", "--yes", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "forgotten": ["interview/a", "key/k"],
        "scrubbed": True,
    }
    assert "backups and exports still contain" in result.stderr
    store = open_store(filled_url)
    assert [event.facts for event in store.read("interview/a")] == [{}, {}, {"by": "command line"}]
    assert store.read("interview/b")[1].facts["values"] == {"age": 61}
    store.close()
    assert run("verify", filled_url).exit_code == 0


def test_forget_scrubs_once_for_all_streams(filled_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[SqlStore] = []
    monkeypatch.setattr(SqlStore, "scrub", lambda store: calls.append(store) or True)
    run("forget", filled_url, "interview/a", "interview/b", "--yes")
    assert len(calls) == 1


def test_forget_says_that_a_reader_keeps_traces_and_scrub_removes_them(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    store = open_store(url)
    store.append("a", "told", {"answer": SECRET}, after=0)
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM eddi_events").fetchall()
        assert "Run later: eddi store scrub" in run("forget", url, "a", "--yes").stderr
        refused = run("scrub", url, "--wait", 0)
        assert (refused.exit_code, "reading the store" in refused.stderr) == (1, True)
    assert run("scrub", url).exit_code == 0
    store.close()
    assert all(SECRET.encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_forget_erases_nothing_if_one_name_is_unknown(filled_url: str) -> None:
    result = run("forget", filled_url, "interview/a", "interview/z", "--yes")
    assert result.exit_code == 1
    assert "no stream 'interview/z'; nothing was erased" in result.stderr
    store = open_store(filled_url)
    assert len(store.read("interview/a")) == 2
    store.close()


def test_forget_erases_nothing_without_confirmation(filled_url: str) -> None:
    result = run("forget", filled_url, "interview/a")
    assert result.exit_code == 1
    assert "erase the facts of 1 stream permanently. Confirm with --yes" in result.stderr


def test_forget_erases_nothing_if_the_user_declines(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    monkeypatch.setattr(store_module.sys, "stdin", Terminal)
    monkeypatch.setattr(store_module.typer, "confirm", lambda *_, **__: False)
    with pytest.raises(Exception, match="nothing was erased"):
        store_module._confirm(2)


def test_a_backup_includes_the_workshop_and_is_restored_with_it(filled_url: str, tmp_path: Path) -> None:
    workshop = ("--workshop", tmp_path / "shop")
    blob = BlobStore(tmp_path / "shop" / "shelf").put(b"rows")
    result = run("backup", filled_url, tmp_path / "monday", *workshop, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["files"], report["workshop"]) == (2, True)
    url = f"sqlite:///{tmp_path}/new/answers.db"
    (tmp_path / "new").mkdir()
    restored = run("restore", tmp_path / "monday", url)  # its workshop is next to it
    assert restored.exit_code == 0, restored.output
    assert "5 events in 3 streams" in run("verify", url).stderr
    assert (tmp_path / "new" / "workshop" / "shelf" / blob).read_bytes() == b"rows"


def test_a_copy_of_a_sqlite_store_can_be_opened_directly(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_store(url).append("a", "opened", {}, after=0)
    result = run("backup", url, tmp_path / "b")
    assert "there is no workshop" in result.stderr
    assert "1 events in 1 streams" in run("verify", f"sqlite:///{tmp_path}/b/answers.db").stderr
    assert run("backup", url, tmp_path / "b").exit_code == 1  # never overwritten


def test_verify_counts_streams_and_events(filled_url: str) -> None:
    result = run("verify", filled_url, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"streams": 3, "events": 5, "faults": []}
    assert "5 events in 3 streams: none was changed." in result.stderr


def test_verify_exits_with_1_and_lists_the_faults(filled_url: str) -> None:
    edit(filled_url, "UPDATE eddi_events SET facts = '{}' WHERE stream = 'interview/b' AND number = 2")
    result = run("verify", filled_url, "--json")
    assert result.exit_code == 1
    assert "fault: interview/b, event 2: its facts were edited" in result.stderr
    (fault,) = json.loads(result.stdout)["faults"]
    assert set(fault) == {"stream", "number", "words"}
    assert (fault["stream"], fault["number"]) == ("interview/b", 2)


def test_verify_against_an_export_finds_a_deleted_stream(filled_url: str, tmp_path: Path) -> None:
    file = tmp_path / "earlier.jsonl"
    run("export", filled_url, "-o", file)
    run("forget", filled_url, "interview/a", "--yes")
    assert run("verify", filled_url, "--against", file).exit_code == 0
    edit(
        filled_url,
        "DELETE FROM eddi_events WHERE stream = 'interview/b'",
        "DELETE FROM eddi_heads WHERE stream = 'interview/b'",
    )
    assert run("verify", filled_url).exit_code == 0  # only the export reveals it
    result = run("verify", filled_url, "--against", file)
    assert result.exit_code == 1
    assert "interview/b, event 1: is in the earlier export but no longer in the store" in result.stderr


def edit(url: str, *statements: str) -> None:
    """Change a store with SQL."""
    store = SqlStore(url)
    with store._engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    store.close()


@pytest.mark.parametrize(
    "arguments", [("export",), ("forget", "a", "--yes"), ("backup", "b"), ("verify",)]
)
def test_a_missing_store_is_not_created(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command, *rest = arguments
    result = run(command, f"sqlite:///{tmp_path}/a.db", *rest)
    assert result.exit_code == 1
    assert "there is no store" in result.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_password_is_not_shown() -> None:
    result = run("verify", "postgresql://anna:hunter2@127.0.0.1:9/answers")
    assert result.exit_code == 1
    assert "cannot be reached" in result.stderr
    assert "hunter2" not in result.output


def test_verify_compares_the_store_with_a_signed_anchor(filled_url: str, tmp_path: Path) -> None:
    files = (tmp_path / "monday.anchor", "--key", tmp_path / "anchor.key")
    first = run("anchor", filled_url, *files)
    assert first.exit_code == 0, first.output
    assert "created the key" in first.stderr
    assert run("verify", filled_url, "--anchor", *files).exit_code == 0
    edit(
        filled_url,
        "DELETE FROM eddi_events WHERE stream = 'interview/b'",
        "DELETE FROM eddi_heads WHERE stream = 'interview/b'",
    )
    result = run("verify", filled_url, "--anchor", *files)
    assert (result.exit_code, "no longer in the store" in result.stderr) == (1, True)
    assert run("anchor", filled_url, *files).exit_code == 1  # an anchor is never overwritten


def test_a_damaged_store_is_not_anchored(filled_url: str, tmp_path: Path) -> None:
    edit(filled_url, "UPDATE eddi_events SET facts = '{}' WHERE stream = 'interview/b' AND number = 2")
    result = run("anchor", filled_url, tmp_path / "a.anchor", "--key", tmp_path / "anchor.key")
    assert (result.exit_code, "the store was changed" in result.stderr) == (1, True)
    assert list(tmp_path.glob("*anchor*")) == []


def test_an_anchor_needs_its_key(filled_url: str, tmp_path: Path) -> None:
    result = run("verify", filled_url, "--anchor", tmp_path / "a.anchor")
    assert (result.exit_code, "give both --anchor and --key" in result.stderr) == (1, True)
