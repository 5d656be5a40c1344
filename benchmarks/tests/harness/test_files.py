"""Files are written completely or not at all."""

from pathlib import Path

import pytest

from eddi_benchmarks.harness.files import read_json, write_json, write_text


def test_a_json_document_is_read_back(tmp_path):
    write_json(tmp_path / "new" / "a.json", {"name": "é", "values": [1, 2.5, None]})
    assert read_json(tmp_path / "new" / "a.json") == {"name": "é", "values": [1, 2.5, None]}


@pytest.mark.parametrize("text", ['{"a": ', "[1, 2]"], ids=["damaged", "not an object"])
def test_a_file_without_a_json_object_is_read_as_none(text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    assert read_json(tmp_path / "a.json") is None
    assert read_json(tmp_path / "missing.json") is None


def test_an_interrupted_write_keeps_the_old_content(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
