"""Opening a store by its URL. No error message repeats a password."""

import subprocess
import sys
from pathlib import Path

import pytest

from eddi.errors import MissingExtraError
from eddi.store import factory
from eddi.store.base import StoreError, StoreNotFoundError, StoreUnreachableError, StoreUrlError
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


def test_a_memory_url_opens_a_memory_store() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)


def test_a_new_file_is_readable_only_by_its_owner(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a.db").close()
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


def test_a_missing_file_is_not_created_without_create(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match=r"there is no store at '.*a\.db'"):
        open_store(f"sqlite:///{tmp_path}/a.db", create=False)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("answers.db", "sqlite:///answers.db"),
        ("", "sqlite:///answers.db"),
        ("mysql://root:hunter2@host/db", "'mysql'"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite://answers.db", "three slashes"),
        ("sqlite:////no/such/folder/a.db", "no such folder"),
        ("sqlite:////tmp", "is a folder"),
        ("postgresql://anna:hunter2@host:port/db", "not a valid store URL"),
        ("postgresql://anna:hunter2@x@host/db", "%40"),
        ("postgresql+asyncpg//anna:hunter2@host", "sqlite:///answers.db"),
    ],
)
def test_an_invalid_url_is_rejected_without_showing_the_password(url: str, message: str) -> None:
    with pytest.raises(StoreUrlError, match=message) as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://anna:hunter2@127.0.0.1:9/answers",
        "postgres://anna@127.0.0.1:9/answers?password=hunter2",
    ],
)
def test_an_unreachable_server_is_reported_without_showing_the_password(url: str) -> None:
    with pytest.raises(StoreUnreachableError, match="cannot be reached") as caught:
        open_store(url)
    message = str(caught.value)
    assert "postgresql://anna@127.0.0.1:9/answers" in message
    assert "Check that the server is running" in message
    assert "hunter2" not in message
    assert caught.value.__suppress_context__  # a traceback must not show the driver's arguments


def test_an_unknown_driver_option_is_reported(postgres_url: str) -> None:
    with pytest.raises(StoreError, match=r"passwort.*Check the URL"):
        open_store(f"{postgres_url}&passwort=hunter2")


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("not a database, only text" * 100)
    with pytest.raises(StoreError, match="not a database"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_missing_package_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eddi-ml\[web\]'"):
        open_store("sqlite:///a.db")


def test_a_missing_driver_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eddi-ml\[postgres\]'"):
        open_store("postgresql://host/answers")


@pytest.mark.parametrize("module", ["eddi.store.sql", "eddi.store.upgrade", "eddi.interview.record"])
def test_a_store_does_not_import_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
