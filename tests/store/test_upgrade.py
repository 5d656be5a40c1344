"""Tables are created and migrated exactly once, even by concurrent processes."""

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
from eddi.store import upgrade as upgrade_module
from eddi.store.base import StoreSchemaError
from eddi.store.connection import open_engine, read_transaction, write_transaction
from eddi.store.factory import open_store
from eddi.store.sql import SqlStore
from eddi.store.upgrade import upgrade
from eddi.store.url import parse_url

CURRENT = tables.REVISIONS[-1]


def set_revision(url: str, revision: str) -> None:
    engine = open_engine(parse_url(url))
    with write_transaction(engine) as connection:
        statement = text("UPDATE eddi_version SET version_num = :revision")
        connection.execute(statement, {"revision": revision})
    engine.dispose()


def test_the_migrations_create_the_tables_that_the_code_uses(store_url: str) -> None:
    engine = open_engine(parse_url(store_url))
    with read_transaction(engine) as connection:
        options: dict[str, Any] = {"version_table": tables.VERSION_TABLE, "compare_type": True}
        differences = compare_metadata(
            MigrationContext.configure(connection, opts=options), tables.metadata
        )
    engine.dispose()
    assert differences == []


def test_the_revisions_are_those_of_the_migrations() -> None:
    config = Config()
    folder = Path(upgrade_module.__file__).with_name("migrations")
    config.set_main_option("script_location", str(folder))
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(script.revision for script in scripts)[::-1] == tables.REVISIONS


def test_a_new_file_gets_its_tables_automatically(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    open_store(url).close()
    assert upgrade(url) == (CURRENT, CURRENT)


def test_upgrading_again_changes_nothing(store_url: str) -> None:
    store = open_store(store_url)
    event = store.append("a", "opened", {"x": 1}, after=0)
    assert upgrade(store_url) == (CURRENT, CURRENT)
    assert store.read("a") == [event]
    store.close()


def test_an_empty_server_is_reported_with_the_upgrade_command(postgres_url: str) -> None:
    with pytest.raises(StoreSchemaError, match=r"no eddi tables.*eddi store upgrade postgresql://"):
        open_store(postgres_url)
    assert upgrade(postgres_url) == (None, CURRENT)
    open_store(postgres_url).close()


def test_older_tables_are_reported_with_the_upgrade_command(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrade_module, "REVISIONS", (*tables.REVISIONS, "9999"))
    message = (
        rf"has tables of revision {CURRENT}; .* needs revision 9999"
        r".*eddi store upgrade (sqlite|postgresql)"
    )
    with pytest.raises(StoreSchemaError, match=message):
        open_store(store_url)


def test_newer_tables_are_rejected(store_url: str) -> None:
    set_revision(store_url, "9999")
    message = r"revision 9999, created by a newer version.*pip install"
    for function in (open_store, upgrade):
        with pytest.raises(StoreSchemaError, match=message):
            function(store_url)


def test_a_database_of_another_program_is_rejected(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreSchemaError, match="no eddi tables"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_failed_migration_is_rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, run_migrations = f"sqlite:///{tmp_path}/a.db", upgrade_module._run_migrations

    def run_and_fail(connection: Any) -> None:
        run_migrations(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(upgrade_module, "_run_migrations", run_and_fail)
        with pytest.raises(KeyboardInterrupt):
            upgrade(url)
    with closing(sqlite3.connect(tmp_path / "a.db")) as file:
        assert file.execute("SELECT name FROM sqlite_master").fetchall() == []
    assert upgrade(url) == (None, CURRENT)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_many_processes_may_upgrade_at_once(
    dialect: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    file = f"sqlite:///{tmp_path}/a.db"
    url = file if dialect == "sqlite" else request.getfixturevalue("postgres_url")
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
    for child in children:  # release all of them at the same moment
        assert child.stdin is not None
        child.stdin.close()
        child.stdin = None
    errors = [child.communicate()[1].decode() for child in children]
    assert [child.returncode for child in children] == [0] * 5, errors
    store = SqlStore(url)
    assert [*store.streams()] == ["0", "1", "2", "3", "4"]
    store.close()
