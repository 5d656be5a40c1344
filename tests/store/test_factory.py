"""Stores open by their address, or say in words why not; a password is never repeated."""

import subprocess
import sys
from pathlib import Path

import pytest

from eddi.errors import MissingExtraError
from eddi.store import factory
from eddi.store.base import StoreError, StoreNotFoundError, StoreUnreachableError, StoreUrlError
from eddi.store.factory import open_store
from eddi.store.memory import MemoryStore


def test_memory_opens() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)


def test_a_new_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a.db").close()
    assert (tmp_path / "a.db").stat().st_mode & 0o777 == 0o600


def test_a_file_is_not_made_where_one_is_expected(tmp_path: Path) -> None:
    with pytest.raises(StoreNotFoundError, match=r"there is no store '.*a\.db'"):
        open_store(f"sqlite:///{tmp_path}/a.db", create=False)
    assert not (tmp_path / "a.db").exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("answers.db", "sqlite:///answers.db"),
        ("", "sqlite:///answers.db"),
        ("mysql://root:hunter2@host/db", "'mysql'"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite://answers.db", "three strokes"),
        ("sqlite:////no/such/folder/a.db", "no such folder"),
        ("sqlite:////tmp", "is a folder"),
        ("postgresql://anna:hunter2@host:port/db", "not the address"),
        ("postgresql://anna:hunter2@x@host/db", "%40"),
        ("postgresql+asyncpg//anna:hunter2@host", "sqlite:///answers.db"),
    ],
)
def test_an_address_that_cannot_be_is_told_without_its_password(url: str, words: str) -> None:
    with pytest.raises(StoreUrlError, match=words) as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://anna:hunter2@127.0.0.1:9/answers",
        "postgres://anna@127.0.0.1:9/answers?password=hunter2",
    ],
)
def test_a_server_that_does_not_answer_is_told_without_the_password(url: str) -> None:
    with pytest.raises(StoreUnreachableError, match="cannot be reached") as caught:
        open_store(url)
    told = str(caught.value)
    assert "postgresql://anna@127.0.0.1:9/answers" in told
    assert "Check that the server runs" in told
    assert "hunter2" not in told
    assert caught.value.__suppress_context__  # nor does a traceback show what the driver was given


def test_an_option_that_the_driver_does_not_know_is_told(postgres_url: str) -> None:
    with pytest.raises(StoreError, match=r"passwort.*Check the address"):
        open_store(f"{postgres_url}&passwort=hunter2")


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("no database at all, only words" * 100)
    with pytest.raises(StoreError, match="not a database"):
        open_store(f"sqlite:///{tmp_path}/a.db")


def test_a_missing_package_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factory, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eddi-ml\[web\]'"):
        open_store("sqlite:///a.db")


def test_a_missing_driver_is_named_with_the_way_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eddi-ml\[postgres\]'"):
        open_store("postgresql://host/answers")


@pytest.mark.parametrize("module", ["eddi.store.sql", "eddi.store.upgrade", "eddi.interview.record"])
def test_a_store_loads_no_torch(module: str) -> None:
    check = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
