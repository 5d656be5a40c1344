"""The blob store names files by their digest, and a digest cannot reach any other file."""

import hashlib

import pytest

from eddi.service.analyst.data.blob_store import BlobNotFoundError, BlobStore


def test_bytes_and_files_are_stored_under_their_sha256(tmp_path):
    blobs = BlobStore(tmp_path / "blobs")
    file = tmp_path / "some.txt"
    file.write_bytes(b"some bytes")
    digest = blobs.put(b"some bytes")
    assert digest == hashlib.sha256(b"some bytes").hexdigest() == blobs.put(file)
    assert blobs.path(digest).read_bytes() == b"some bytes"
    assert [path.name for path in (tmp_path / "blobs").iterdir()] == [digest]


@pytest.mark.parametrize(
    "digest", ["", "../some.txt", "0" * 64, "/etc/passwd", "A" * 64, f"{'0' * 64}\n"]
)
def test_an_unknown_or_malformed_digest_is_refused(tmp_path, digest):
    (tmp_path / "some.txt").write_bytes(b"secret")
    blobs = BlobStore(tmp_path / "blobs")
    blobs.put(b"other")
    assert not blobs.has(digest)
    with pytest.raises(BlobNotFoundError, match="the workshop has no file with the SHA-256"):
        blobs.path(digest)
