"""A backup is restored completely or not at all, to the same or another kind of database."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete

from eddi.store.backup_folder import BackupError, Manifest, write_backup
from eddi.store.restore import insert_events, restore_backup
from eddi.store.sql import SqlStore
from eddi.store.tables import events, heads
from eddi.store.upgrade import upgrade

BLOB = b"the rows of a table"
DIGEST = hashlib.sha256(BLOB).hexdigest()


def fill(url: str) -> SqlStore:
    """A store with an interview, a forgotten interview, and text that is not plain ASCII."""
    store = SqlStore(url)
    for after in range(3):
        store.append("interview/a", "told", {"answer": f"\u00e9\ud800 {after}"}, after=after)
        store.append("interview/b", "told", {"answer": after}, after=after)
    store.forget("interview/b")
    return store


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    folder = tmp_path / "workshop"
    (folder / "shelf").mkdir(parents=True)
    (folder / "shelf" / DIGEST).write_bytes(BLOB)
    (folder / "shelf" / "0123.unfinished").write_text("half")
    (folder / "jobs" / ("0" * 12)).mkdir(parents=True)
    (folder / "jobs" / "identity").write_text("f" * 32)
    (folder / "jobs" / ("0" * 12) / "checkpoint").write_text("weights")
    (folder / "jobs" / ("0" * 12) / "lock").touch()
    (folder / "notes.txt").write_text("not ours")
    return folder


@pytest.fixture
def backup(tmp_path: Path, workshop: Path) -> Path:
    """The backup of a SQLite store and a workshop."""
    store = fill(f"sqlite:///{tmp_path}/a.db")
    write_backup(store, tmp_path / "backup", workshop=workshop)
    store.close()
    return tmp_path / "backup"


def read_all(url: str) -> dict[str, object]:
    store = SqlStore(url, create=False)
    found = {stream: store.read(stream) for stream in store.streams()}
    assert store.verify() == []
    store.close()
    return found


def test_every_kind_of_store_is_restored_to_every_other(
    store_url: str, postgres_url: str, tmp_path: Path
) -> None:
    store = fill(store_url)
    write_backup(store, tmp_path / "backup")
    before = read_all(store_url)
    with store._engine.begin() as connection:  # all data is lost
        connection.execute(delete(events))
        connection.execute(delete(heads))
    store.close()
    for url in (f"sqlite:///{tmp_path}/new.db", postgres_url):
        restore_backup(tmp_path / "backup", url)
        assert read_all(url) == before


def test_a_backup_contains_the_finished_files_of_the_workshop(backup: Path) -> None:
    files = {path.relative_to(backup).as_posix() for path in backup.rglob("*") if path.is_file()}
    job = f"workshop/jobs/{'0' * 12}/checkpoint"
    assert files == {
        "answers.db",
        "manifest.json",
        f"workshop/shelf/{DIGEST}",
        "workshop/jobs/identity",
        job,
    }


def test_only_the_owner_can_read_a_backup_and_what_is_restored(backup: Path, tmp_path: Path) -> None:
    restore_backup(backup, f"sqlite:///{tmp_path}/new.db", workshop=tmp_path / "shop")
    for folder in (backup, tmp_path / "shop"):
        for path in (folder, *folder.rglob("*")):
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600


def test_the_workshop_is_restored(backup: Path, workshop: Path, tmp_path: Path) -> None:
    manifest = restore_backup(backup, f"sqlite:///{tmp_path}/new.db", workshop=tmp_path / "shop")
    assert isinstance(manifest, Manifest)
    assert manifest.has_workshop
    for name in (f"shelf/{DIGEST}", "jobs/identity", f"jobs/{'0' * 12}/checkpoint"):
        assert (tmp_path / "shop" / name).read_bytes() == (workshop / name).read_bytes()


def test_restoring_leaves_the_backup_unchanged(backup: Path, tmp_path: Path, postgres_url: str) -> None:
    before = {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()}
    restore_backup(backup, f"sqlite:///{tmp_path}/new.db")
    restore_backup(backup, postgres_url)
    assert {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()} == before


def test_an_existing_file_is_not_overwritten(backup: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="exists already and is not overwritten"):
        restore_backup(backup, f"sqlite:///{tmp_path}/a.db", workshop=tmp_path / "shop")
    assert not (tmp_path / "shop").exists()


def test_a_database_with_events_is_not_overwritten(backup: Path, postgres_url: str) -> None:
    upgrade(postgres_url)
    fill(postgres_url).close()
    before = read_all(postgres_url)
    with pytest.raises(BackupError, match="contains events, which are not overwritten"):
        restore_backup(backup, postgres_url)
    assert read_all(postgres_url) == before


def test_a_workshop_is_not_overwritten(backup: Path, workshop: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="is not empty"):
        restore_backup(backup, f"sqlite:///{tmp_path}/new.db", workshop=workshop)
    assert not (tmp_path / "new.db").exists()


def damage_file(backup: Path) -> None:
    (backup / "workshop" / "shelf" / DIGEST).write_bytes(BLOB[:-1] + b"x")


def remove_file(backup: Path) -> None:
    (backup / "answers.db").unlink()


def remove_manifest(backup: Path) -> None:
    (backup / "manifest.json").unlink()


def break_manifest(backup: Path) -> None:
    (backup / "manifest.json").write_text('{"format": "eddi-backup-1", "files": [1]}')


def name_foreign_file(backup: Path) -> None:
    manifest = json.loads((backup / "manifest.json").read_text())
    manifest["files"]["workshop/../../evil"] = [0, ""]
    (backup / "manifest.json").write_text(json.dumps(manifest))


def edit_event(backup: Path) -> None:
    """Edit an event, and the manifest accordingly."""
    with closing(sqlite3.connect(backup / "answers.db")) as connection, connection:
        connection.execute("UPDATE eddi_events SET facts = '{}' WHERE number = 2")
    manifest = json.loads((backup / "manifest.json").read_text())
    content = (backup / "answers.db").read_bytes()
    manifest["files"]["answers.db"] = [len(content), hashlib.sha256(content).hexdigest()]
    (backup / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_file, f"'workshop/shelf/{DIGEST}' has changed"),
        (remove_file, "'answers.db' is missing"),
        (remove_manifest, "is not a backup"),
        (break_manifest, "is not a backup"),
        (name_foreign_file, "which no backup contains"),
        (edit_event, "the events of the backup were changed: interview/a, event 2"),
    ],
)
def test_a_damaged_backup_is_refused_and_leaves_nothing(
    backup: Path, tmp_path: Path, damage: object, message: str
) -> None:
    assert callable(damage)
    damage(backup)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BackupError, match=message):
        restore_backup(backup, f"sqlite:///{tmp_path}/new.db", workshop=tmp_path / "shop")
    assert sorted(tmp_path.iterdir()) == before


def test_an_edited_export_is_not_restored(store_url: str, tmp_path: Path) -> None:
    store = fill(store_url)
    first, second, third = store.read("interview/a")
    empty = SqlStore(f"sqlite:///{tmp_path}/empty.db")
    with pytest.raises(BackupError, match="event 2: its facts were edited"):
        insert_events(empty, [first, replace(second, facts={"x": 1}), third])
    assert empty.count() == (0, 0)
    empty.close()
    store.close()


def test_a_damaged_file_of_the_workshop_is_not_backed_up(tmp_path: Path, workshop: Path) -> None:
    (workshop / "shelf" / DIGEST).write_bytes(b"damaged")
    store = fill(f"sqlite:///{tmp_path}/a.db")
    with pytest.raises(BackupError, match="of the workshop is damaged"):
        write_backup(store, tmp_path / "backup", workshop=workshop)
    store.close()
    assert not list(tmp_path.glob("backup*"))


def test_forgotten_answers_and_deleted_files_are_not_in_later_backups(
    tmp_path: Path, workshop: Path
) -> None:
    store = SqlStore(f"sqlite:///{tmp_path}/a.db")
    store.append("interview/a", "told", {"answer": "Antananarivo"}, after=0)
    store.forget("interview/a")
    shutil.rmtree(workshop / "shelf")
    write_backup(store, tmp_path / "backup", workshop=workshop)
    store.close()
    content = b"".join(path.read_bytes() for path in (tmp_path / "backup").rglob("*") if path.is_file())
    assert b"Antananarivo" not in content
    assert BLOB not in content
