"""Containers of model files: formats and versions; tests/model/files/test_archive.py has damaged ones."""

import pytest

from eddi.errors import ModelFileError
from eddi.model import container
from eddi.model.container import Format

NOTES = Format("notes", 2, 3, ("text.txt",))


def test_members_survive_a_file(tmp_path):
    container.write(tmp_path / "a.zip", NOTES, {"text.txt": b"one"})
    content = container.read(tmp_path / "a.zip", [NOTES])
    assert (content.format, content.version, content.members) == (NOTES, 3, {"text.txt": b"one"})


def test_a_file_of_another_format_is_not_a_model(tmp_path):
    container.write(tmp_path / "a.zip", NOTES, {"text.txt": b"one"})
    with pytest.raises(ModelFileError, match="is a zip file but not an EDDI model"):
        container.read(tmp_path / "a.zip", [Format("other", 1, 1, ("text.txt",))])


def test_a_version_that_is_too_new_asks_for_an_upgrade(tmp_path):
    container.write(tmp_path / "a.zip", Format("notes", 2, 9, ("text.txt",)), {"text.txt": b"one"})
    with pytest.raises(ModelFileError, match=r"format version 9.*reads up to version 3"):
        container.read(tmp_path / "a.zip", [NOTES])
