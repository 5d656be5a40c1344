"""Bytes are kept under their seal, once, and nothing else can be reached by one."""

import hashlib

import pytest

from eddi.service.analyst.blob_store import NotOnShelfError, Shelf


def test_bytes_and_files_are_kept_under_their_sha256(tmp_path):
    shelf = Shelf(tmp_path / "shelf")
    file = tmp_path / "some.txt"
    file.write_bytes(b"some bytes")
    seal = shelf.put(b"some bytes")
    assert seal == hashlib.sha256(b"some bytes").hexdigest() == shelf.put(file)
    assert shelf.path(seal).read_bytes() == b"some bytes"
    assert [one.name for one in (tmp_path / "shelf").iterdir()] == [seal]


@pytest.mark.parametrize("seal", ["", "../some.txt", "0" * 64, "/etc/passwd", "A" * 64, f"{'0' * 64}\n"])
def test_what_is_no_seal_leads_nowhere(tmp_path, seal):
    (tmp_path / "some.txt").write_bytes(b"secret")
    shelf = Shelf(tmp_path / "shelf")
    shelf.put(b"other")
    assert not shelf.holds(seal)
    with pytest.raises(NotOnShelfError, match="there is nothing under the seal"):
        shelf.path(seal)
