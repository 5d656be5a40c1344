"""Tables are made and migrated from code, once, whoever comes at the same time."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from eddi.store import tables
from eddi.store import upgrade as upgrading
from eddi.store.base import StoreSchemaError
from eddi.store.connection import connect, reading, writing
from eddi.store.factory import open_store
from eddi.store.sql import SqlStore
from eddi.store.upgrade import upgrade
from eddi.store.url import parsed

NOW = tables.REVISIONS[-1]


def mark(url: str, revision: str) -> None:
    engine = connect(parsed(url))
    with writing(engine) as connection:
        connection.execute(text("UPDATE eddi_version SET version_num = :it"), {"it": revision})
    engine.dispose()


def test_the_migrations_lead_to_the_tables_the_code_uses(store_url: str) -> None:
    engine = connect(parsed(store_url))
    with reading(engine) as connection:
        options: dict[str, Any] = {"version_table": tables.VERSION_TABLE, "compare_type": True}
        differences = compare_metadata(
            MigrationContext.configure(connection, opts=options), tables.metadata
        )
    engine.dispose()
    assert differences == []


def test_the_revisions_are_those_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(upgrading.__file__).with_name("migrations")))
    script = ScriptDirectory.from_config(config)
    assert tuple(each.revision for each in script.walk_revisions())[::-1] == tables.REVISIONS


def test_a_new_file_gets_its_tables_by_itself(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_store(url).close()
    assert upgrade(url) == (NOW, NOW)


def test_upgrading_again_changes_nothing(store_url: str) -> None:
    store = open_store(store_url)
    event = store.append("a", "opened", {"x": 1}, after=0)
    assert upgrade(store_url) == (NOW, NOW)
    assert store.read("a") == [event]
    store.close()


def test_an_empty_server_is_told_with_the_command(postgres_url: str) -> None:
    with pytest.raises(
        StoreSchemaError, match=r"no tables of eddi yet.*eddi store upgrade postgresql://"
    ):
        open_store(postgres_url)
    assert upgrade(postgres_url) == (None, NOW)
    open_store(postgres_url).close()


def test_older_tables_are_told_with_the_command(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, "REVISIONS", (*tables.REVISIONS, "9999"))
    words = (
        rf"has tables of revision {NOW}; .* needs revision 9999.*eddi store upgrade (sqlite|postgresql)"
    )
    with pytest.raises(StoreSchemaError, match=words):
        open_store(store_url)


def test_newer_tables_are_left_alone(store_url: str) -> None:
    mark(store_url, "9999")
    for way in (open_store, upgrade):
        with pytest.raises(
            StoreSchemaError, match=r"revision 9999, made by a newer version.*pip install"
        ):
            way(store_url)


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreSchemaError, match="no tables of eddi yet"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_migration_that_fails_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, run = f"sqlite:///{tmp_path}/a.db", upgrading._run

    def fails(connection: Any) -> None:
        run(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(upgrading, "_run", fails)
        with pytest.raises(KeyboardInterrupt):
            upgrade(url)
    with closing(sqlite3.connect(tmp_path / "a.db")) as file:
        assert file.execute("SELECT name FROM sqlite_master").fetchall() == []
    assert upgrade(url) == (None, NOW)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_many_processes_may_upgrade_at_once(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = f"sqlite:///{tmp_path}/a.db"
    url = file if kind == "sqlite" else request.getfixturevalue("postgres_url")
    code = (
        "import sys\nfrom eddi.store.upgrade import upgrade\nfrom eddi.store.sql import SqlStore\n"
        "sys.stdin.read()\nupgrade(sys.argv[1])\n"
        "SqlStore(sys.argv[1]).append(sys.argv[2], 'opened', {}, after=0)"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, url, str(n)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for n in range(5)
    ]
    for child in children:  # let them all go at one moment
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    errors = [child.communicate()[1].decode() for child in children]
    assert [child.returncode for child in children] == [0] * 5, errors
    store = SqlStore(url)
    assert [*store.streams()] == ["0", "1", "2", "3", "4"]
    store.close()
