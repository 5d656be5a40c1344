"""Files appear complete or not at all, also where another program has the old one open."""

from pathlib import Path

import pytest

from eddi import durable_file
from eddi.durable_file import (
    RETRY_DELAYS_S,
    create_private_folder,
    finish_file,
    make_private,
    name_unfinished,
    open_private_file,
)


@pytest.fixture
def written(tmp_path):
    """A file, and what was written to replace it."""
    path = tmp_path / "model.eddi"
    path.write_text("old", encoding="utf-8")
    unfinished = name_unfinished(path)
    unfinished.write_text("new", encoding="utf-8")
    return unfinished, path


def let_replace_fail(monkeypatch, n_failures: int) -> list[Path]:
    """Refuse to replace a file some times, as Windows does while another program reads it."""
    replace, calls = Path.replace, []

    def refuse(self, target):
        calls.append(target)
        if len(calls) <= n_failures:
            raise PermissionError(13, "The process cannot access the file", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    monkeypatch.setattr(durable_file.time, "sleep", lambda _: None)
    return calls


def test_a_finished_file_replaces_the_old_one(written):
    unfinished, path = written
    finish_file(unfinished, path)
    assert path.read_text(encoding="utf-8") == "new"
    assert not unfinished.exists()


def test_on_windows_a_file_that_is_being_read_is_replaced_later(written, monkeypatch):
    monkeypatch.setattr(durable_file, "IS_WINDOWS", True)
    calls = let_replace_fail(monkeypatch, 3)
    finish_file(*written)
    assert written[1].read_text(encoding="utf-8") == "new"
    assert len(calls) == 4


def test_on_windows_a_file_that_stays_open_is_an_error(written, monkeypatch):
    monkeypatch.setattr(durable_file, "IS_WINDOWS", True)
    calls = let_replace_fail(monkeypatch, 100)
    with pytest.raises(PermissionError):
        finish_file(*written)
    assert len(calls) == len(RETRY_DELAYS_S) + 1
    assert written[1].read_text(encoding="utf-8") == "old"


def test_elsewhere_a_refusal_is_an_error_at_once(written, monkeypatch):
    monkeypatch.setattr(durable_file, "IS_WINDOWS", False)
    calls = let_replace_fail(monkeypatch, 1)
    with pytest.raises(PermissionError):
        finish_file(*written)
    assert len(calls) == 1


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_only_the_owner_can_use_a_private_folder_and_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    create_private_folder(folder)
    for text in (b"1", b"2"):
        with open_private_file(folder / "file", append=True) as file:
            file.write(text)
    assert (folder / "file").read_bytes() == b"12"
    assert [mode(path) for path in (folder.parent, folder, folder / "file")] == [0o700, 0o700, 0o600]


def test_existing_files_become_private(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(0o755)
    (tmp_path / "a" / "file").touch(0o644)
    make_private(tmp_path / "a")
    assert (mode(tmp_path / "a"), mode(tmp_path / "a" / "file")) == (0o700, 0o600)
